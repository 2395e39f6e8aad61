/* Replay: games, buffer, gradient steps and whole loops, in processor time.
 *
 *   bench_replay          JSON lines of what has no peer here: games, draws, prioritized against
 * uniform bench_replay serve    reads "nature STEPS", "grid CHANNELS ACTIONS ONES_PER_MILLE STEPS"
 * or "loop GAME STEPS" and answers each with the seconds it took; replay_peers.py takes turns with
 * PyTorch that way */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "replay/agent.h"
#include "replay/sum_tree.h"

enum { BATCH = 32 };

static double clock_seconds(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

/* Of this process and of its living children: the emulator's work counts. */
static double processor_seconds(void) {
  double sum = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
  char path[64];
  int child;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *children = fopen(path, "r");
  while (children && fscanf(children, "%d", &child) == 1) {
    clockid_t clock;
    if (clock_getcpuclockid(child, &clock) == 0) sum += clock_seconds(clock);
  }
  if (children) fclose(children);
  return sum;
}

static void must(sr_context *ctx, sr_status status) {
  if (status == SR_OK) return;
  fprintf(stderr, "bench_replay: %s\n", sr_context_error(ctx).message);
  exit(1);
}

/* ---- games ---------------------------------------------------------------------------------- */

static double steps_per_second(sr_context *ctx, const char *name, bool bytes) {
  sr_game *game = NULL;
  must(ctx, sr_game_new(ctx, name, 1, &game));
  const sr_game_view *view = sr_game_get(game);
  static uint8_t picture[800];
  enum { STEPS = 1000000 };
  double best = 0;
  uint64_t random = 88172645463325252u;
  for (int repeat = 0; repeat < 3; repeat++) {
    double begun = processor_seconds(), reward;
    for (int t = 0; t < STEPS; t++) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      must(ctx, sr_game_step(ctx, game, (int32_t)((random >> 32) * (uint64_t)view->actions >> 32),
                             &reward));
      if (bytes) sr_game_picture(game, picture);
      if (view->over || view->truncated) must(ctx, sr_game_reset(ctx, game));
    }
    double speed = STEPS / (processor_seconds() - begun);
    if (speed > best) best = speed;
  }
  sr_game_free(&game);
  return best;
}

/* Grid games alone: the emulator has a clock of its own. */
static bool is_grid(sr_context *ctx, const char *name) {
  sr_game *game = NULL;
  bool grid = sr_game_new(ctx, name, 1, &game) == SR_OK && sr_game_get(game)->width == 10;
  sr_game_free(&game);
  return grid;
}

static void games(sr_context *ctx) {
  for (int g = 0; sr_game_method(g); g++) {
    const char *name = sr_game_method(g)->name;
    if (!is_grid(ctx, name)) continue;
    printf(
        "{\"bench\": \"replay\", \"case\": \"game\", \"game\": \"%s\", \"steps_per_second\": %.4g, "
        "\"with_bytes\": %.4g}\n",
        name, steps_per_second(ctx, name, false), steps_per_second(ctx, name, true));
  }
}

/* ---- gradient steps -------------------------------------------------------------------------- */

typedef struct step_bench {
  sr__qnet online, target;
  sr__qnet_work work;
  sr__adam adam;
  uint8_t *pictures;
  const uint8_t *frames[BATCH * 4], *next[BATCH * 4];
  int32_t actions;
} step_bench;

static void step_open(sr_context *ctx, step_bench *b, sr__frame_form form, int32_t channels,
                      int32_t actions, int per_mille) {
  bool gray = form == SR__FRAME_GRAY;
  sr_game game = {.form = form,
                  .view = {.name = "pictures",
                           .channels = channels,
                           .height = gray ? 84 : 10,
                           .width = gray ? 84 : 10}};
  sr__qnet_shape shape;
  int32_t stack = gray ? 4 : 1;
  size_t bytes = gray ? 7056 : 16 * (size_t)channels;
  memset(b, 0, sizeof *b);
  must(ctx, sr__qnet_choose(ctx, &game, stack, actions, &shape));
  must(ctx, sr__qnet_new(ctx, &shape, true, &b->online));
  must(ctx, sr__qnet_new(ctx, &shape, false, &b->target));
  must(ctx, sr__qnet_work_new(ctx, &shape, BATCH, &b->work));
  b->adam = (sr__adam){.rate = 1e-4f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f};
  b->actions = actions;
  b->pictures = calloc(2 * BATCH * 4, bytes);
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  sr__qnet_draw_weights(&b->online, &random);
  sr__qnet_copy_weights(&b->online, &b->target);
  for (int i = 0; i < 2 * BATCH * stack; i++) {
    uint8_t *picture = b->pictures + (size_t)i * bytes;
    if (gray)
      for (size_t k = 0; k < bytes; k++) picture[k] = (uint8_t)sr__random_bits(&random);
    for (int c = 0; c < channels && !gray; c++)
      for (int cell = 0; cell < 100; cell++)
        if (sr__random_below(&random, 1000) < (uint64_t)per_mille)
          picture[16 * c + cell / 8] |= (uint8_t)(1u << cell % 8);
    (i < BATCH * stack ? b->frames : b->next)[i % (BATCH * stack)] = picture;
  }
}

