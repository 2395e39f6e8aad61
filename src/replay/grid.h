/* Games on 10 x 10 cells, and the frame layer that they share. Internal.
 *
 * A game is a rule for one tick. A tick has SR__TICK_FRAMES frames and an agent's step has `skip`
 * frames, so skip 4 is one decision per tick, skip 1 four decisions (and four near-equal pictures)
 * per tick, skip 8 one decision for two ticks: the game is the same at every skip. The action of a
 * tick is the one that most of its frames asked for (ties: the latest). With probability `sticky` a
 * tick repeats the action of the tick before. */
#ifndef SR_REPLAY_GRID_H
#define SR_REPLAY_GRID_H

#include "core/random.h"
#include "game.h"

enum {
  SR__GRID_SIDE = 10,
  SR__TICK_FRAMES = 4,
  SR__GRID_CHANNELS_MAX = 8,
  SR__GRID_STATE_MAX = 256
};

/* What a player may ask for; a game allows some of them, in an order of its own. */
typedef enum sr__move {
  SR__STAY,
  SR__UP,
  SR__DOWN,
  SR__LEFT,
  SR__RIGHT,
  SR__FIRE,
  SR__MOVES
} sr__move;

/* A set of cells: bit 10 y + x, y counted from the top. One plane of a picture is one such word. */
__extension__ typedef unsigned __int128 sr__cells;

static inline bool sr__inside(int x, int y) {
  return (unsigned)x < SR__GRID_SIDE && (unsigned)y < SR__GRID_SIDE;
}
/* The set of one cell of the grid. */
static inline sr__cells sr__cell(int x, int y) { return (sr__cells)1 << (SR__GRID_SIDE * y + x); }
static inline bool sr__has(sr__cells cells, int x, int y) {
  return cells >> (SR__GRID_SIDE * y + x) & 1;
}
/* `width` cells of row y from column x on. */
static inline sr__cells sr__row(int x, int y, int width) {
  return (sr__cells)((1u << width) - 1) << (SR__GRID_SIDE * y + x);
}
static inline int sr__clamp(int value, int low, int high) {
  return value < low ? low : value > high ? high : value;
}

/* Something that moves by itself. */
typedef struct sr__mover {
  int8_t x, y, dx, clock;
} sr__mover;

/* What the frame layer tells a rule about the tick, and what the rule says back. */
typedef struct sr__turn {
  sr__random *random;
  int32_t tick; /* of the episode, from 1 on; 0 at the start */
  bool ramp;    /* the game gets harder from level to level */
  bool over;    /* set by the rule: the player has lost or won */
} sr__turn;

/* The rules of one game. Its state is plain data without pointers, at most SR__GRID_STATE_MAX
 * bytes; it is cleared before `start`. */
typedef struct sr__grid_rules {
  int channels, actions;
  sr__move allowed[SR__MOVES];
  int32_t tick_cap; /* ticks until an episode is truncated */
  size_t state_size;
  void (*start)(void *state, sr__turn *turn);
  float (*tick)(void *state, sr__move move, sr__turn *turn); /* gives the reward */
  void (*draw)(const void *state, sr__cells *planes);        /* planes are cleared before */
  sr__move (*script)(const void *state, int32_t tick);       /* a written player; NULL: none */
} sr__grid_rules;

typedef struct sr__grid_options {
  int64_t skip;
  double sticky;
  int ramp;
} sr__grid_options;
extern const sr_option sr__grid_option_list[];
/* The operations of every grid game; the rules differ. */
extern const sr__game_operations sr__grid_operations;

#define SR__GRID_GAME(name_, help_, rules_)                                        \
  {                                                                                \
    .about = {name_, help_, sr__grid_option_list, sizeof(sr__grid_options), NULL}, \
    .operations = &sr__grid_operations, .rules = (rules_)                          \
  }

static inline int sr__draw_below(sr__turn *turn, int bound) {
  return (int)sr__random_below(turn->random, (uint64_t)bound);
}
static inline int sr__draw_sign(sr__turn *turn) {
  return sr__random_bits(turn->random) >> 63 ? 1 : -1;
}

#endif
