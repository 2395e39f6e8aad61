/* Seaquest: a boat under water shoots fish, takes divers on board and must surface before its air
 * is used up. */
#include "grid.h"

#include <stdlib.h>

enum {
  TORPEDOES = 3, /* slots of the movers: torpedoes, then fish, then divers */
  FISH_END = 13,
  MOVERS = 17,
  AIR_TICKS = 120,
  AIR_OF_A_DIVE =
      115, /* less air than this on surfacing: it was a dive, and a diver must be on board */
  DIVERS_MAX = 6,
  RELOAD_TICKS = 3,
  SEABED = SR__GRID_SIDE - 1
};
#define TORPEDO_SLOTS ((1u << TORPEDOES) - 1)
#define FISH_SLOTS (((1u << FISH_END) - 1) & ~TORPEDO_SLOTS)
#define DIVER_SLOTS (((1u << MOVERS) - 1) & ~(FISH_SLOTS | TORPEDO_SLOTS))
#define EACH_SLOT(slot, slots)                                                                \
  for (uint32_t left_ = (slots), slot; left_ && ((slot = (uint32_t)__builtin_ctz(left_)), 1); \
       left_ &= left_ - 1)

typedef struct seaquest {
  /* Where the swimmers are and the cells behind them, which tell their headings: charted again when
   * one moves, enters or leaves. */
  sr__cells fish, diver, behind;
  sr__mover mover[MOVERS];
  uint32_t alive;                 /* bit = slot */
  uint32_t clock_low, clock_high; /* bits of the ticks since each swimmer moved, bit = slot */
  int32_t level;                  /* dives that were finished */
  int16_t air;
  int8_t x, y, face, reload, divers;
} seaquest;

/* The cell behind a mover in cell `own`; none where it has just entered. */
static sr__cells cell_behind(const sr__mover *mover, sr__cells own) {
  if ((unsigned)(mover->x - mover->dx) >= SR__GRID_SIDE) return 0;
  return mover->dx > 0 ? own >> 1 : own << 1;
}

static void start(void *state, sr__turn *turn) {
  (void)turn;
  seaquest *game = state;
  game->x = 5;
  game->y = 1;
  game->face = 1;
  game->air = AIR_TICKS;
}

/* Charts the swimmers. */
static void chart(seaquest *game) {
  game->fish = game->diver = game->behind = 0;
  EACH_SLOT(slot, game->alive & ~TORPEDO_SLOTS) {
    const sr__mover *mover = &game->mover[slot];
    sr__cells own = sr__cell(mover->x, mover->y);
    *(slot < FISH_END ? &game->fish : &game->diver) |= own;
    game->behind |= cell_behind(mover, own);
  }
}

/* Puts a mover into a free slot of these; false where there is none. */
static bool enter(seaquest *game, uint32_t slots, int x, int y, int dx) {
  uint32_t free_slots = slots & ~game->alive;
  if (!free_slots) return false;
  int slot = __builtin_ctz(free_slots);
  game->mover[slot] = (sr__mover){(int8_t)x, (int8_t)y, (int8_t)dx, 0};
  game->alive |= 1u << slot;
  game->clock_low &= ~(1u << slot);
  game->clock_high &= ~(1u << slot);
  return true;
}

/* Moves a mover one cell; it leaves the game at the edge. */
static void swim(seaquest *game, uint32_t slot) {
  sr__mover *mover = &game->mover[slot];
  mover->x = (int8_t)(mover->x + mover->dx);
  if (!sr__inside(mover->x, mover->y)) game->alive &= ~(1u << slot);
}

/* Slots of movers in one cell. */
static uint32_t slots_at(const seaquest *game, uint32_t slots, int x, int y) {
  uint32_t there = 0;
  EACH_SLOT(slot, slots) {
    const sr__mover *mover = &game->mover[slot];
    there |= (uint32_t)(mover->x == x && mover->y == y) << slot;
  }
  return there;
}

