/* Bias and coverage of the dependence estimators where the truth is known.
 *
 *   bench_coverage [SEEDS [FAMILY]]   families: ar1 slow grid chain ring (default: all, 50 seeds)
 *
 * One JSON line a cell and estimator; "trusted" is the one that a diagnosis reports. */
#include <math.h>
#include <specroute/specroute.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/random.h"

enum { MOST_SCALES = 8 };

typedef struct tally {
  char method[32];
  int runs, covered;
  double sum, square, width;
} tally;

typedef struct cell {
  const char *family;
  int64_t n;
  int32_t d;
  double parameter; /* tmix, range, flip probability, states */
  double truth;     /* of the trusted estimate */
  const char *graph;
  tally tallies[MOST_SCALES];
  int tally_count;
  char trusted[64]; /* methods that were trusted, as they first came */
} cell;

static void stop(sr_context *ctx) {
  fprintf(stderr, "%s\n", sr_context_error(ctx).message);
  exit(1);
}

/* ---- data of known gap -------------------------------------------------------------------- */

/* `scale` is the witness and its own option: "ar1:tmix" or "grid:range". */
static sr_table *simulate(sr_context *ctx, const char *scale, int64_t n, int32_t d,
                          double parameter, uint64_t seed) {
  char text[160];
  sr_table *table = NULL;
  snprintf(text, sizeof text, "%s=%.17g,n=%lld,d=%d", scale, parameter, (long long)n, d);
  if (sr_simulate(ctx, text, seed, 0, &table, NULL) != SR_OK) stop(ctx);
  return table;
}

static sr_table *table_of(sr_context *ctx, int64_t n, int32_t d, const float *x) {
  sr_table_view view = {.rows = n, .features = d, .x = x};
  sr_table *table = NULL;
  if (sr_table_new(ctx, &view, &table) != SR_OK) stop(ctx);
  return table;
}

/* One AR(1) coordinate, mixed by nothing with d - 1 independent ones. */
static sr_table *one_slow(sr_context *ctx, int64_t n, int32_t d, double tmix, uint64_t seed) {
  sr_table *slow = simulate(ctx, "ar1:tmix", n, 1, tmix, seed);
  sr_table *fast = simulate(ctx, "ar1:tmix", n, d, 1.0, seed + 1000000);
  float *x = malloc((size_t)n * (size_t)d * sizeof *x);
  if (!x) exit(1);
  memcpy(x, sr_table_get(fast)->x, (size_t)n * (size_t)d * sizeof *x);
  memcpy(x, sr_table_get(slow)->x, (size_t)n * sizeof *x);
  sr_table *table = table_of(ctx, n, d, x);
  free(x);
  sr_table_free(&slow);
  sr_table_free(&fast);
  return table;
}

/* Two states that are left with probabilities p and p / 2: eigenvalue 1 - 3 p / 2. */
static sr_table *two_states(sr_context *ctx, int64_t n, double p, uint64_t seed) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  float *x = malloc((size_t)n * sizeof *x);
  if (!x) exit(1);
  x[0] = 0.0F;
  for (int64_t t = 1; t < n; t++) {
    double leave = x[t - 1] > 0.5F ? 0.5 * p : p;
    x[t] = sr__random_uniform(&random) < leave ? 1.0F - x[t - 1] : x[t - 1];
  }
  sr_table *table = table_of(ctx, n, 1, x);
  free(x);
  return table;
}

/* A lazy walk on a ring, seen as (cos, sin): eigenvalue (1 + cos(2 pi / states)) / 2. */
static sr_table *ring(sr_context *ctx, int64_t n, int states, uint64_t seed) {
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 1, 0);
  float *x = malloc(2 * (size_t)n * sizeof *x);
  if (!x) exit(1);
  uint64_t at = sr__random_below(&random, (uint64_t)states);
  for (int64_t t = 0; t < n; t++) {
    double angle = 2.0 * 3.14159265358979323846 * (double)at / states;
    x[t] = (float)cos(angle);
    x[n + t] = (float)sin(angle);
    uint64_t move = sr__random_below(&random, 4);
    if (move < 2) at = (at + (move ? 1 : (uint64_t)states - 1)) % (uint64_t)states;
  }
  sr_table *table = table_of(ctx, n, 2, x);
  free(x);
  return table;
}

static sr_table *draw(sr_context *ctx, const cell *c, uint64_t seed) {
  if (strcmp(c->family, "ar1") == 0)
    return simulate(ctx, "ar1:tmix", c->n, c->d, c->parameter, seed);
  if (strcmp(c->family, "grid") == 0)
    return simulate(ctx, "grid:range", c->n, c->d, c->parameter, seed);
  if (strcmp(c->family, "slow") == 0) return one_slow(ctx, c->n, c->d, c->parameter, seed);
  if (strcmp(c->family, "chain") == 0) return two_states(ctx, c->n, c->parameter, seed);
  return ring(ctx, c->n, (int)c->parameter, seed);
}

/* Mean over the cells of a square lattice of sum_j rho^(|dr| + |dc|). */
static double lattice_nodes(int64_t n, double range) {
  double side = ceil(sqrt((double)n)), rho = exp(-1.0 / range), gap = 1.0 - rho;
  double line = (1.0 + rho) / gap - 2.0 * rho * (1.0 - pow(rho, side)) / (side * gap * gap);
  return line * line;
}

