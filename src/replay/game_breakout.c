/* Breakout: a ball, a paddle of two cells in the bottom row and three rows of bricks. */
#include "grid.h"

enum { PADDLE_WIDTH = 2, WALL_ROWS = 3 };

typedef struct breakout {
  sr__cells bricks;
  int32_t level; /* walls that were cleared */
  int8_t paddle; /* its left cell */
  int8_t x, y, dx, dy, before_x, before_y;
} breakout;

static sr__cells whole_wall(void) {
  return sr__row(0, 1, SR__GRID_SIDE) | sr__row(0, 2, SR__GRID_SIDE) |
         sr__row(0, WALL_ROWS, SR__GRID_SIDE);
}

static void start(void *state, sr__turn *turn) {
  breakout *game = state;
  game->bricks = whole_wall();
  game->x = game->before_x = (int8_t)sr__draw_below(turn, SR__GRID_SIDE);
  game->y = game->before_y = WALL_ROWS + 1;
  game->dx = (int8_t)sr__draw_sign(turn);
  game->dy = 1;
  game->paddle = 4;
}

/* One diagonal cell of the ball. A brick that is hit goes, and the ball turns back and waits a
 * tick. */
static float move_ball(breakout *game, sr__turn *turn) {
  int x = game->x + game->dx, y = game->y + game->dy;
  game->before_x = game->x;
  game->before_y = game->y;
  if (x < 0 || x >= SR__GRID_SIDE) {
    game->dx = (int8_t)-game->dx;
    x = game->x + game->dx;
  }
  if (y < 0) {
    game->dy = 1;
    y = game->y + 1;
  }
  if (sr__has(game->bricks, x, y)) {
    game->bricks &= ~sr__cell(x, y);
    game->dy = (int8_t)-game->dy;
    return 1;
  }
  if (y == SR__GRID_SIDE - 1) {
    int hit = x - game->paddle;
    if (hit < 0 || hit >= PADDLE_WIDTH) {
      game->x = (int8_t)x;
      game->y = (int8_t)y;
      turn->over = true;
      return 0;
    }
    y = SR__GRID_SIDE - 2;
    game->dy = -1;
    game->dx = hit == 0 ? -1 : 1; /* the half of the paddle steers */
    if (x == 0) game->dx = 1;
    if (x == SR__GRID_SIDE - 1) game->dx = -1;
  }
  game->x = (int8_t)x;
  game->y = (int8_t)y;
  if (!game->bricks && y > WALL_ROWS + 1) {
    game->bricks = whole_wall();
    game->level++;
  }
  return 0;
}

static float tick(void *state, sr__move move, sr__turn *turn) {
  breakout *game = state;
  int paddle = game->paddle + (move == SR__RIGHT) - (move == SR__LEFT);
  game->paddle = (int8_t)sr__clamp(paddle, 0, SR__GRID_SIDE - PADDLE_WIDTH);
  float reward = move_ball(game, turn);
  /* From the second wall on the ball has an extra move every 4, 3, 2 ticks. */
  if (turn->ramp && !turn->over && game->level > 0 &&
      turn->tick % (game->level > 3 ? 2 : 5 - game->level) == 0)
    reward += move_ball(game, turn);
  return reward;
}

static void draw(const void *state, sr__cells *planes) {
  const breakout *game = state;
  planes[0] = sr__row(game->paddle, SR__GRID_SIDE - 1, PADDLE_WIDTH);
  planes[1] = sr__cell(game->x, game->y);
  planes[2] = sr__cell(game->before_x, game->before_y);
  planes[3] = game->bricks;
}

/* Follows the ball to where it comes down, and changes the half that hits it every 16 ticks. */
static sr__move script(const void *state, int32_t tick_number) {
  const breakout *game = state;
  int x = game->x, y = game->y, dx = game->dx, dy = game->dy;
  for (int t = 0; t < 40 && !(y == SR__GRID_SIDE - 2 && dy > 0); t++) {
    if (x + dx < 0 || x + dx >= SR__GRID_SIDE) dx = -dx;
    if (y + dy < 0) dy = 1;
    if (sr__has(game->bricks, x + dx, y + dy)) {
      dy = -dy;
    } else {
      x += dx;
      y += dy;
    }
  }
  if (x + dx < 0 || x + dx >= SR__GRID_SIDE) dx = -dx;
  int half = (int)((uint32_t)(tick_number / 16) * 2654435761u >> 31);
  int want = sr__clamp(x + dx - half, 0, SR__GRID_SIDE - PADDLE_WIDTH);
  return game->paddle < want ? SR__RIGHT : game->paddle > want ? SR__LEFT : SR__STAY;
}

static const sr__grid_rules rules = {.channels = 4,
                                     .actions = 3,
                                     .allowed = {SR__STAY, SR__LEFT, SR__RIGHT},
                                     .tick_cap = 2500,
                                     .state_size = sizeof(breakout),
                                     .start = start,
                                     .tick = tick,
                                     .draw = draw,
                                     .script = script};
const sr__game sr__game_breakout =
    SR__GRID_GAME("breakout",
                  "a ball, a paddle and three rows of bricks; a brick +1, a miss ends it", &rules);
