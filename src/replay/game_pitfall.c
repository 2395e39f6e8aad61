/* Pitfall: a strip of 32 screens with pits, rolling logs and two treasures, the same in every game.
 */
#include "grid.h"

enum {
  SCREENS = 32,
  LIVES = 3,
  PATH = 7,
  GROUND = 8,
  PIT_REWARD = -5,
  LOG_REWARD = -1,
  TREASURE_REWARD = 20
};

typedef struct pitfall {
  sr__cells ground, treasure; /* of this screen */
  uint32_t taken;             /* screens whose treasure is gone, bit = screen */
  int8_t screen, x, y, face, jump, lives;
  int8_t has_log, log_x, log_clock;
} pitfall;

static void fill_pit(pitfall *game, int x) { game->ground |= sr__cell(x, GROUND); }

static void enter_screen(pitfall *game, int screen) {
  game->screen = (int8_t)screen;
  game->ground = sr__row(0, GROUND, SR__GRID_SIDE) | sr__row(0, GROUND + 1, SR__GRID_SIDE);
  game->treasure = 0;
  game->has_log = 0;
  if (screen == 0) return;
  uint32_t hash = (uint32_t)screen * 2654435761u >> 16; /* the same world in every game */
  int pit = 2 + (int)(hash % 5);
  game->ground &= ~sr__row(pit, GROUND, 1 + (int)(hash / 5 % 2));
  if (hash / 10 % 2) game->ground &= ~sr__cell(pit > 4 ? 1 : 8, GROUND);
  if (hash / 20 % 2) {
    game->has_log = 1;
    game->log_x = SR__GRID_SIDE - 1;
    game->log_clock = 0;
  }
  if (screen % 16 == 8 && !(game->taken >> screen & 1)) {
    game->treasure = sr__cell(8, PATH);
    fill_pit(game, 8);
  }
}

static void start(void *state, sr__turn *turn) {
  (void)turn;
  pitfall *game = state;
  game->lives = LIVES;
  game->x = 1;
  game->y = PATH;
  game->face = 1;
  enter_screen(game, 0);
}

/* A jump takes three ticks, one cell forward each, a row higher until the last. */
static void move_player(pitfall *game, sr__move move) {
  int dx = (move == SR__RIGHT) - (move == SR__LEFT);
  if (dx) game->face = (int8_t)dx;
  int x = game->x;
  if (game->jump) {
    game->jump--;
    game->y = game->jump ? PATH - 1 : PATH;
    x += game->face;
  } else if (move == SR__FIRE) {
    game->jump = 2;
    game->y = PATH - 1;
    x += game->face;
  } else {
    x += dx;
  }
  game->x = (int8_t)x;
  if (sr__inside(x, 0)) return;
  game->x = x < 0 ? SR__GRID_SIDE - 1 : 0;
  enter_screen(game, (game->screen + (x < 0 ? -1 : 1) + SCREENS) % SCREENS);
  if (!game->jump) fill_pit(game, game->x);
}

static float tick(void *state, sr__move move, sr__turn *turn) {
  pitfall *game = state;
  float reward = 0;
  move_player(game, move);
  if (game->has_log) {
    if (++game->log_clock == 2) {
      game->log_clock = 0;
      game->log_x = (int8_t)(game->log_x > 0 ? game->log_x - 1 : SR__GRID_SIDE - 1);
    }
    if (game->log_x == game->x && game->y == PATH) reward += LOG_REWARD;
  }
  if (game->y == PATH && !sr__has(game->ground, game->x, GROUND)) {
    reward += PIT_REWARD;
    game->x = 1;
    game->jump = 0;
    fill_pit(game, 1);
    if (--game->lives == 0) turn->over = true;
  }
  if (sr__has(game->treasure, game->x, game->y)) {
    game->treasure = 0;
    game->taken |= 1u << game->screen;
    reward += TREASURE_REWARD;
  }
  return reward;
}

static void draw(const void *state, sr__cells *planes) {
  const pitfall *game = state;
  planes[0] = sr__cell(game->x, game->y);
  planes[1] = game->ground;
  planes[2] = game->treasure;
  if (game->has_log) planes[3] = sr__cell(game->log_x, PATH);
  if (game->face > 0) planes[4] = sr__cell(game->x, game->y);
  /* status cells in the top row: ticks of the jump that are left, lives */
  planes[5] = sr__row(0, 0, game->jump + 1) | sr__row(SR__GRID_SIDE - game->lives, 0, game->lives);
}

/* Runs to the right and jumps over pits and logs. */
static sr__move script(const void *state, int32_t tick_number) {
  (void)tick_number;
  const pitfall *game = state;
  if (game->x + 1 < SR__GRID_SIDE && !sr__has(game->ground, game->x + 1, GROUND)) return SR__FIRE;
  int ahead = game->log_x - game->x;
  if (game->has_log && ahead > 0 && ahead <= 2 && game->x < 7 &&
      sr__has(game->ground, game->x + 3, GROUND))
    return SR__FIRE;
  return SR__RIGHT;
}

static const sr__grid_rules rules = {.channels = 6,
                                     .actions = 4,
                                     .allowed = {SR__STAY, SR__LEFT, SR__RIGHT, SR__FIRE},
                                     .tick_cap = 1000,
                                     .state_size = sizeof(pitfall),
                                     .start = start,
                                     .tick = tick,
                                     .draw = draw,
                                     .script = script};
const sr__game sr__game_pitfall =
    SR__GRID_GAME("pitfall", "32 screens: treasure +20, a pit -5 and one of three lives, a log -1",
                  &rules);
