/* Atari games through the emulator of ale-py, in a child process with shared memory. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ale_child.h"
#include "game.h"

enum {
  SCREEN_HEIGHT = 210,
  SCREEN_WIDTH = 160,
  SCREEN = SCREEN_HEIGHT * SCREEN_WIDTH,
  SIDE = 84,
  STATE_ROOM = 1 << 18
};
enum { OPEN = 1, RESET, STEP, SAVE, LOAD, PING };
enum { ACTIONS_MAX = 18, START_SECONDS = 120, STEP_SECONDS = 60 };

/* What both processes see; 32-bit little-endian numbers. */
typedef struct sr__ale_block {
  uint32_t magic, version;
  int32_t command, failed;
  int32_t action, skip, sticky_per_million, seed; /* asked for */
  int32_t reward, over, truncated, lives, frame;  /* answered */
  int32_t actions, state_bytes, missing;
  uint8_t unused[64];
  char message[256];
  char rom[64];
  uint8_t unused_too[64];
  int32_t legal[ACTIONS_MAX];
  uint8_t rest[4096 - 512 - 4 * ACTIONS_MAX];
  uint8_t last[SCREEN], previous[SCREEN]; /* gray */
  uint8_t state[STATE_ROOM];
} sr__ale_block;
_Static_assert(offsetof(sr__ale_block, message) == 128 && offsetof(sr__ale_block, rom) == 384 &&
                   offsetof(sr__ale_block, legal) == 512 && offsetof(sr__ale_block, last) == 4096,
               "the child knows these places");

typedef struct ale_options {
  int rom;
  int64_t skip;
  double sticky;
} ale_options;

/* Names as ale-py has them; the value of the option is the place in this list. */
#define ROMS                                                                                       \
  "breakout|space_invaders|seaquest|qbert|pong|montezuma_revenge|pitfall|alien|amidar|assault|"    \
  "asterix|"                                                                                       \
  "asteroids|atlantis|bank_heist|battle_zone|beam_rider|berzerk|bowling|boxing|centipede|"         \
  "chopper_command|crazy_climber|demon_attack|double_dunk|enduro|fishing_derby|freeway|frostbite|" \
  "gopher|"                                                                                        \
  "gravitar|hero|ice_hockey|jamesbond|kangaroo|krull|kung_fu_master|ms_pacman|name_this_game|"     \
  "phoenix|"                                                                                       \
  "private_eye|riverraid|road_runner|robotank|skiing|solaris|star_gunner|surround|tennis|time_"    \
  "pilot|"                                                                                         \
  "tutankham|up_n_down|venture|video_pinball|wizard_of_wor|yars_revenge|zaxxon"
static const sr_option options[] = {
    SR_CHOICE(ale_options, rom, "breakout", ROMS, "the game, as ale-py names it"),
    SR_INTEGER(ale_options, skip, "4", 1, 60,
               "frames per step; a picture is the larger of the last two"),
    SR_REAL(ale_options, sticky, "0.25", 0, 1,
            "probability that a frame repeats the action before"),
    SR_OPTIONS_END};

typedef struct emulator {
  sr__ale_block *block;
  int socket;
  pid_t child;
  uint8_t picture[SIDE * SIDE];
  char names[ACTIONS_MAX][24];
  const char *action_names[ACTIONS_MAX];
} emulator;

static const char *const codes[ACTIONS_MAX] = {"stay",
                                               "fire",
                                               "up",
                                               "right",
                                               "left",
                                               "down",
                                               "up right",
                                               "up left",
                                               "down right",
                                               "down left",
                                               "up fire",
                                               "right fire",
                                               "left fire",
                                               "down fire",
                                               "up right fire",
                                               "up left fire",
                                               "down right fire",
                                               "down left fire"};

/* Sends a command and waits for the answer. */
static sr_status ask(sr_context *ctx, emulator *e, int command, int seconds) {
  char byte = '.';
  struct pollfd answer = {.fd = e->socket, .events = POLLIN};
  e->block->command = command;
  if (send(e->socket, &byte, 1, MSG_NOSIGNAL) != 1)
    return sr__fail(ctx, SR_ERROR_IO, "the emulator's process has ended; start the game again");
  int ready;
  do ready = poll(&answer, 1, 1000 * seconds);
  while (ready < 0 && errno == EINTR);
  if (ready == 0)
    return sr__fail(ctx, SR_ERROR_IO,
                    "the emulator did not answer within %d seconds; start the game again", seconds);
  if (ready < 0 || recv(e->socket, &byte, 1, 0) != 1)
    return sr__fail(ctx, SR_ERROR_IO, "the emulator's process has ended; start the game again");
  if (e->block->missing)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "%.255s; install it with: pip install ale-py numpy (for the Python that "
                    "SPECROUTE_PYTHON names, "
                    "else python3)",
                    e->block->message);
  if (e->block->failed)
    return sr__fail(ctx, SR_ERROR_IO, "the emulator says: %.255s", e->block->message);
  return SR_OK;
}

