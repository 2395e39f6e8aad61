/* Q*bert: a pyramid of 28 cubes is to be visited cube by cube while balls hop down and a snake
 * hunts.
 *
 * Row k (0 to 6 from the top) has the places 0 to k. A jump changes the row by one and the place by
 * 0 or by the same one. In the picture row k is row k + 2 and place c column c + 1. */
#include "grid.h"

#include <stdlib.h>

enum { ROWS = 7, BALLS = 4, SNAKE = 4, MOVERS = 5, SNAKE_ENTERS = 24, BOARD_BONUS = 5 };

typedef struct qbert {
  sr__cells to_do, done;
  int32_t level; /* boards that were finished */
  int16_t clock; /* of this board */
  int8_t row, place;
  uint8_t alive;           /* bit = slot */
  sr__mover mover[MOVERS]; /* y = row, x = place; balls, then the snake */
} qbert;

/* Up right, down left, up left, down right, by sr__move. */
static const int8_t row_change[SR__MOVES] = {0, -1, 1, -1, 1, 0};
static const int8_t place_change[SR__MOVES] = {0, 0, 0, -1, 1, 0};

static bool on_pyramid(int row, int place) {
  return row >= 0 && row < ROWS && place >= 0 && place <= row;
}
static sr__cells cube(int row, int place) { return sr__cell(place + 1, row + 2); }

static void new_board(qbert *game) {
  game->to_do = 0;
  for (int row = 0; row < ROWS; row++) game->to_do |= sr__row(1, row + 2, row + 1);
  game->done = cube(0, 0);
  game->to_do &= ~game->done;
  game->row = game->place = 0;
  game->clock = 0;
  game->alive = 0;
}

static void start(void *state, sr__turn *turn) {
  (void)turn;
  new_board(state);
}

static void enter(qbert *game, int first, int end, int row, int place) {
  for (int slot = first; slot < end; slot++) {
    if (game->alive >> slot & 1) continue;
    game->mover[slot] = (sr__mover){(int8_t)place, (int8_t)row, 0, 0};
    game->alive |= (uint8_t)(1u << slot);
    return;
  }
}

/* A ball hops down at random, the snake to the neighbor cube that is nearest to the player. */
static void hop(qbert *game, int slot, sr__turn *turn) {
  sr__mover *mover = &game->mover[slot];
  if (slot < BALLS) {
    mover->y++;
    mover->x = (int8_t)(mover->x + sr__draw_below(turn, 2));
    if (mover->y == ROWS) game->alive &= (uint8_t) ~(1u << slot);
    return;
  }
  int best = 99, best_row = mover->y, best_place = mover->x;
  for (int move = SR__UP; move <= SR__RIGHT; move++) {
    int row = mover->y + row_change[move], place = mover->x + place_change[move];
    int distance = abs(row - game->row) + abs(place - game->place);
    if (!on_pyramid(row, place) || distance >= best) continue;
    best = distance;
    best_row = row;
    best_place = place;
  }
  mover->y = (int8_t)best_row;
  mover->x = (int8_t)best_place;
}

static void move_hunters(qbert *game, sr__turn *turn) {
  for (unsigned left = game->alive; left; left &= left - 1) {
    int slot = __builtin_ctz(left);
    sr__mover *mover = &game->mover[slot];
    if (mover->x == game->place && mover->y == game->row) turn->over = true;
    if (++mover->clock < (slot < BALLS ? 2 : 3)) continue;
    mover->clock = 0;
    hop(game, slot, turn);
    if (game->alive >> slot & 1 && mover->x == game->place && mover->y == game->row)
      turn->over = true;
  }
}

static float tick(void *state, sr__move move, sr__turn *turn) {
  qbert *game = state;
  int row = game->row + row_change[move], place = game->place + place_change[move];
  if (!on_pyramid(row, place)) { /* a jump off the edge */
    turn->over = true;
    return 0;
  }
  float reward = 0;
  game->row = (int8_t)row;
  game->place = (int8_t)place;
  if (game->to_do & cube(row, place)) {
    game->to_do &= ~cube(row, place);
    game->done |= cube(row, place);
    reward = 1;
  }
  game->clock++;
  int interval = sr__clamp(16 - 2 * (turn->ramp ? game->level : 0), 6, 16);
  if (game->clock % interval == interval - 1) enter(game, 0, BALLS, 1, sr__draw_below(turn, 2));
  if (game->clock == SNAKE_ENTERS) enter(game, SNAKE, MOVERS, 0, 0);
  move_hunters(game, turn);
  if (!game->to_do && !turn->over) {
    reward += BOARD_BONUS;
    game->level++;
    new_board(game);
  }
  return reward;
}

static void draw(const void *state, sr__cells *planes) {
  const qbert *game = state;
  planes[0] = cube(game->row, game->place);
  planes[1] = game->to_do;
  planes[2] = game->done;
  for (unsigned left = game->alive; left; left &= left - 1) {
    int slot = __builtin_ctz(left);
    planes[slot < BALLS ? 3 : 4] |= cube(game->mover[slot].y, game->mover[slot].x);
  }
}

/* Jumps between two cubes: |change of place| + |change of (row - place)|. */
static int jumps(int row, int place, int to_row, int to_place) {
  return abs(to_place - place) + abs((to_row - to_place) - (row - place));
}

/* Goes to the nearest cube that is to do and keeps away from balls that may hop there and from the
 * snake. */
static sr__move script(const void *state, int32_t tick_number) {
  (void)tick_number;
  const qbert *game = state;
  sr__move best_move = SR__STAY;
  int best = 1 << 20;
  for (int move = SR__STAY; move <= SR__RIGHT; move++) {
    int row = game->row + row_change[move], place = game->place + place_change[move], cost = 50;
    if (!on_pyramid(row, place)) continue;
    for (int r = 0; r < ROWS; r++)
      for (int c = 0; c <= r; c++)
        if (game->to_do & cube(r, c)) {
          int distance = jumps(row, place, r, c);
          if (distance < cost) cost = distance;
        }
    for (unsigned left = game->alive; left; left &= left - 1) {
      int slot = __builtin_ctz(left);
      const sr__mover *mover = &game->mover[slot];
      int distance = jumps(mover->y, mover->x, row, place);
      if (distance == 0) cost += 1000;
      if (distance == 1 && (slot == SNAKE || mover->y < row)) cost += 500;
      if (distance == 2 && slot == SNAKE) cost += 20;
    }
    if (cost >= best) continue;
    best = cost;
    best_move = (sr__move)move;
  }
  return best_move;
}

static const sr__grid_rules rules = {.channels = 5,
                                     .actions = 5,
                                     .allowed = {SR__STAY, SR__UP, SR__DOWN, SR__LEFT, SR__RIGHT},
                                     .tick_cap = 2500,
                                     .state_size = sizeof(qbert),
                                     .start = start,
                                     .tick = tick,
                                     .draw = draw,
                                     .script = script};
const sr__game sr__game_qbert = SR__GRID_GAME(
    "qbert",
    "a pyramid of 28 cubes: a new cube +1, all of them +5, a fall, a ball or the snake ends it",
    &rules);