/* What touches the boat. */
static void touch(seaquest *game, sr__turn *turn) {
  if (!sr__has(game->fish | game->diver, game->x, game->y)) return;
  uint32_t there = slots_at(game, game->alive & (FISH_SLOTS | DIVER_SLOTS), game->x, game->y);
  if (there & FISH_SLOTS) turn->over = true;
  for (uint32_t divers = there & DIVER_SLOTS; divers && game->divers < DIVERS_MAX;
       divers &= divers - 1) {
    game->divers++;
    game->alive &= ~(divers & -divers);
  }
  chart(game);
}

/* Fish that torpedoes are on, one each; both are gone. */
static float shoot(seaquest *game) {
  float reward = 0;
  EACH_SLOT(shot, game->alive & TORPEDO_SLOTS) {
    const sr__mover *torpedo = &game->mover[shot];
    if (!sr__has(game->fish, torpedo->x, torpedo->y)) continue;
    uint32_t fish = slots_at(game, game->alive & FISH_SLOTS, torpedo->x, torpedo->y);
    game->alive &= ~((fish & -fish) | 1u << shot);
    chart(game);
    reward += 1;
  }
  return reward;
}

static float count_hits(seaquest *game, sr__turn *turn) {
  touch(game, turn);
  return shoot(game);
}

static void move_boat(seaquest *game, sr__move move) {
  if (move == SR__LEFT) game->face = -1;
  if (move == SR__RIGHT) game->face = 1;
  game->x =
      (int8_t)sr__clamp(game->x + (move == SR__RIGHT) - (move == SR__LEFT), 0, SR__GRID_SIDE - 1);
  game->y = (int8_t)sr__clamp(game->y + (move == SR__DOWN) - (move == SR__UP), 0, SEABED - 1);
  if (game->reload) game->reload--;
}

/* Surfacing pays for the divers and refills the air. */
static float breathe(seaquest *game, sr__turn *turn) {
  float reward = 0;
  if (game->y > 0) {
    if (--game->air <= 0) turn->over = true;
    return 0;
  }
  if (game->air < AIR_OF_A_DIVE) {
    if (game->divers == 0) turn->over = true;
    reward = game->divers;
    game->divers = 0;
    game->level++;
  }
  game->air = AIR_TICKS;
  return reward;
}

/* Swimmers that move in this tick, all clocks put on: fish every 3 ticks, later every 2; divers
 * every 4. */
static uint32_t due_slots(seaquest *game, int level) {
  game->clock_high ^= game->clock_low;
  game->clock_low = ~game->clock_low;
  uint32_t fish = game->clock_high & (level > 3 ? FISH_SLOTS : game->clock_low);
  uint32_t divers = ~(game->clock_high | game->clock_low);
  uint32_t due = ((fish & FISH_SLOTS) | (divers & DIVER_SLOTS)) & game->alive;
  game->clock_low &= ~due;
  game->clock_high &= ~due;
  return due;
}

static float tick(void *state, sr__move move, sr__turn *turn) {
  seaquest *game = state;
  int level = turn->ramp ? game->level : 0;
  move_boat(game, move);
  float reward = count_hits(game, turn);
  if (move == SR__FIRE && !game->reload && game->y > 0 &&
      enter(game, TORPEDO_SLOTS, game->x, game->y, game->face))
    game->reload = RELOAD_TICKS;
  EACH_SLOT(slot, game->alive & TORPEDO_SLOTS) swim(game, slot);
  if (game->alive & TORPEDO_SLOTS) reward += count_hits(game, turn);
  uint32_t due = due_slots(game, level);
  EACH_SLOT(slot, due) swim(game, slot);
  if (due) {
    chart(game);
    reward += count_hits(game, turn);
  }
  if (turn->tick % sr__clamp(14 - level, 5, 14) == 0) {
    int y = 2 + sr__draw_below(turn, 7), dx = sr__draw_sign(turn);
    bool diver = sr__draw_below(turn, 3) == 0;
    if (enter(game, diver ? DIVER_SLOTS : FISH_SLOTS, dx > 0 ? 0 : SR__GRID_SIDE - 1, y, dx))
      chart(game);
  }
  return reward + breathe(game, turn);
}