/* Target forward, online forward, Huber, backward, Adam. */
static void gradient_step(step_bench *b) {
  float target[BATCH];
  int32_t n = b->actions;
  sr__qnet_forward(&b->target, &b->work, BATCH, b->next);
  for (int i = 0; i < BATCH; i++) {
    float best = b->work.q[i * n];
    for (int a = 1; a < n; a++) best = b->work.q[i * n + a] > best ? b->work.q[i * n + a] : best;
    target[i] = (float)(i % 3 == 0) + 0.99f * best;
  }
  sr__qnet_forward(&b->online, &b->work, BATCH, b->frames);
  memset(b->work.dq, 0, (size_t)(BATCH * n) * sizeof(float));
  for (int i = 0; i < BATCH; i++) {
    float error = b->work.q[i * n + i % n] - target[i];
    b->work.dq[i * n + i % n] = (error > 1 ? 1 : error < -1 ? -1 : error) / BATCH;
  }
  sr__qnet_learn(&b->online, &b->work, BATCH, b->frames, &b->adam);
}

static void step_close(step_bench *b) {
  sr__qnet_free(&b->online);
  sr__qnet_free(&b->target);
  sr__qnet_work_free(&b->work);
  free(b->pictures);
}

/* ---- draws and whole runs -------------------------------------------------------------------- */

static sr_agent *agent_of(sr_context *ctx, const char *game, const char *sampler, int64_t heads) {
  sr_agent_options options;
  sr_agent *agent = NULL;
  sr_agent_options_init(&options);
  options.game = game;
  options.sampler = sampler;
  options.heads = heads;
  options.epsilon_steps = 1; /* the network acts from the start, as it does in most of a run */
  if (strncmp(game, "ale", 3) == 0) options.capacity = 20000;
  must(ctx, sr_agent_new(ctx, &options, 1, &agent));
  must(ctx, sr_agent_train(ctx, agent, options.start + 500));
  return agent;
}

static double run_steps(sr_context *ctx, sr_agent *agent, int64_t steps) {
  double begun = processor_seconds();
  must(ctx, sr_agent_train(ctx, agent, steps));
  return (processor_seconds() - begun) / (double)steps;
}

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Samplers in turn, so that all see the same load: medians of seconds per step, and of their ratio
 * to uniform's of the same turn. */
static void samplers(sr_context *ctx) {
  const char *const names[] = {"uniform", "per", "rem", "routed", "fifth", "routed-features"};
  enum { COUNT = sizeof names / sizeof *names, TURNS = 21, STEPS = 100 };
  sr_agent *agent[COUNT];
  double taken[COUNT][TURNS], ratio[COUNT][TURNS];
  for (int k = 0; k < COUNT; k++) agent[k] = agent_of(ctx, "breakout", names[k], 5);
  for (int turn = 0; turn < TURNS; turn++)
    for (int k = 0; k < COUNT; k++) {
      taken[k][turn] = run_steps(ctx, agent[k], STEPS);
      ratio[k][turn] = taken[k][turn] / taken[0][turn];
    }
  for (int k = 0; k < COUNT; k++) {
    const sr_agent_view *view = sr_agent_get(agent[k]);
    qsort(taken[k], TURNS, sizeof(double), by_size);
    qsort(ratio[k], TURNS, sizeof(double), by_size);
    printf(
        "{\"bench\": \"replay\", \"case\": \"sampler\", \"sampler\": \"%s\", \"ms_per_step\": "
        "%.4g, \"over_uniform\": %.4g, \"turns\": %d, \"cut_share\": %.3g}\n",
        names[k], 1e3 * taken[k][TURNS / 2], ratio[k][TURNS / 2], TURNS,
        view->seconds_cut / (view->seconds_cut + view->seconds_learn + view->seconds_play));
    sr_agent_free(&agent[k]);
  }
}