/* ---- the tally ---------------------------------------------------------------------------- */

static void count(cell *c, const char *method, const sr_scale *scale) {
  int i = 0;
  while (i < c->tally_count && strcmp(c->tallies[i].method, method) != 0) i++;
  if (i == MOST_SCALES || !isfinite(scale->estimate)) return;
  tally *t = c->tallies + i;
  if (i == c->tally_count) {
    snprintf(t->method, sizeof t->method, "%s", method);
    c->tally_count++;
  }
  double truth = strcmp(method, "range") == 0 ? c->parameter : c->truth;
  t->runs++;
  t->covered += scale->low <= truth && truth <= scale->high;
  t->sum += scale->estimate / truth;
  t->square += scale->estimate / truth * (scale->estimate / truth);
  t->width += (scale->high - scale->low) / truth;
}

static void run_cell(cell c, int seeds) {
  sr_context *ctx = NULL;
  if (sr_context_new(NULL, &ctx) != SR_OK) exit(1);
  for (int seed = 1; seed <= seeds; seed++) {
    sr_table *table = draw(ctx, &c, (uint64_t)seed);
    sr_dependence *dependence = NULL;
    sr_graph *graph = NULL;
    if (sr_graph_build(ctx, table, c.graph, 1, &graph) != SR_OK ||
        sr_dependence_estimate(ctx, table, graph, NULL, 1, &dependence) != SR_OK)
      stop(ctx);
    sr_graph_free(&graph);
    const sr_dependence_view *view = sr_dependence_get(dependence);
    count(&c, "trusted", &view->tmix);
    for (int32_t s = 0; s < view->scale_count; s++)
      if (strcmp(view->scales[s].method, "labels") != 0 &&
          strcmp(view->scales[s].method, "residuals") != 0)
        count(&c, view->scales[s].method, view->scales + s);
    sr_dependence_free(&dependence);
    sr_table_free(&table);
  }
  for (int i = 0; i < c.tally_count; i++) {
    const tally *t = c.tallies + i;
    double mean = t->sum / t->runs, spread = t->square / t->runs - mean * mean;
    printf(
        "{\"bench\": \"coverage\", \"family\": \"%s\", \"n\": %lld, \"d\": %d, "
        "\"parameter\": %g, \"truth\": %.6g, \"method\": \"%s\", \"runs\": %d, "
        "\"mean_over_truth\": %.4f, \"sd_over_truth\": %.4f, \"coverage\": %.3f, "
        "\"width_over_truth\": %.3f}\n",
        c.family, (long long)c.n, c.d, c.parameter,
        strcmp(t->method, "range") == 0 ? c.parameter : c.truth, t->method, t->runs, mean,
        sqrt(spread > 0.0 ? spread : 0.0), (double)t->covered / t->runs, t->width / t->runs);
  }
  fflush(stdout);
  sr_context_free(&ctx);
}

static void run_family(const char *family, int seeds) {
  static const int32_t dimensions[] = {1, 2, 5, 10, 20};
  static const double times[] = {1.0, 10.0, 50.0, 200.0};
  static const double ranges[] = {1.0, 3.0, 10.0};
  if (strcmp(family, "ar1") == 0)
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 4; j++)
        run_cell((cell){.family = family,
                        .n = 50000,
                        .d = dimensions[i],
                        .parameter = times[j],
                        .truth = times[j],
                        .graph = "time"},
                 seeds);
  if (strcmp(family, "slow") == 0)
    for (int i = 2; i < 5; i += 2)
      run_cell((cell){.family = family,
                      .n = 50000,
                      .d = dimensions[i],
                      .parameter = 50.0,
                      .truth = 50.0,
                      .graph = "time"},
               seeds);
  if (strcmp(family, "grid") == 0)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        run_cell((cell){.family = family,
                        .n = 50176,
                        .d = dimensions[i],
                        .parameter = ranges[j],
                        .truth = lattice_nodes(50176, ranges[j]),
                        .graph = "grid"},
                 seeds);
  if (strcmp(family, "chain") == 0)
    for (int i = 0; i < 3; i++) {
      double p = i == 0 ? 0.4 : i == 1 ? 0.05 : 0.01;
      run_cell((cell){.family = family,
                      .n = 50000,
                      .d = 1,
                      .parameter = p,
                      .truth = 1.0 / (1.5 * p),
                      .graph = "time"},
               seeds);
    }
  if (strcmp(family, "ring") == 0)
    for (int states = 8; states <= 32; states *= 2)
      run_cell((cell){.family = family,
                      .n = 50000,
                      .d = 2,
                      .parameter = states,
                      .truth = 2.0 / (1.0 - cos(2.0 * 3.14159265358979323846 / states)),
                      .graph = "time"},
               seeds);
}

int main(int count, char **arguments) {
  static const char *const families[] = {"ar1", "slow", "grid", "chain", "ring"};
  int seeds = count > 1 ? atoi(arguments[1]) : 50;
  for (int i = 0; i < 5; i++)
    if (count < 3 || strcmp(arguments[2], families[i]) == 0) run_family(families[i], seeds);
  return 0;
}
