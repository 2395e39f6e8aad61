/* Space Invaders: a pack of 3 x 6 aliens marches, turns and drops at the walls; a cannon below them
 * fires. */
#include "grid.h"

enum {
  SHOTS = 4,
  BOMBS = 8,
  PACK_ROWS = 3,
  PACK_COLUMNS = 6,
  BOTTOM = SR__GRID_SIDE - 1,
  RELOAD_TICKS = 4
};

typedef struct invaders {
  sr__cells aliens, shots, bombs; /* shots rise and bombs fall a cell per tick */
  int32_t level;
  int16_t march_clock;
  int8_t cannon, heading, reload;
} invaders;

static int count(sr__cells cells) {
  return __builtin_popcountll((uint64_t)cells) + __builtin_popcountll((uint64_t)(cells >> 64));
}

static sr__cells column(int x) {
  sr__cells all = 0;
  for (int y = 0; y < SR__GRID_SIDE; y++) all |= sr__cell(x, y);
  return all;
}

static void new_wave(invaders *game, sr__turn *turn) {
  int top = turn->ramp ? sr__clamp(game->level, 0, 3) : 0; /* a new wave starts a row lower */
  game->aliens = 0;
  for (int y = 0; y < PACK_ROWS; y++) game->aliens |= sr__row(2, top + y, PACK_COLUMNS);
  game->heading = (int8_t)sr__draw_sign(turn);
  game->march_clock = 0;
}

static void start(void *state, sr__turn *turn) {
  invaders *game = state;
  game->cannon = 4;
  new_wave(game, turn);
}

/* Sideways, or at a wall down and back. An alien that comes to the cannon's row ends the game. */
static void march(invaders *game, sr__turn *turn) {
  if (game->aliens & column(game->heading > 0 ? BOTTOM : 0)) {
    game->heading = (int8_t)-game->heading;
    if (game->aliens & sr__row(0, BOTTOM - 1, SR__GRID_SIDE)) turn->over = true;
    game->aliens = (game->aliens & ~sr__row(0, BOTTOM - 1, SR__GRID_SIDE)) << SR__GRID_SIDE;
  } else {
    game->aliens = game->heading > 0 ? game->aliens << 1 : game->aliens >> 1;
  }
}

/* Takes the aliens that shots are on, and those shots. */
static float count_hits(invaders *game) {
  sr__cells hit = game->aliens & game->shots;
  if (!hit) return 0;
  game->aliens &= ~hit;
  game->shots &= ~hit;
  return (float)count(hit);
}

/* The lowest alien of a random column drops a bomb, with probability .12 per tick. */
static void drop_bomb(invaders *game, sr__turn *turn) {
  if (sr__draw_below(turn, 100) >= 12) return;
  int x = sr__draw_below(turn, SR__GRID_SIDE);
  if (count(game->bombs) == BOMBS) return;
  for (int y = BOTTOM - 1; y >= 0; y--) {
    if (!sr__has(game->aliens, x, y)) continue;
    game->bombs |= sr__cell(x, y);
    return;
  }
}

static float tick(void *state, sr__move move, sr__turn *turn) {
  invaders *game = state;
  game->cannon =
      (int8_t)sr__clamp(game->cannon + (move == SR__RIGHT) - (move == SR__LEFT), 0, BOTTOM);
  if (game->reload) game->reload--;
  if (move == SR__FIRE && !game->reload && count(game->shots) < SHOTS) {
    game->shots |= sr__cell(game->cannon, BOTTOM);
    game->reload = RELOAD_TICKS;
  }
  game->shots >>= SR__GRID_SIDE;
  game->bombs = (game->bombs & ~sr__row(0, BOTTOM, SR__GRID_SIDE)) << SR__GRID_SIDE;
  if (sr__has(game->bombs, game->cannon, BOTTOM)) turn->over = true;
  float reward = count_hits(game);
  int pace = 2 + count(game->aliens) / 4 - (turn->ramp ? game->level : 0);
  if (++game->march_clock >= pace) {
    game->march_clock = 0;
    march(game, turn);
    reward += count_hits(game); /* shots that the pack walked into */
  }
  drop_bomb(game, turn);
  if (!game->aliens && !turn->over) {
    game->level++;
    new_wave(game, turn);
  }
  return reward;
}

static void draw(const void *state, sr__cells *planes) {
  const invaders *game = state;
  planes[0] = sr__cell(game->cannon, BOTTOM);
  planes[1] = game->aliens;
  planes[2] = game->heading > 0 ? game->aliens : 0;
  planes[3] = game->shots;
  planes[4] = game->bombs;
}

/* Steps out of the way of bombs, goes below the nearest alien and fires. */
static sr__move script(const void *state, int32_t tick_number) {
  (void)tick_number;
  const invaders *game = state;
  for (int y = 5; y < SR__GRID_SIDE; y++)
    if (sr__has(game->bombs, game->cannon, y)) return game->cannon > 0 ? SR__LEFT : SR__RIGHT;
  for (int distance = 0; distance < SR__GRID_SIDE; distance++)
    for (int side = -1; side <= 1; side += 2) {
      int x = game->cannon + side * distance;
      if (!sr__inside(x, 0) || !(game->aliens & column(x))) continue;
      if (distance == 0) return game->reload ? SR__STAY : SR__FIRE;
      return side < 0 ? SR__LEFT : SR__RIGHT;
    }
  return SR__STAY;
}

static const sr__grid_rules rules = {.channels = 5,
                                     .actions = 4,
                                     .allowed = {SR__STAY, SR__LEFT, SR__RIGHT, SR__FIRE},
                                     .tick_cap = 2500,
                                     .state_size = sizeof(invaders),
                                     .start = start,
                                     .tick = tick,
                                     .draw = draw,
                                     .script = script};
const sr__game sr__game_space_invaders =
    SR__GRID_GAME("space_invaders", "a pack of 18 aliens and a cannon; an alien +1, a bomb ends it",
                  &rules);
