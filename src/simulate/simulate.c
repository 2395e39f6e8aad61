#include "simulate.h"

#include <math.h>

sr__random sr__draw_stream(const sr__draw *draw) {
  sr__random random;
  sr__random_init(&random, draw->seed, draw->purpose, draw->replicate, draw->unit);
  return random;
}

sr_status sr__fill_ar1(sr_context *ctx, sr__random *random, double lambda, int64_t n, double *out) {
  sr_status status = SR_OK;
  double step = sqrt((1.0 - lambda) * (1.0 + lambda));
  SR_TRY(sr__check_interrupt(ctx));
  out[0] = sr__random_normal(random);
  for (int64_t t = 1; t < n; t++) {
    if (t % SR__SIMULATED_AT_ONCE == 0) SR_TRY(sr__check_interrupt(ctx));
    out[t] = lambda * out[t - 1] + step * sr__random_normal(random);
  }
cleanup:
  return status;
}

/* A witness as it was named. */
typedef struct named_witness {
  sr__configuration configuration;
  const sr__simulator *simulator;
  const sr__witness *options;
  uint64_t seed, replicate;
} named_witness;

static sr_status find_witness(sr_context *ctx, const char *text, uint64_t seed, uint64_t replicate,
                              named_witness *w) {
  sr_status status = SR_OK;
  *w = (named_witness){.seed = seed, .replicate = replicate};
  SR_TRY(sr__configure(ctx, "simulator", sr_simulator_method, text, &w->configuration));
  w->simulator = (const sr__simulator *)w->configuration.method; /* `about` comes first */
  w->options = w->configuration.options;
cleanup:
  return status;
}

static void forget_witness(sr_context *ctx, named_witness *w) {
  sr_allocator allocator = sr__allocator(ctx);
  sr__configuration_free(&allocator, &w->configuration);
}

/* Coordinate j of the unit vector v: a sign over sqrt(d). It depends on the seed alone. */
static double direction(const named_witness *w, int64_t j) {
  sr__random random;
  sr__random_init(&random, w->seed, SR_PURPOSE_SIMULATE_WITNESS, 0, (uint64_t)j);
  double sign = sr__random_bits(&random) >> 63 ? 1.0 : -1.0;
  return sign / sqrt((double)w->options->d);
}

static double drift_of(const named_witness *w) {
  return w->simulator->drift ? w->simulator->drift(w->options) : 0.0;
}

/* ---- the Bayes risk ----------------------------------------------------------------------- */

/* E min(eta, 1 - eta) with <v, X> ~ N(mean, 1) and eta = Phi(<v, X> / sd): Simpson's rule on the
 * law of X, twelve standard deviations each way. */
static double bayes_risk_at(double mean, double sd) {
  if (sd == 0.0) return 0.0;
  enum { STEPS = 4800 };
  double sum = 0.0, h = 24.0 / STEPS;
  for (int i = 0; i <= STEPS; i++) {
    double z = -12.0 + h * i;
    double density = exp(-0.5 * z * z) / sqrt(2.0 * 3.14159265358979323846);
    double error = 0.5 * erfc(fabs(mean + z) / (sd * sqrt(2.0)));
    sum += density * error * (i == 0 || i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0);
  }
  return sum * h / 3.0;
}

/* <v, X_t> has mean delta plus, under drift, (drift t / n) sum_j v_j; the risk is the mean over t.
 */
static double bayes_risk_of(const named_witness *w) {
  double drift = drift_of(w), along = 0.0, sum = 0.0;
  if (!w->simulator->drift) return bayes_risk_at(w->options->delta, w->options->noise);
  for (int64_t j = 0; j < w->options->d; j++) along += direction(w, j);
  enum { POINTS = 200 };
  for (int i = 0; i < POINTS; i++)
    sum += bayes_risk_at(w->options->delta + drift * along * (i + 0.5) / POINTS, w->options->noise);
  return sum / POINTS;
}

/* ---- rows --------------------------------------------------------------------------------- */

typedef struct simulation {
  const named_witness *witness;
  float *x;
  double *score;   /* <v, X> + noise; columns are added in order */
  double *scratch; /* one column per thread */
} simulation;

static sr_status simulate_feature(sr_context *ctx, void *data, int64_t j, int slot) {
  sr_status status = SR_OK;
  simulation *s = data;
  const named_witness *w = s->witness;
  int64_t n = w->options->n;
  double *column = s->scratch + (size_t)slot * (size_t)n;
  const sr__draw draw = {w->options, w->seed, w->replicate, SR_PURPOSE_SIMULATE_FEATURE,
                         (uint64_t)j};
  SR_TRY(w->simulator->fill(ctx, &draw, column));
  double mean = w->options->delta * direction(w, j), slope = drift_of(w) / (double)n;
  float *x = s->x + (size_t)j * (size_t)n;
  for (int64_t t = 0; t < n; t++) x[t] = (float)(column[t] + mean + slope * (double)t);
cleanup:
  return status;
}

static sr_status fill_noise(sr_context *ctx, simulation *s) {
  sr_status status = SR_OK;
  const named_witness *w = s->witness;
  const sr__draw draw = {w->options, w->seed, w->replicate, SR_PURPOSE_SIMULATE_NOISE, 0};
  if (w->simulator->noise_is_dependent || w->options->noise_kind == SR__NOISE_LIKE_FEATURES) {
    SR_TRY(w->simulator->fill(ctx, &draw, s->score));
  } else {
    sr__random random = sr__draw_stream(&draw);
    SR_TRY(sr__fill_ar1(ctx, &random, 0.0, w->options->n, s->score));
  }
  for (int64_t t = 0; t < w->options->n; t++) s->score[t] *= w->options->noise;
cleanup:
  return status;
}

