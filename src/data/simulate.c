/* The witnesses: X = mu + xi, Y = sign(<v, X> + noise), |v| = 1. */
#include <math.h>

#include "core/random.h"
#include "table.h"

void sr_simulate_options_init(sr_simulate_options *options) {
  *options = (sr_simulate_options){.kind = SR_SIMULATE_AR1,
                                   .n = 10000,
                                   .d = 5,
                                   .tmix = 10.0,
                                   .range = 10.0,
                                   .delta = 0.5,
                                   .drift = 1.0,
                                   .noise_sd = 1.0,
                                   .noise_kind = SR_NOISE_IID,
                                   .seed = 1};
}

static sr_status check_options(sr_context *ctx, const sr_simulate_options *o) {
  if (o->n < 1 || o->n > INT32_MAX)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "n is %lld, expected 1 to %d", (long long)o->n,
                    INT32_MAX);
  if (o->d < 1 || o->d > 100000)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "d is %d, expected 1 to 100000", o->d);
  if (!(o->tmix >= 1.0) || !isfinite(o->tmix))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "tmix is %g, expected a number from 1 on", o->tmix);
  if (!(o->range > 0.0) || !isfinite(o->range))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "range is %g, expected a number above 0", o->range);
  if (!(o->noise_sd >= 0.0) || !isfinite(o->noise_sd))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "noise is %g, expected a number from 0 on",
                    o->noise_sd);
  if (!isfinite(o->delta) || !isfinite(o->drift))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "delta and drift must be finite numbers");
  return SR_OK;
}

/* Coordinate j of the unit vector v: a sign over sqrt(d). It depends on the seed alone. */
static double direction(const sr_simulate_options *o, int32_t j) {
  sr__random random;
  sr__random_init(&random, o->seed, SR_PURPOSE_SIMULATE_WITNESS, 0, (uint64_t)j);
  double sign = sr__random_bits(&random) >> 63 ? 1.0 : -1.0;
  return sign / sqrt((double)o->d);
}

/* ---- the latent process ------------------------------------------------------------------- */

static void fill_ar1(sr__random *random, double lambda, int64_t n, double *out) {
  double step = sqrt((1.0 - lambda) * (1.0 + lambda));
  out[0] = sr__random_normal(random);
  for (int64_t t = 1; t < n; t++) out[t] = lambda * out[t - 1] + step * sr__random_normal(random);
}

/* A lattice with `columns` columns and ceil(n / columns) rows, the last one perhaps short. */
static int64_t lattice_columns(int64_t n) {
  int64_t side = (int64_t)ceil(sqrt((double)n));
  return side < 1 ? 1 : side;
}

/* Product of two AR(1): along each row, then across rows; correlation rho^(|dr| + |dc|). */
static void fill_field(sr__random *random, double rho, int64_t n, double *out) {
  int64_t columns = lattice_columns(n);
  double step = sqrt((1.0 - rho) * (1.0 + rho));
  for (int64_t start = 0; start < n; start += columns) {
    int64_t width = n - start < columns ? n - start : columns;
    fill_ar1(random, rho, width, out + start);
    if (start == 0) continue;
    for (int64_t c = 0; c < width; c++)
      out[start + c] = rho * out[start - columns + c] + step * out[start + c];
  }
}