/* 210/84 = 5/2 and 160/84 = 40/21, so that every cell of the small picture is an average with whole
 * weights that sum to 5 * 40: rows in halves, columns in parts of 21. */
static void scale(const uint8_t *a, const uint8_t *b, uint8_t *to) {
  for (int i = 0; i < SIDE; i++) {
    uint32_t row[SCREEN_WIDTH] = {0};
    int top = 5 * i / 2;
    for (int y = top; y < top + 3; y++) {
      int low = 2 * y > 5 * i ? 2 * y : 5 * i, high = 2 * y + 2 < 5 * i + 5 ? 2 * y + 2 : 5 * i + 5;
      if (high <= low) continue;
      const uint8_t *p = a + y * SCREEN_WIDTH, *q = b + y * SCREEN_WIDTH;
      for (int x = 0; x < SCREEN_WIDTH; x++)
        row[x] += (uint32_t)(high - low) * (p[x] > q[x] ? p[x] : q[x]);
    }
    for (int j = 0; j < SIDE; j++) {
      uint32_t sum = 0;
      for (int x = 40 * j / 21; x < SCREEN_WIDTH && 21 * x < 40 * j + 40; x++) {
        int low = 21 * x > 40 * j ? 21 * x : 40 * j,
            high = 21 * x + 21 < 40 * j + 40 ? 21 * x + 21 : 40 * j + 40;
        sum += (uint32_t)(high - low) * row[x];
      }
      *to++ = (uint8_t)((sum + 100) / 200);
    }
  }
}

static void show(sr_game *game) {
  emulator *e = game->state;
  game->view.over = e->block->over != 0;
  game->view.truncated = e->block->truncated != 0 && !e->block->over;
  scale(e->block->last, e->block->previous, e->picture);
}

/* Deaf to the signals that a program stops by: a terminal sends them to the child too, and the
 * parent may want to save the state of the emulator first. It ends when the socket does. */
static int spawn(const char *python, int memory, int socket, pid_t *child) {
  char *const arguments[] = {(char *)(uintptr_t)python, (char *)"-c",
                             (char *)(uintptr_t)sr__ale_child, NULL};
  extern char **environ;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t deaf;
  sigemptyset(&deaf);
  sigaddset(&deaf, SIGINT);
  sigaddset(&deaf, SIGTERM);
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (!failed) {
    failed = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (!failed) failed = posix_spawnattr_setsigmask(&attributes, &deaf);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, memory, 3);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&actions, socket, 4);
    if (!failed) failed = posix_spawnp(child, python, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/* Shared memory at descriptor 3 and a socket at 4 of the child. */
static sr_status start(sr_context *ctx, emulator *e) {
  sr_status status = SR_OK;
  int memory = -1, pair[2] = {-1, -1};
  const char *python = getenv("SPECROUTE_PYTHON");
  if (!python) python = "python3";
  memory = memfd_create("specroute-ale", MFD_CLOEXEC);
  if (memory < 0 || ftruncate(memory, sizeof(sr__ale_block)) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_IO, "no shared memory for the emulator: %s", strerror(errno)));
  e->block = mmap(NULL, sizeof(sr__ale_block), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (e->block == MAP_FAILED) {
    e->block = NULL;
    SR_TRY(
        sr__fail(ctx, SR_ERROR_MEMORY, "no shared memory for the emulator: %s", strerror(errno)));
  }
  e->socket = pair[0];
  pair[0] = -1;
  /* Above 4 first, so that neither copy overwrites the other's source. */
  int high_memory = fcntl(memory, F_DUPFD_CLOEXEC, 5),
      high_socket = fcntl(pair[1], F_DUPFD_CLOEXEC, 5), failed = ENOMEM;
  if (high_memory >= 0 && high_socket >= 0)
    failed = spawn(python, high_memory, high_socket, &e->child);
  if (high_memory >= 0) close(high_memory);
  if (high_socket >= 0) close(high_socket);
  if (failed) {
    e->child = 0;
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "%s cannot be started (%s): Atari games need Python with the package ale-py; "
                    "SPECROUTE_PYTHON may "
                    "name the interpreter",
                    python, strerror(failed)));
  }
cleanup:
  if (memory >= 0) close(memory);
  for (int k = 0; k < 2; k++)
    if (pair[k] >= 0) close(pair[k]);
  return status;
}

static void name_rom(int index, char *rom, size_t size) {
  const char *at = ROMS;
  while (index-- > 0) at = strchr(at, '|') + 1;
  snprintf(rom, size, "%.*s", (int)strcspn(at, "|"), at);
}