/* Labels follow the stored float features, so that a table read back has the same Bayes rule. */
static sr_status add_scores(sr_context *ctx, const simulation *s) {
  sr_status status = SR_OK;
  const named_witness *w = s->witness;
  for (int64_t j = 0; j < w->options->d; j++) {
    double v = direction(w, j);
    const float *x = s->x + (size_t)j * (size_t)w->options->n;
    SR_TRY(sr__check_interrupt(ctx));
    for (int64_t t = 0; t < w->options->n; t++) s->score[t] += v * (double)x[t];
  }
cleanup:
  return status;
}

static sr_status name_features(sr_context *ctx, sr__arena *arena, int64_t d, const char ***names) {
  enum { NAME_BYTES = 24 };
  const char **list = sr__arena_alloc(ctx, arena, d, sizeof *list);
  char *text = sr__arena_alloc(ctx, arena, d, NAME_BYTES);
  if (!list || !text) return SR_ERROR_MEMORY;
  for (int64_t j = 0; j < d; j++) {
    snprintf(text + NAME_BYTES * (size_t)j, NAME_BYTES, "x%lld", (long long)j + 1);
    list[j] = text + NAME_BYTES * (size_t)j;
  }
  *names = list;
  return SR_OK;
}

static void place_on_lattice(int64_t n, int64_t columns, int64_t *cell, double *coordinates,
                             sr_table_view *view) {
  for (int64_t i = 0; i < n; i++) {
    cell[i] = i;
    coordinates[i] = (double)(i % columns);
    coordinates[n + i] = (double)(i / columns);
  }
  view->grid_columns = columns;
  view->grid_rows = (n + columns - 1) / columns;
  view->cell = cell;
  view->coordinates = coordinates;
  view->coordinate_count = 2;
}

static sr_status simulate_table(sr_context *ctx, const named_witness *w, sr_table **table) {
  static const char *const class_names[] = {"-1", "1"};
  sr_status status = SR_OK;
  simulation s = {.witness = w};
  sr__arena arena = {0};
  int32_t *label = NULL;
  int64_t *cell = NULL, n = w->options->n, d = w->options->d;
  double *coordinates = NULL;
  const char **names = NULL;
  SR_NEW(ctx, s.x, n * d);
  SR_NEW(ctx, s.scratch, n * sr_context_threads(ctx));
  SR_NEW(ctx, s.score, n);
  SR_NEW(ctx, label, n);
  SR_TRY(name_features(ctx, &arena, d, &names));
  SR_TRY(sr__parallel_for(ctx, d, simulate_feature, &s));
  SR_TRY(fill_noise(ctx, &s));
  SR_TRY(add_scores(ctx, &s));
  for (int64_t t = 0; t < n; t++) label[t] = s.score[t] > 0.0;
  sr_table_view view = {.rows = n,
                        .features = d,
                        .x = s.x,
                        .feature_names = names,
                        .label = label,
                        .classes = {2, class_names},
                        .target_name = "y"};
  if (w->simulator->lattice_columns) {
    SR_NEW(ctx, cell, n);
    SR_NEW(ctx, coordinates, 2 * n);
    place_on_lattice(n, w->simulator->lattice_columns(w->options), cell, coordinates, &view);
  }
  SR_TRY(sr_table_new(ctx, &view, table));
cleanup:
  sr__arena_free(ctx, &arena);
  sr__free(ctx, s.x);
  sr__free(ctx, s.scratch);
  sr__free(ctx, s.score);
  sr__free(ctx, label);
  sr__free(ctx, cell);
  sr__free(ctx, coordinates);
  return status;
}

sr_status sr_simulate(sr_context *ctx, const char *text, uint64_t seed, uint64_t replicate,
                      sr_table **table, double *bayes_risk) {
  sr_status status = SR_OK;
  named_witness w;
  *table = NULL;
  SR_TRY(find_witness(ctx, text, seed, replicate, &w));
  SR_TRY(simulate_table(ctx, &w, table));
  if (bayes_risk) *bayes_risk = bayes_risk_of(&w);
cleanup:
  forget_witness(ctx, &w);
  return status;
}

sr_status sr_simulate_contrast(sr_context *ctx, const char *text, uint64_t seed,
                               const sr_table *table, double *contrast) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  named_witness w;
  SR_TRY(find_witness(ctx, text, seed, 0, &w));
  if (view->features != w.options->d)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the table has %lld features, the witness %lld",
                    (long long)view->features, (long long)w.options->d));
  memset(contrast, 0, (size_t)view->rows * sizeof *contrast);
  for (int64_t j = 0; j < view->features; j++) {
    double v = direction(&w, j);
    const float *x = view->x + (size_t)j * (size_t)view->rows;
    for (int64_t i = 0; i < view->rows; i++) contrast[i] += v * (double)x[i];
  }
  for (int64_t i = 0; i < view->rows; i++) {
    double score = contrast[i], sd = w.options->noise;
    contrast[i] = sd > 0.0 ? erf(score / (sd * sqrt(2.0))) : (score > 0.0) - (score < 0.0);
  }
cleanup:
  forget_witness(ctx, &w);
  return status;
}
