/* Montezuma: three rooms of platforms, ladders and skulls; a key opens the door, the last room
 * holds a treasure.
 *
 * The second room is the first one mirrored. A step against the face only turns, a jump is two
 * cells wide and passes over gaps and skulls, a fall of two cells kills. */
#include "grid.h"

enum {
  SKULLS = 2,
  ROOMS = 3,
  KEY_REWARD = 1,
  DOOR_REWARD = 3,
  TREASURE_REWARD = 10,
  SKULL_TICKS = 3
};

/* # platform, H ladder, K key (the treasure in the last room), D door */
static const char room_map[] =
    "##########"
    "#.......HD"
    "########H#"
    "#.......H#"
    "#H##.##.##"
    "#H.......#"
    "###.####H#"
    "#K......H#"
    "##.##.####"
    "#........#";

typedef struct montezuma {
  sr__cells platforms, ladders, prize, door; /* of this room */
  sr__mover skull[SKULLS];
  int8_t room, x, y, face, airborne, fall;
  int8_t has_key;
} montezuma;

static bool solid(const montezuma *game, int x, int y) { /* a door is a wall without the key */
  if (!sr__inside(x, y)) return true;
  return sr__has(game->platforms, x, y) || (!game->has_key && sr__has(game->door, x, y));
}
static bool ladder(const montezuma *game, int x, int y) {
  return sr__inside(x, y) && sr__has(game->ladders, x, y);
}

static void enter_room(montezuma *game, int room, sr__turn *turn) {
  bool mirrored = room == 1;
  game->platforms = game->ladders = game->prize = game->door = 0;
  for (int y = 0; y < SR__GRID_SIDE; y++)
    for (int x = 0; x < SR__GRID_SIDE; x++) {
      char what = room_map[SR__GRID_SIDE * y + (mirrored ? SR__GRID_SIDE - 1 - x : x)];
      sr__cells *board = what == '#'   ? &game->platforms
                         : what == 'H' ? &game->ladders
                         : what == 'K' ? &game->prize
                         : what == 'D' ? &game->door
                                       : NULL;
      if (board) *board |= sr__cell(x, y);
    }
  game->room = (int8_t)room;
  game->x = mirrored ? 8 : 1;
  game->y = 1;
  game->has_key = game->fall = game->airborne = 0;
  for (int k = 0; k < SKULLS; k++)
    game->skull[k] = (sr__mover){(int8_t)(5 + mirrored), (int8_t)(3 + 2 * k), 1,
                                 (int8_t)sr__draw_below(turn, 2)};
}

static void start(void *state, sr__turn *turn) {
  montezuma *game = state;
  game->face = 1;
  enter_room(game, 0, turn);
}

static void move_player(montezuma *game, sr__move move, sr__turn *turn) {
  int dx = (move == SR__RIGHT) - (move == SR__LEFT);
  bool turned = dx && dx != game->face && !game->airborne;
  if (turned) game->face = (int8_t)dx;
  bool ground = solid(game, game->x, game->y + 1), here = ladder(game, game->x, game->y);
  bool below = ladder(game, game->x, game->y + 1);
  if (game->airborne) { /* after a jump: one more cell, then the fall */
    game->airborne--;
    if (!solid(game, game->x + game->face, game->y)) game->x = (int8_t)(game->x + game->face);
    return;
  }
  if (!ground && !here && !below) {
    game->y++;
    game->fall++;
    return;
  }
  if (game->fall > 1) turn->over = true;
  game->fall = 0;
  if (move == SR__FIRE && ground) {
    if (solid(game, game->x + game->face, game->y)) return;
    game->x = (int8_t)(game->x + game->face);
    game->airborne = 1;
  } else if (move == SR__UP && here && !solid(game, game->x, game->y - 1)) {
    game->y--;
  } else if (move == SR__DOWN && (below || (here && !ground))) {
    game->y++;
  } else if (dx && !turned && !solid(game, game->x + dx, game->y)) {
    game->x = (int8_t)(game->x + dx);
  }
}

/* A skull turns at walls and gaps; a player in the air passes over it. */
static void move_skull(montezuma *game, sr__mover *skull, sr__turn *turn) {
  if (++skull->clock == SKULL_TICKS) {
    int ahead = skull->x + skull->dx;
    skull->clock = 0;
    bool carried = solid(game, ahead, skull->y + 1) || ladder(game, ahead, skull->y + 1);
    if (solid(game, ahead, skull->y) || !carried)
      skull->dx = (int8_t)-skull->dx;
    else
      skull->x = (int8_t)ahead;
  }
  if (skull->x == game->x && skull->y == game->y && !game->airborne) turn->over = true;
}

static float tick(void *state, sr__move move, sr__turn *turn) {
  montezuma *game = state;
  move_player(game, move, turn);
  for (int k = 0; k < SKULLS; k++) move_skull(game, &game->skull[k], turn);
  sr__cells here = sr__cell(game->x, game->y);
  if (game->prize & here) {
    game->prize = 0;
    if (game->room == ROOMS - 1) {
      turn->over = true;
      return TREASURE_REWARD;
    }
    game->has_key = 1;
    return KEY_REWARD;
  }
  if (game->door & here && game->has_key && !turn->over) {
    enter_room(game, game->room + 1, turn);
    return DOOR_REWARD;
  }
  return 0;
}

static void draw(const void *state, sr__cells *planes) {
  const montezuma *game = state;
  planes[0] = sr__cell(game->x, game->y);
  planes[1] = game->platforms;
  planes[2] = game->ladders;
  planes[3] = game->prize;
  planes[4] = game->door;
  for (int k = 0; k < SKULLS; k++) planes[5] |= sr__cell(game->skull[k].x, game->skull[k].y);
  /* status cells in the bottom row: key, in the air, face, cells fallen */
  if (game->has_key) planes[6] |= sr__cell(0, 9);
  if (game->airborne) planes[6] |= sr__cell(1, 9);
  if (game->face > 0) planes[6] |= sr__cell(2, 9);
  planes[6] |= sr__row(4, 9, game->fall < 4 ? game->fall : 4);
}

static const sr__grid_rules rules = {.channels = 7,
                                     .actions = 6,
                                     .allowed = {SR__STAY, SR__UP, SR__DOWN, SR__LEFT, SR__RIGHT,
                                                 SR__FIRE},
                                     .tick_cap = 400,
                                     .state_size = sizeof(montezuma),
                                     .start = start,
                                     .tick = tick,
                                     .draw = draw};
const sr__game sr__game_montezuma =
    SR__GRID_GAME("montezuma",
                  "three rooms: key +1, door +3, treasure +10; a skull or a fall ends it", &rules);