static void draw(const void *state, sr__cells *planes) {
  const seaquest *game = state;
  planes[0] = sr__cell(game->x, game->y);
  if (sr__inside(game->x + game->face, game->y))
    planes[1] = sr__cell(game->x + game->face, game->y);
  planes[3] = game->fish;
  planes[4] = game->diver;
  planes[5] = game->behind;
  EACH_SLOT(slot, game->alive & TORPEDO_SLOTS) {
    const sr__mover *torpedo = &game->mover[slot];
    sr__cells own = sr__cell(torpedo->x, torpedo->y);
    planes[2] |= own;
    planes[5] |= cell_behind(torpedo, own);
  }
  planes[6] = sr__row(0, SEABED, (game->air + 11) / 12);
  planes[7] = sr__row(0, SEABED, game->divers);
}

/* Whether a fish is in this cell or at most `reach` cells away from it on a way that leads there.
 */
static bool dangerous(const seaquest *game, int x, int y, int reach) {
  EACH_SLOT(slot, game->alive & FISH_SLOTS) {
    const sr__mover *fish = &game->mover[slot];
    int ahead = (x - fish->x) * fish->dx;
    if (fish->y == y && ahead >= 0 && ahead <= reach) return true;
  }
  return false;
}

/* The move that leads from the boat towards a cell, rows first. */
static sr__move towards(const seaquest *game, int x, int y) {
  if (game->y != y) return game->y > y ? SR__UP : SR__DOWN;
  if (game->x != x) return game->x > x ? SR__LEFT : SR__RIGHT;
  return SR__STAY;
}

/* Surfaces in time, shoots what is ahead, dodges what comes from behind, and collects divers. */
static sr__move script(const void *state, int32_t tick_number) {
  (void)tick_number;
  const seaquest *game = state;
  sr__move want = towards(game, 5, 4);
  if (game->divers > 0 && (game->air < game->y + 25 || game->divers == DIVERS_MAX)) {
    want = SR__UP;
  } else {
    EACH_SLOT(slot, game->alive & FISH_SLOTS) {
      const sr__mover *fish = &game->mover[slot];
      if (fish->y == game->y && (fish->x - game->x) * game->face > 0 && !game->reload)
        return SR__FIRE;
    }
    int nearest = 99;
    EACH_SLOT(slot, game->alive & DIVER_SLOTS) {
      const sr__mover *diver = &game->mover[slot];
      int distance = abs(diver->x - game->x) + abs(diver->y - game->y);
      if (distance >= nearest) continue;
      nearest = distance;
      want = towards(game, diver->x, diver->y);
    }
  }
  int x = game->x + (want == SR__RIGHT) - (want == SR__LEFT),
      y = game->y + (want == SR__DOWN) - (want == SR__UP);
  if (!dangerous(game, x, y, 1)) return want;
  if (!dangerous(game, game->x, game->y, 1)) return SR__STAY;
  if (game->y > 1 && !dangerous(game, game->x, game->y - 1, 1)) return SR__UP;
  return SR__DOWN;
}

static const sr__grid_rules rules = {.channels = 8,
                                     .actions = 6,
                                     .allowed = {SR__STAY, SR__UP, SR__DOWN, SR__LEFT, SR__RIGHT,
                                                 SR__FIRE},
                                     .tick_cap = 2500,
                                     .state_size = sizeof(seaquest),
                                     .start = start,
                                     .tick = tick,
                                     .draw = draw,
                                     .script = script};
const sr__game sr__game_seaquest = SR__GRID_GAME(
    "seaquest",
    "a boat under water: a fish shot +1, a diver brought up +1, touch or lack of air ends it",
    &rules);