static void priorities(sr_context *ctx) {
  enum { ITEMS = 1 << 20, STEPS = 3000 };
  sr__sum_tree tree;
  sr_allocator allocator = sr__allocator(ctx);
  must(ctx, sr__sum_tree_new(ctx, ITEMS, &tree));
  sr__random random;
  sr__random_init(&random, 1, SR_PURPOSE_TEST, 0, 0);
  for (int64_t i = 0; i < ITEMS; i++) sr__sum_tree_set(&tree, i, sr__random_uniform(&random));
  double begun = processor_seconds();
  for (int t = 0; t < STEPS; t++) {
    int64_t item[BATCH];
    for (int i = 0; i < BATCH; i++)
      item[i] = sr__sum_tree_find(&tree, (i + sr__random_uniform(&random)) / BATCH *
                                             sr__sum_tree_total(&tree));
    for (int i = 0; i < BATCH; i++) sr__sum_tree_set(&tree, item[i], sr__random_uniform(&random));
  }
  printf("{\"bench\": \"replay\", \"case\": \"sum tree\", \"n\": %d, \"us_per_batch\": %.4g}\n",
         ITEMS, 1e6 * (processor_seconds() - begun) / STEPS);
  sr__sum_tree_free(&allocator, &tree);
}

/* To the process of the emulator and back without work there, in elapsed time; nothing where the
 * emulator is missing. */
static void round_trip(sr_context *ctx) {
  enum { TRIPS = 20000 };
  static double taken[TRIPS];
  sr_game *game = NULL;
  sr_status status = sr_game_new(ctx, "ale:pong", 1, &game);
  if (status == SR_ERROR_UNSUPPORTED) return;
  must(ctx, status);
  for (int k = 0; k < TRIPS; k++) {
    double begun = clock_seconds(CLOCK_MONOTONIC);
    must(ctx, sr__ale_ping(ctx, game));
    taken[k] = clock_seconds(CLOCK_MONOTONIC) - begun;
  }
  sr_game_free(&game);
  qsort(taken, TRIPS, sizeof(double), by_size);
  printf(
      "{\"bench\": \"replay\", \"case\": \"round trip\", \"n\": %d, \"us_median\": %.4g, "
      "\"us_of_hundredth\": %.4g}\n",
      TRIPS, 1e6 * taken[TRIPS / 2], 1e6 * taken[TRIPS / 100]);
}

static void serve(sr_context *ctx) {
  char line[256], game[128];
  step_bench bench = {0};
  char opened[256] = "";
  sr_agent *agent = NULL;
  while (fgets(line, sizeof line, stdin)) {
    int channels = 1, actions = 4, per_mille = 0, steps = 1;
    char *last = strrchr(line, ' ');
    if (!last || (steps = atoi(last + 1)) < 1) continue;
    *last = 0;
    bool loop = sscanf(line, "loop %127s", game) == 1;
    if (strcmp(line, opened) != 0) {
      if (bench.pictures) step_close(&bench);
      memset(&bench, 0, sizeof bench);
      sr_agent_free(&agent);
      if (loop)
        agent = agent_of(ctx, game, "uniform", 1);
      else if (sscanf(line, "grid %d %d %d", &channels, &actions, &per_mille) == 3)
        step_open(ctx, &bench, SR__FRAME_BITS, channels, actions, per_mille);
      else
        step_open(ctx, &bench, SR__FRAME_GRAY, 1, actions, 0);
      snprintf(opened, sizeof opened, "%s", line);
    }
    double begun = processor_seconds(), taken;
    if (loop) {
      taken = run_steps(ctx, agent, steps) * steps;
    } else {
      for (int i = 0; i < steps; i++) gradient_step(&bench);
      taken = processor_seconds() - begun;
    }
    printf("%.9f\n", taken);
    fflush(stdout);
  }
  if (bench.pictures) step_close(&bench);
  sr_agent_free(&agent);
}

int main(int count, char **arguments) {
  sr_context *ctx = NULL;
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  if (sr_context_new(&options, &ctx) != SR_OK) return 1;
  if (count > 1 && strcmp(arguments[1], "serve") == 0) {
    serve(ctx);
  } else {
    games(ctx);
    priorities(ctx);
    round_trip(ctx);
    samplers(ctx);
  }
  sr_context_free(&ctx);
  return 0;
}
