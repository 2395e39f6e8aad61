/* Pong: the own paddle at the right edge, the rival's at the left; first to seven points. */
#include "grid.h"

enum { GOAL = 7, BOTTOM = SR__GRID_SIDE - 1, MIDDLE = 4 };

typedef struct pong {
  int8_t own, rival; /* upper cell of either paddle of two cells */
  int8_t x, y, dx, dy, before_x, before_y;
  int8_t own_points, rival_points;
} pong;

static void serve(pong *game, int dx, sr__turn *turn) {
  game->x = game->before_x = (int8_t)(dx < 0 ? 5 : 4);
  game->y = game->before_y = (int8_t)(1 + sr__draw_below(turn, 8));
  game->dx = (int8_t)dx;
  game->dy = (int8_t)sr__draw_sign(turn);
}

static void start(void *state, sr__turn *turn) {
  pong *game = state;
  game->own = game->rival = MIDDLE;
  serve(game, sr__draw_sign(turn), turn);
}

/* The row of a ball after that many ticks between the two walls. */
static int arrival(int y, int dy, int ticks) {
  int period = 2 * BOTTOM, row = ((y + dy * ticks) % period + period) % period;
  return row <= BOTTOM ? row : period - row;
}

/* The rival goes where the ball will arrive, to the middle while it leaves, and dozes 7 of 10
 * ticks. */
static void move_rival(pong *game, sr__turn *turn) {
  if (sr__draw_below(turn, 10) < 7) return;
  int to = game->dx < 0 ? arrival(game->y, game->dy, game->x) : MIDDLE;
  game->rival =
      (int8_t)sr__clamp(game->rival + (to > game->rival + 1) - (to < game->rival), 0, BOTTOM - 1);
}

static float tick(void *state, sr__move move, sr__turn *turn) {
  pong *game = state;
  game->own = (int8_t)sr__clamp(game->own + (move == SR__DOWN) - (move == SR__UP), 0, BOTTOM - 1);
  move_rival(game, turn);
  int x = game->x + game->dx, y = game->y + game->dy;
  game->before_x = game->x;
  game->before_y = game->y;
  if (y < 0 || y > BOTTOM) {
    game->dy = (int8_t)-game->dy;
    y = game->y + game->dy;
  }
  if (x == 0 || x == BOTTOM) {
    bool own_side = x == BOTTOM;
    int top = own_side ? game->own : game->rival;
    if (y != top && y != top + 1) {
      int8_t *points = own_side ? &game->rival_points : &game->own_points;
      if (++*points == GOAL) {
        game->x = (int8_t)x;
        game->y = (int8_t)y;
        turn->over = true;
      } else {
        serve(game, own_side ? 1 : -1, turn); /* towards the side that lost the point */
      }
      return own_side ? -1 : 1;
    }
    /* The own returns are steered by the half that is hit, the rival's are random. */
    game->dx = own_side ? -1 : 1;
    game->dy = (int8_t)(own_side ? (y == top ? -1 : 1) : sr__draw_sign(turn));
    if (y == 0) game->dy = 1;
    if (y == BOTTOM) game->dy = -1;
    x = game->x;
  }
  game->x = (int8_t)x;
  game->y = (int8_t)y;
  return 0;
}

static void draw(const void *state, sr__cells *planes) {
  const pong *game = state;
  planes[0] = sr__cell(BOTTOM, game->own) | sr__cell(BOTTOM, game->own + 1);
  planes[1] = sr__cell(0, game->rival) | sr__cell(0, game->rival + 1);
  planes[2] = sr__cell(game->x, game->y);
  planes[3] = sr__cell(game->before_x, game->before_y);
}

/* Waits in the middle, goes to where the ball arrives, and aims away from the rival. */
static sr__move script(const void *state, int32_t tick_number) {
  (void)tick_number;
  const pong *game = state;
  int want = MIDDLE;
  if (game->dx > 0) {
    int y = arrival(game->y, game->dy, BOTTOM - game->x);
    want = sr__clamp(y - (game->rival < MIDDLE), 0, BOTTOM - 1);
  }
  return game->own < want ? SR__DOWN : game->own > want ? SR__UP : SR__STAY;
}

static const sr__grid_rules rules = {.channels = 4,
                                     .actions = 3,
                                     .allowed = {SR__STAY, SR__UP, SR__DOWN},
                                     .tick_cap = 2500,
                                     .state_size = sizeof(pong),
                                     .start = start,
                                     .tick = tick,
                                     .draw = draw,
                                     .script = script};
const sr__game sr__game_pong =
    SR__GRID_GAME("pong", "two paddles and a ball; a point +1 or -1, first to seven", &rules);