static sr_status open_ale(sr_context *ctx, const sr__game *entry, const void *chosen, uint64_t seed,
                          sr_game *game) {
  (void)entry;
  sr_status status = SR_OK;
  const ale_options *o = chosen;
  emulator *e = NULL;
  SR_NEW_ZERO(ctx, e, 1);
  game->state = e;
  e->socket = -1;
  SR_TRY(start(ctx, e));
  e->block->magic = 0x31454C41;
  e->block->version = 1;
  e->block->skip = (int32_t)o->skip;
  e->block->sticky_per_million = (int32_t)(1e6 * o->sticky + 0.5);
  /* The emulator takes 31 bits: all of the seed has a say. */
  e->block->seed =
      (int32_t)(((seed ^ seed >> 31) * UINT64_C(0x9E3779B97F4A7C15) >> 33) & 0x7FFFFFFF);
  name_rom(o->rom, e->block->rom, sizeof e->block->rom);
  SR_TRY(ask(ctx, e, OPEN, START_SECONDS));
  if (e->block->actions < 1 || e->block->actions > ACTIONS_MAX)
    SR_TRY(sr__fail(ctx, SR_ERROR_INTERNAL, "the emulator has %d actions", (int)e->block->actions));
  for (int a = 0; a < e->block->actions; a++) {
    int code = e->block->legal[a];
    snprintf(e->names[a], sizeof e->names[a], "%s",
             code >= 0 && code < ACTIONS_MAX ? codes[code] : "other");
    e->action_names[a] = e->names[a];
  }
  game->form = SR__FRAME_GRAY;
  game->frame = e->picture;
  game->frame_bytes = sizeof e->picture;
  game->view.channels = 1;
  game->view.height = game->view.width = SIDE;
  game->view.actions = e->block->actions;
  game->view.action_names = e->action_names;
  game->view.skip = (int32_t)o->skip;
cleanup:
  return status;
}

static sr_status reset_ale(sr_context *ctx, sr_game *game) {
  sr_status status = ask(ctx, game->state, RESET, STEP_SECONDS);
  if (status == SR_OK) show(game);
  return status;
}

static sr_status step_ale(sr_context *ctx, sr_game *game, int32_t action, double *reward) {
  emulator *e = game->state;
  e->block->action = action;
  sr_status status = ask(ctx, e, STEP, STEP_SECONDS);
  if (status != SR_OK) return status;
  *reward = e->block->reward;
  show(game);
  return SR_OK;
}

sr_status sr__ale_ping(sr_context *ctx, sr_game *game) {
  return ask(ctx, game->state, PING, STEP_SECONDS);
}

static int32_t script_ale(const sr_game *game) {
  (void)game;
  return -1;
}

static sr_status save_ale(sr_context *ctx, sr_game *game, sr__bytes *bytes) {
  emulator *e = game->state;
  sr_status status = ask(ctx, e, SAVE, STEP_SECONDS);
  if (status != SR_OK) return status;
  sr__put_u32(bytes, (uint32_t)e->block->state_bytes);
  sr__put_raw(bytes, e->block->state, e->block->state_bytes);
  sr__put_raw(bytes, e->picture, sizeof e->picture);
  return bytes->status;
}

static sr_status load_ale(sr_context *ctx, sr_game *game, sr__byte_reader *reader) {
  emulator *e = game->state;
  uint32_t size = sr__get_u32(reader);
  if (size > STATE_ROOM) sr__get_refuse(reader, "the state of the emulator is too large");
  if (reader->status != SR_OK) return reader->status;
  e->block->state_bytes = (int32_t)size;
  sr__get_raw(reader, e->block->state, size);
  sr__get_raw(reader, e->picture, sizeof e->picture);
  return reader->status == SR_OK ? ask(ctx, e, LOAD, STEP_SECONDS) : reader->status;
}

static void close_ale(sr_game *game) {
  emulator *e = game->state;
  if (e->socket >= 0) close(e->socket);
  if (e->child > 0) {
    kill(e->child, SIGKILL); /* it keeps nothing that could be lost */
    while (waitpid(e->child, NULL, 0) < 0 && errno == EINTR) continue;
  }
  if (e->block) munmap(e->block, sizeof(sr__ale_block));
  sr__release(&game->allocator, e);
}

static const sr__game_operations operations = {open_ale, reset_ale, step_ale, script_ale,
                                               save_ale, load_ale,  close_ale};
const sr__game sr__game_ale = {
    .about = {"ale", "an Atari game in the emulator of the Python package ale-py, 84 x 84 gray",
              options, sizeof(ale_options), NULL},
    .operations = &operations};
