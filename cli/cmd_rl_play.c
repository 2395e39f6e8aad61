/* specroute rl play: a game in the terminal, played by a person. */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "commands.h"
#include "generated.h"

static const cli_option options[] = {
    {"player", 0, CLI_CHOICE, "WHO", "person", "person|script|random", 0, 0,
     "who plays: you, the game's written player, or chance"},
    {"speed", 0, CLI_REAL, "STEPS", "6", NULL, 0.1, 1000, "steps per second"},
    {"most", 0, CLI_INTEGER, "STEPS", "0", NULL, 0, 1e9, "stop after so many steps; 0: never"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static const cli_method_flag methods[] = {{"game", "game", sr_game_method, false, true},
                                          {NULL, NULL, NULL, false, false}};

/* ---- the terminal -------------------------------------------------------------------------- */

/* One terminal per process; a signal handler must reach it. */
static int terminal = -1;
static struct termios before;

static void say(const char *text, size_t length) {
  while (length > 0) {
    ssize_t done = write(terminal, text, length);
    if (done <= 0) return;
    text += done;
    length -= (size_t)done;
  }
}

/* Cursor shown, main screen, modes as they were. Safe in a signal handler. */
static void give_back(void) {
  static const char shown[] = "\033[0m\033[?25h\033[?1049l";
  if (terminal < 0) return;
  say(shown, sizeof shown - 1);
  (void)tcsetattr(terminal, TCSAFLUSH, &before);
}

/* Keys come one by one without echo; signals of the keyboard stay. */
static bool take_terminal(void) {
  static const char hidden[] = "\033[?1049h\033[?25l\033[2J";
  terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal < 0 || tcgetattr(terminal, &before) != 0) {
    if (terminal >= 0) (void)close(terminal);
    terminal = -1;
    return false;
  }
  struct termios raw = before;
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  /* A program that is stopped or dumped would leave the modes behind. */
  raw.c_cc[VSUSP] = raw.c_cc[VQUIT] = _POSIX_VDISABLE;
  cli_before_sudden_exit = give_back;
  if (tcsetattr(terminal, TCSAFLUSH, &raw) != 0) return false;
  say(hidden, sizeof hidden - 1);
  return true;
}

static void leave_terminal(void) {
  give_back();
  cli_before_sudden_exit = NULL;
  if (terminal >= 0) (void)close(terminal);
  terminal = -1;
}

/* ---- keys ---------------------------------------------------------------------------------- */

typedef struct keys {
  bool left, right, up, down, fire, quit;
} keys;

static void read_key(const char **at, const char *end, keys *k) {
  char c = *(*at)++;
  if (c == '\033' && end - *at >= 2 && (**at == '[' || **at == 'O')) {
    c = (*at)[1];
    *at += 2;
    k->up |= c == 'A';
    k->down |= c == 'B';
    k->right |= c == 'C';
    k->left |= c == 'D';
    return;
  }
  k->up |= c == 'w' || c == 'k';
  k->down |= c == 's' || c == 'j';
  k->left |= c == 'a' || c == 'h';
  k->right |= c == 'd' || c == 'l';
  k->fire |= c == ' ' || c == 'f';
  k->quit |= c == 'q' || c == '\033' || c == 4;
}

/* What was pressed until the next step is due; false where the terminal is gone. */
static bool wait_for_keys(double seconds, sr_context *ctx, keys *k) {
  double until = sr_seconds() + seconds;
  for (;;) {
    double left = until - sr_seconds();
    struct pollfd from = {.fd = terminal, .events = POLLIN};
    if (left <= 0 || sr_context_interrupted(ctx) || k->quit) return true;
    int ready = poll(&from, 1, (int)(1000 * left) + 1);
    if (ready > 0 && from.revents & (POLLHUP | POLLERR | POLLNVAL)) return false;
    if (ready <= 0) continue;
    char text[64];
    ssize_t count = read(terminal, text, sizeof text);
    if (count <= 0) return false;
    for (const char *at = text; at < text + count;) read_key(&at, text + count, k);
  }
}

static bool says(const char *name, const char *word) { return strstr(name, word) != NULL; }

/* The action whose name agrees with most of the keys. */
static int32_t action_of(const sr_game_view *view, const keys *k) {
  int32_t best = 0;
  int most = -100;
  for (int32_t a = 0; a < view->actions; a++) {
    const char *name = view->action_names[a];
    int fits = 0;
    fits += says(name, "left") == k->left ? 1 : -2;
    fits += says(name, "right") == k->right ? 1 : -2;
    fits += says(name, "up") == k->up ? 1 : -2;
    fits += says(name, "down") == k->down ? 1 : -2;
    fits += says(name, "fire") == k->fire ? 1 : -2;
    if (fits > most) {
      most = fits;
      best = a;
    }
  }
  return best;
}

/* ---- the picture --------------------------------------------------------------------------- */

typedef struct screen {
  char *text;
  size_t used, size;
  uint8_t *picture;
} screen;

static void put(screen *s, const char *format, ...) SR_PRINTF(2, 3);
static void put(screen *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = vsnprintf(s->text + s->used, s->size - s->used, format, arguments);
  va_end(arguments);
  if (count > 0) s->used += (size_t)count < s->size - s->used ? (size_t)count : 0;
}

/* Cells of a grid game: the last channel that is on gives sign and color. */
static void draw_cells(screen *s, const sr_game_view *view, bool color) {
  static const char signs[] = "@*+#o=x%&$~";
  static const int colors[] = {32, 33, 90, 36, 31, 35, 34, 37, 92, 93, 94};
  enum { SIGNS = sizeof signs - 1 };
  int cells = view->height * view->width;
  for (int y = 0; y < view->height; y++) {
    put(s, "  |");
    for (int x = 0; x < view->width; x++) {
      int shown = -1;
      for (int c = view->channels - 1; c >= 0; c--)
        if (s->picture[c * cells + y * view->width + x]) shown = c;
      if (shown < 0)
        put(s, "  ");
      else if (color)
        put(s, "\033[%dm%c%c\033[0m", colors[shown % SIGNS], signs[shown % SIGNS],
            signs[shown % SIGNS]);
      else
        put(s, "%c%c", signs[shown % SIGNS], signs[shown % SIGNS]);
    }
    put(s, "|\033[K\r\n");
  }
}

/* Two rows of a gray picture per line, as half blocks; without color as letters. */
static void draw_gray(screen *s, const sr_game_view *view, bool color) {
  static const char shades[] = " .:-=+*#%@";
  for (int y = 0; y + 1 < view->height; y += 2) {
    for (int x = 0; x < view->width; x++) {
      int top = s->picture[y * view->width + x], low = s->picture[(y + 1) * view->width + x];
      if (color)
        put(s, "\033[38;5;%d;48;5;%dm\xe2\x96\x80", 232 + top * 23 / 255, 232 + low * 23 / 255);
      else
        put(s, "%c", shades[(top + low) * 9 / 510]);
    }
    put(s, "\033[0m\033[K\r\n");
  }
}

static void draw(screen *s, const sr_game *game, const char *player) {
  const sr_game_view *view = sr_game_get(game);
  bool color = !getenv("NO_COLOR");
  sr_game_picture(game, s->picture);
  s->used = 0;
  put(s, "\033[H%s  score %g  step %lld  %s\033[K\r\n", view->name, view->score,
      (long long)view->steps, player);
  if (view->width > 16)
    draw_gray(s, view, color);
  else
    draw_cells(s, view, color);
  put(s, "arrows or wasd move, space fires, q ends\033[K\033[J");
  say(s->text, s->used);
}

/* ---- the game ------------------------------------------------------------------------------ */

static sr_status play(cli_run *run, sr_game *game, screen *s, bool *quit) {
  sr_status status = SR_OK;
  const sr_game_view *view = sr_game_get(game);
  const char *player = cli_text(run, "player");
  double pause = 1 / cli_real(run, "speed"), reward, uniform;
  int64_t most = cli_integer(run, "most");
  draw(s, game, player);
  while (!view->over && !view->truncated && (most == 0 || view->steps < most)) {
    keys k = {0};
    int32_t action = 0;
    if (!wait_for_keys(pause, run->ctx, &k) || k.quit) {
      *quit = true;
      break;
    }
    if (sr_context_interrupted(run->ctx)) return SR_ERROR_INTERRUPTED;
    if (player[0] == 'p') {
      action = action_of(view, &k);
    } else if (player[0] == 's') {
      action = sr_game_script(game);
    } else {
      sr_random_uniform(run->seed, (uint64_t)view->steps, 0, 1, &uniform);
      action = (int32_t)(uniform * view->actions);
    }
    SR_TRY(sr_game_step(run->ctx, game, action, &reward));
    draw(s, game, player);
  }
cleanup:
  return status;
}

static int run_rl_play(cli_run *run) {
  sr_game *game = NULL;
  screen s = {0};
  bool quit = false;
  int code = CLI_SUCCESS;
  sr_status status = sr_game_new(run->ctx, cli_method_text(run, "game"), run->seed, &game);
  if (status != SR_OK) return cli_fail(run, status);
  const sr_game_view *view = sr_game_get(game);
  if (cli_text(run, "player")[0] == 's' && sr_game_script(game) < 0) {
    code = cli_complain(run, CLI_USAGE, "%s has no written player; give --player person or random",
                        view->name);
    goto cleanup;
  }
  s.size = (size_t)view->height * (size_t)view->width * 40 + 4096;
  s.text = malloc(s.size);
  s.picture = malloc((size_t)view->channels * (size_t)view->height * (size_t)view->width);
  if (!s.text || !s.picture) {
    code = cli_complain(run, CLI_NO_MEMORY, "out of memory");
    goto cleanup;
  }
  if (!take_terminal()) {
    leave_terminal();
    code = cli_complain(run, CLI_USAGE,
                        "rl play draws in a terminal, and this process has none; run it from one");
    goto cleanup;
  }
  status = play(run, game, &s, &quit);
  leave_terminal();
  if (status == SR_ERROR_INTERRUPTED)
    code = cli_complain(run, CLI_INTERRUPTED, "interrupted at step %lld, score %g",
                        (long long)view->steps, view->score);
  else if (status != SR_OK)
    code = cli_fail(run, status);
  if (code != CLI_SUCCESS) goto cleanup;
  cli_say(run, "%s: score %g after %lld steps, %s\n", view->name, view->score,
          (long long)view->steps,
          view->over        ? "over"
          : view->truncated ? "cut at its longest"
                            : "left");
  code = cli_finish(run, json_pack("{s:s,s:f,s:I,s:b,s:b,s:b}", "game", view->name, "score",
                                   view->score, "steps", (json_int_t)view->steps, "over",
                                   view->over, "truncated", view->truncated, "left", quit));
cleanup:
  free(s.text);
  free(s.picture);
  sr_game_free(&game);
  return code;
}

const cli_command cli_rl_play = {
    .name = "rl play",
    .arguments = "GAME[:KEY=VALUE,...]",
    .least = 1,
    .most = 1,
    .help = "play a game in the terminal",
    .description =
        "Arrows or wasd move, space fires, q ends. --player script lets the game's written player\n"
        "play. Atari games need a terminal of 84 x 45 characters.",
    .groups = {options},
    .methods = methods,
    .example = "specroute rl play breakout --speed 8",
    .run = run_rl_play};