static void fill_process(const sr_simulate_options *o, sr__purpose purpose, int32_t unit,
                         bool dependent, double *out) {
  sr__random random;
  sr__random_init(&random, o->seed, purpose, o->replicate, (uint64_t)unit);
  if (!dependent)
    fill_ar1(&random, 0.0, o->n, out);
  else if (o->kind == SR_SIMULATE_GRID)
    fill_field(&random, exp(-1.0 / o->range), o->n, out);
  else
    fill_ar1(&random, 1.0 - 1.0 / o->tmix, o->n, out);
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
static double bayes_risk_of(const sr_simulate_options *o) {
  if (o->kind != SR_SIMULATE_DRIFT) return bayes_risk_at(o->delta, o->noise_sd);
  double along = 0.0;
  for (int32_t j = 0; j < o->d; j++) along += direction(o, j);
  enum { POINTS = 200 };
  double sum = 0.0;
  for (int i = 0; i < POINTS; i++)
    sum += bayes_risk_at(o->delta + o->drift * along * (i + 0.5) / POINTS, o->noise_sd);
  return sum / POINTS;
}

/* ---- tables ------------------------------------------------------------------------------- */

typedef struct simulation {
  const sr_simulate_options *options;
  float *x;
  double *score;   /* <v, X> + noise; columns are added in order */
  double *scratch; /* one column a thread */
} simulation;

static sr_status simulate_feature(sr_context *ctx, void *data, int64_t j, int slot) {
  (void)ctx;
  simulation *s = data;
  const sr_simulate_options *o = s->options;
  double *column = s->scratch + (size_t)slot * (size_t)o->n;
  fill_process(o, SR_PURPOSE_SIMULATE_FEATURE, (int32_t)j, true, column);
  double mean = o->delta * direction(o, (int32_t)j);
  double slope = o->kind == SR_SIMULATE_DRIFT ? o->drift / (double)o->n : 0.0;
  float *x = s->x + (size_t)j * (size_t)o->n;
  for (int64_t t = 0; t < o->n; t++) x[t] = (float)(column[t] + mean + slope * (double)t);
  return SR_OK;
}

/* Labels follow the stored float features, so that a table read back has the same Bayes rule. */
static void add_scores(const simulation *s) {
  const sr_simulate_options *o = s->options;
  for (int32_t j = 0; j < o->d; j++) {
    double v = direction(o, j);
    const float *x = s->x + (size_t)j * (size_t)o->n;
    for (int64_t t = 0; t < o->n; t++) s->score[t] += v * (double)x[t];
  }
}

static sr_status name_features(sr_context *ctx, sr__arena *arena, int32_t d, const char ***names) {
  const char **list = sr__arena_alloc(ctx, arena, d, sizeof *list);
  char *text = sr__arena_alloc(ctx, arena, d, 16);
  if (!list || !text) return SR_ERROR_MEMORY;
  for (int32_t j = 0; j < d; j++) {
    snprintf(text + 16 * (size_t)j, 16, "x%d", j + 1);
    list[j] = text + 16 * (size_t)j;
  }
  *names = list;
  return SR_OK;
}

static sr_status add_lattice(sr_context *ctx, const sr_simulate_options *o, sr_table_view *view,
                             int64_t *cell, double *coordinates) {
  (void)ctx;
  int64_t columns = lattice_columns(o->n);
  for (int64_t i = 0; i < o->n; i++) {
    cell[i] = i;
    coordinates[i] = (double)(i % columns);
    coordinates[o->n + i] = (double)(i / columns);
  }
  view->grid_columns = columns;
  view->grid_rows = (o->n + columns - 1) / columns;
  view->cell = cell;
  view->coordinates = coordinates;
  view->coordinate_count = 2;
  return SR_OK;
}

sr_status sr_simulate(sr_context *ctx, const sr_simulate_options *options, sr_table **table,
                      double *bayes_risk) {
  static const char *const class_names[] = {"-1", "1"};
  sr_status status = SR_OK;
  simulation s = {.options = options};
  sr__arena arena = {0};
  int32_t *label = NULL;
  int64_t *cell = NULL;
  double *coordinates = NULL;
  const char **names = NULL;
  *table = NULL;
  SR_TRY(check_options(ctx, options));
  int64_t n = options->n;
  SR_NEW(ctx, s.x, n * options->d);
  SR_NEW(ctx, s.scratch, n * sr_context_threads(ctx));
  SR_NEW(ctx, s.score, n);
  SR_NEW(ctx, label, n);
  SR_TRY(name_features(ctx, &arena, options->d, &names));
  SR_TRY(sr__parallel_for(ctx, options->d, simulate_feature, &s));
  fill_process(options, SR_PURPOSE_SIMULATE_NOISE, 0, options->noise_kind == SR_NOISE_AR, s.score);
  for (int64_t t = 0; t < n; t++) s.score[t] *= options->noise_sd;
  add_scores(&s);
  for (int64_t t = 0; t < n; t++) label[t] = s.score[t] > 0.0;
  sr_table_view view = {.rows = n,
                        .features = options->d,
                        .x = s.x,
                        .feature_names = names,
                        .label = label,
                        .classes = {2, class_names},
                        .target_name = "y"};
  if (options->kind == SR_SIMULATE_GRID) {
    SR_NEW(ctx, cell, n);
    SR_NEW(ctx, coordinates, 2 * n);
    SR_TRY(add_lattice(ctx, options, &view, cell, coordinates));
  }
  SR_TRY(sr_table_new(ctx, &view, table));
  if (bayes_risk) *bayes_risk = bayes_risk_of(options);
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

sr_status sr_simulate_contrast(sr_context *ctx, const sr_simulate_options *options,
                               const sr_table *table, double *contrast) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  SR_TRY(check_options(ctx, options));
  if (view->features != options->d)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "the table has %lld features, the witness %d",
                    (long long)view->features, options->d));
  memset(contrast, 0, (size_t)view->rows * sizeof *contrast);
  for (int32_t j = 0; j < options->d; j++) {
    double v = direction(options, j);
    const float *x = view->x + (size_t)j * (size_t)view->rows;
    for (int64_t i = 0; i < view->rows; i++) contrast[i] += v * (double)x[i];
  }
  for (int64_t i = 0; i < view->rows; i++) {
    double score = contrast[i];
    contrast[i] = options->noise_sd > 0.0 ? erf(score / (options->noise_sd * sqrt(2.0)))
                                          : (score > 0.0) - (score < 0.0);
  }
cleanup:
  return status;
}
