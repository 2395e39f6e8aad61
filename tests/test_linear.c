/* Ridge from Gram matrices against explicit refits without the rows in question. */
#include <math.h>

#include "core/isa.h"
#include "core/random.h"
#include "harness.h"
#include "learner/linear/linear_classes.h"
#include "learner/linear/scores_kernel.h"

/* ---- problems ------------------------------------------------------------------------------ */

/* A matrix as a maker: x[row * features + feature]. */
typedef struct test_matrix {
  int64_t rows, features;
  float *x;
  double *target, *weight;
  int32_t targets;
  int64_t tile_begin[64];
  sr__feature_maker maker;
  int made; /* tiles */
} test_matrix;

static sr_status make_tile(sr_context *ctx, const void *data, int64_t tile, sr__made_rows rows) {
  test_matrix *m = (test_matrix *)(uintptr_t)data;
  int64_t first = rows.first, count = rows.count, stride = rows.stride;
  (void)ctx;
  assert_true(first % 8 == 0 && stride >= (count + 7) / 8 * 8 && first + count <= m->rows);
  m->made++;
  for (int64_t f = m->tile_begin[tile]; f < m->tile_begin[tile + 1]; f++)
    for (int64_t i = 0; i < (count + 7) / 8 * 8; i++)
      rows.out[(f - m->tile_begin[tile]) * stride + i] =
          i < count ? m->x[(first + i) * m->features + f] : 1e9f; /* lanes without a row */
  return SR_OK;
}

static void free_matrix(test_matrix *m) {
  free(m->x);
  free(m->target);
  free(m->weight);
}

static test_matrix new_matrix(int64_t rows, int64_t features, int32_t targets, bool weighted,
                              uint64_t seed) {
  test_matrix m = {.rows = rows, .features = features, .targets = targets};
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 0, 0);
  m.x = malloc((size_t)(rows * features) * sizeof *m.x);
  m.target = malloc((size_t)(rows * targets) * sizeof *m.target);
  m.weight = weighted ? malloc((size_t)rows * sizeof *m.weight) : NULL;
  for (int64_t i = 0; i < rows; i++) {
    if (weighted) m.weight[i] = 1.0 + (double)sr__random_below(&random, 3);
    double hidden[3] = {sr__random_normal(&random), sr__random_normal(&random),
                        sr__random_normal(&random)};
    for (int64_t f = 0; f < features; f++)
      m.x[i * features + f] = (float)(5.0 + (double)(f % 4) * hidden[f % 3] +
                                      (0.5 + (double)(f % 5)) * sr__random_normal(&random));
    if (features > 4) m.x[i * features + 4] = 2.5f; /* a constant one */
    for (int32_t t = 0; t < targets; t++)
      m.target[t * rows + i] = hidden[t % 3] + 0.7 * sr__random_normal(&random) > 0.2 ? 1.0 : -1.0;
  }
  int64_t tiles = 0;
  for (int64_t f = 0; f < features; f += 1 + features / 7) m.tile_begin[tiles++] = f;
  m.tile_begin[tiles] = features;
  m.maker =
      (sr__feature_maker){.rows = rows, .features = features, .tiles = tiles, .make = make_tile};
  return m;
}

static sr__linear_problem problem_of(test_matrix *m) {
  m->maker.tile_begin = m->tile_begin;
  m->maker.data = m;
  return (sr__linear_problem){.maker = &m->maker,
                              .target = m->target,
                              .targets = m->targets,
                              .weight = m->weight,
                              .most_penalty = 1e6,
                              .memory = (int64_t)1 << 30};
}

/* ---- the slow way -------------------------------------------------------------------------- */

/* Solves a symmetric positive definite system of doubles in place, by Gauss. */
static void solve_plainly(int64_t n, double *a, double *b) {
  for (int64_t k = 0; k < n; k++) {
    for (int64_t i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (int64_t k = n - 1; k >= 0; k--) {
    for (int64_t j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
}

/* Deviation of each feature over all rows. */
static void deviations(const test_matrix *m, double *scale) {
  for (int64_t f = 0; f < m->features; f++) {
    double total = 0.0, mean = 0.0, square = 0.0;
    for (int64_t i = 0; i < m->rows; i++) {
      double weight = m->weight ? m->weight[i] : 1.0;
      total += weight;
      mean += weight * (double)m->x[i * m->features + f];
    }
    mean /= total;
    for (int64_t i = 0; i < m->rows; i++) {
      double d = (double)m->x[i * m->features + f] - mean;
      square += (m->weight ? m->weight[i] : 1.0) * d * d;
    }
    scale[f] = square > 1e-9 ? 1.0 / sqrt(square / total) : 0.0;
  }
}

/* Ridge with a free intercept on the rows that are not dropped, on features divided by the
 * deviation over all rows: the normal equations with the intercept as one more unknown. Gives the
 * scores of all rows. */
static void refit(const test_matrix *m, const double *scale, int32_t target, double penalty,
                  const uint8_t *drop, double *score) {
  int64_t p = m->features, q = p + 1;
  double *a = calloc((size_t)(q * q), sizeof *a), *b = calloc((size_t)q, sizeof *b);
  double *z = malloc((size_t)q * sizeof *z);
  for (int64_t i = 0; i < m->rows; i++) {
    if (drop && drop[i]) continue;
    double weight = m->weight ? m->weight[i] : 1.0;
    for (int64_t f = 0; f < p; f++) z[f] = ((double)m->x[i * p + f] - 5.0) * scale[f];
    z[p] = 1.0;
    for (int64_t j = 0; j < q; j++) {
      b[j] += weight * z[j] * m->target[target * m->rows + i];
      for (int64_t k = 0; k < q; k++) a[j * q + k] += weight * z[j] * z[k];
    }
  }
  for (int64_t f = 0; f < p; f++) a[f * q + f] += penalty;
  solve_plainly(q, a, b);
  for (int64_t i = 0; i < m->rows; i++) {
    score[i] = b[p];
    for (int64_t f = 0; f < p; f++) score[i] += b[f] * ((double)m->x[i * p + f] - 5.0) * scale[f];
  }
  free(a);
  free(b);
  free(z);
}

/* Left-out scores by refits; rows that are not judged NaN. */
static void refit_sets(const test_matrix *m, const sr__left_out *out, double penalty,
                       double *score) {
  double *scale = malloc((size_t)m->features * sizeof *scale);
  double *one = malloc((size_t)m->rows * sizeof *one);
  uint8_t *drop = calloc((size_t)m->rows, 1);
  int64_t sets = out ? out->sets : m->rows;
  deviations(m, scale);
  for (int64_t i = 0; i < m->rows * m->targets; i++) score[i] = NAN;
  for (int64_t s = 0; s < sets; s++) {
    int64_t begin = out ? out->begin[s] : 0, end = out ? out->begin[s + 1] : 0;
    for (int64_t i = begin; i < end; i++) drop[out->row[i]] = 1;
    if (!out) drop[s] = 1;
    for (int32_t t = 0; t < m->targets; t++) {
      refit(m, scale, t, penalty, drop, one);
      if (!out) score[t * m->rows + s] = one[s];
      for (int64_t i = begin; out && i < begin + out->judged[s]; i++)
        score[t * m->rows + out->row[i]] = one[out->row[i]];
    }
    memset(drop, 0, (size_t)m->rows);
  }
  free(scale);
  free(one);
  free(drop);
}

/* ---- left-out scores and coefficients -------------------------------------------------------- */

static void check_problem(test_matrix *m, const sr__left_out *out, double tolerance,
                          int64_t memory) {
  sr_context *ctx = test_context(1);
  sr__linear_problem problem = problem_of(m);
  sr__linear_model *model = NULL;
  sr__linear_report report;
  int64_t n = m->rows, stride = (n + 7) / 8 * 8;
  double *score = malloc((size_t)(n * m->targets) * sizeof *score);
  double *slow = malloc((size_t)(n * m->targets) * sizeof *slow);
  double *scale = malloc((size_t)m->features * sizeof *scale);
  double *fitted = malloc((size_t)(stride * m->targets) * sizeof *fitted);
  problem.left_out = out;
  problem.memory = memory;
  assert_ok(ctx, sr__linear_fit(ctx, &problem, score, &report, &model));
  assert_int_equal(report.held, memory > 0);
  refit_sets(m, out, model->penalty, slow);
  double square = 0.0, weight = 0.0;
  for (int64_t i = 0; i < n * m->targets; i++) {
    assert_true(isnan(score[i]) == isnan(slow[i]));
    if (isnan(score[i])) continue;
    double w = m->weight ? m->weight[i % n] : 1.0, e = m->target[i] - slow[i];
    assert_close(score[i], slow[i], 1e-8);
    square += w * e * e;
    weight += w;
  }
  if (n <= m->features) { /* the error is that of the left-out rows, and the walk went down to it */
    assert_close(report.error, square / weight, 10.0 * tolerance);
    for (int i = 0; i < SR__PENALTIES; i++) assert_false(report.curve[i] < report.error);
  }
  assert_ok(ctx, sr__linear_predict(ctx, model, &m->maker, fitted, stride));
  deviations(m, scale);
  for (int32_t t = 0; t < m->targets; t++) {
    refit(m, scale, t, model->penalty, NULL, slow);
    for (int64_t i = 0; i < n; i++) assert_close(fitted[t * stride + i], slow[i], tolerance);
  }
  free(score);
  free(slow);
  free(scale);
  free(fitted);
  sr__linear_free(model);
  sr_context_free(&ctx);
}

static void test_leave_one_out(void **state) {
  (void)state;
  struct {
    int64_t rows, features;
    int32_t targets;
    bool weighted;
  } cases[] = {{13, 40, 1, false}, {40, 90, 3, true},  {30, 30, 1, false},
               {31, 30, 2, false}, {150, 12, 1, true}, {700, 5, 1, false}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int held = 0; held < 2; held++) {
      test_matrix m =
          new_matrix(cases[c].rows, cases[c].features, cases[c].targets, cases[c].weighted, c + 1);
      check_problem(&m, NULL, 2e-6, held ? (int64_t)1 << 30 : 0);
      free_matrix(&m);
    }
}

/* Sets of neighbors with a buffer of two rows on either side, the last rows in no set. */
typedef struct test_sets {
  int64_t begin[64], judged[64];
  int32_t row[4096];
  sr__left_out out;
} test_sets;

static void make_sets(test_sets *sets, int64_t rows, int64_t size) {
  int64_t s = 0, at = 0;
  for (int64_t first = 0; first + size <= rows && s < 60; first += size, s++) {
    sets->begin[s] = at;
    sets->judged[s] = size;
    for (int64_t i = first; i < first + size; i++) sets->row[at++] = (int32_t)i;
    for (int64_t i = first - 2; i < first; i++)
      if (i >= 0) sets->row[at++] = (int32_t)i;
    for (int64_t i = first + size; i < first + size + 2 && i < rows; i++)
      sets->row[at++] = (int32_t)i;
  }
  sets->begin[s] = at;
  sets->out = (sr__left_out){s, sets->begin, sets->judged, sets->row};
}

static void test_leave_part_out(void **state) {
  (void)state;
  struct {
    int64_t rows, features, size;
    bool weighted;
  } cases[] = {{40, 90, 7, true},   {41, 60, 10, false}, {70, 71, 23, false},
               {120, 40, 11, true}, {300, 12, 50, true}, {1500, 6, 300, false}};
  test_sets *sets = malloc(sizeof *sets);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int held = 0; held < 2; held++) {
      test_matrix m = new_matrix(cases[c].rows, cases[c].features, 2, cases[c].weighted, 20 + c);
      make_sets(sets, cases[c].rows, cases[c].size);
      check_problem(&m, &sets->out, 2e-6, held ? (int64_t)1 << 30 : 0);
      free_matrix(&m);
    }
  free(sets);
}

/* Products in floats where the problem is large: held or made twice, the same bytes. */
static void test_large(void **state) {
  (void)state;
  enum { ROWS = 260, FEATURES = 17000 };
  sr_context *ctx = test_context(1);
  test_matrix m = new_matrix(ROWS, FEATURES, 1, true, 5);
  sr__linear_problem problem = problem_of(&m);
  sr__linear_model *held = NULL, *streamed = NULL;
  sr__linear_report report;
  double *score = malloc(ROWS * sizeof *score), *again = malloc(ROWS * sizeof *again);
  assert_true((int64_t)ROWS * FEATURES > 1 << 22);
  assert_ok(ctx, sr__linear_fit(ctx, &problem, score, &report, &held));
  assert_true(report.held && report.bytes < (int64_t)1 << 26);
  assert_int_equal(m.made, m.maker.tiles);
  problem.memory = 0;
  m.made = 0;
  assert_ok(ctx, sr__linear_fit(ctx, &problem, again, &report, &streamed));
  assert_false(report.held);
  assert_int_equal(m.made, 2 * m.maker.tiles);
  assert_memory_equal(score, again, ROWS * sizeof *score);
  assert_memory_equal(held->coefficient, streamed->coefficient, FEATURES * sizeof(float));
  sr__linear_free(held);
  sr__linear_free(streamed);
  free(score);
  free(again);
  free_matrix(&m);
  sr_context_free(&ctx);
}

/* With small penalties the left-out error has a closed form that loses its digits; ours must not.
 */
static void test_small_penalty(void **state) {
  (void)state;
  enum { ROWS = 24, FEATURES = 400 };
  sr_context *ctx = test_context(1);
  test_matrix m = new_matrix(ROWS, FEATURES, 1, false, 8);
  /* Targets that a line explains: the smallest penalty is the best. */
  for (int64_t i = 0; i < ROWS; i++) {
    for (int64_t f = 0; f < FEATURES; f++)
      m.x[i * FEATURES + f] = (float)(i % 7 + (double)(f % 3) * (i % 5)) + (float)f * 0.01f;
    m.target[i] = 2.0 * (i % 7) - (i % 5);
  }
  sr__linear_problem problem = problem_of(&m);
  sr__linear_model *model = NULL;
  double score[ROWS];
  assert_ok(ctx, sr__linear_fit(ctx, &problem, score, NULL, &model));
  assert_close(model->penalty, 1e-3, 1e-9);
  for (int64_t i = 0; i < ROWS; i++) assert_close(score[i], m.target[i], 1e-4);
  sr__linear_free(model);
  free_matrix(&m);
  sr_context_free(&ctx);
}

/* The walk stops at the limit that it is given. */
static void test_most_penalty(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  test_matrix m = new_matrix(60, 80, 1, false, 31);
  /* Pairs of equal rows with opposite targets: the better the fit, the worse a left-out row fares.
   */
  for (int64_t i = 0; i < 60; i++) {
    memcpy(m.x + i * 80, m.x + (i - i % 2) * 80, 80 * sizeof *m.x);
    m.target[i] = i % 2 ? 1.0 : -1.0;
  }
  sr__linear_problem problem = problem_of(&m);
  double most[] = {10.0, 1e3, 1e6, 1e9};
  double chosen[] = {10.0, 1e3, pow(10.0, -3.0 + 6.0 * 13 / 9), 1e9};
  for (int i = 0; i < 4; i++) {
    sr__linear_model *model = NULL;
    problem.most_penalty = most[i];
    assert_ok(ctx, sr__linear_fit(ctx, &problem, NULL, NULL, &model));
    assert_close(model->penalty, chosen[i], 1e-6);
    sr__linear_free(model);
  }
  sr__linear_model *none = NULL;
  problem.most_penalty = 1.0;
  assert_int_equal(sr__linear_fit(ctx, &problem, NULL, NULL, &none), SR_ERROR_ARGUMENT);
  free_matrix(&m);
  sr_context_free(&ctx);
}

/* ---- scores -------------------------------------------------------------------------------- */

static const sr__scores_kernel *level_table(int level) {
#if defined(__x86_64__)
  const sr__scores_kernel *table[] = {&sr__scores_kernel_base, &sr__scores_kernel_v3,
                                      &sr__scores_kernel_v4};
  return table[level];
#else
  (void)level;
  return &sr__scores_kernel_base;
#endif
}

/* Any level, any tiling, one row or many: the same bytes. */
static void test_scores(void **state) {
  (void)state;
  enum { ROWS = 24, FEATURES = 333 };
  for (int32_t targets = 1; targets <= 9; targets++) {
    test_matrix m = new_matrix(ROWS, FEATURES, 1, false, 3);
    float *c = malloc((size_t)(FEATURES * targets) * sizeof *c), *x = malloc(ROWS * FEATURES * 4);
    double *intercept = malloc((size_t)targets * sizeof *intercept);
    double *slow = malloc((size_t)(ROWS * targets) * sizeof *slow),
           *score = malloc((size_t)(ROWS * targets) * 8);
    for (int64_t i = 0; i < FEATURES * targets; i++) c[i] = sinf((float)i);
    for (int32_t t = 0; t < targets; t++) intercept[t] = 0.1 * t;
    for (int64_t i = 0; i < ROWS; i++)
      for (int64_t f = 0; f < FEATURES; f++) x[f * ROWS + i] = m.x[i * FEATURES + f];
    sr__linear_model model = {.features = FEATURES,
                              .targets = targets,
                              .coefficient = c,
                              .intercept = intercept};
    for (int32_t t = 0; t < targets; t++)
      for (int64_t i = 0; i < ROWS; i++) {
        slow[t * ROWS + i] = intercept[t];
        for (int64_t f = 0; f < FEATURES; f++)
          slow[t * ROWS + i] += (double)c[f * targets + t] * (double)x[f * ROWS + i];
      }
    for (int level = 0; level <= (int)sr__isa(); level++) {
      for (int32_t t = 0; t < targets; t++)
        for (int64_t i = 0; i < ROWS; i++) score[t * ROWS + i] = intercept[t];
      level_table(level)->add(100, targets, c, x, ROWS, ROWS, score, ROWS);
      level_table(level)->add(FEATURES - 100, targets, c + 100 * targets, x + 100 * ROWS, ROWS,
                              ROWS, score, ROWS);
      assert_memory_equal(score, slow, (size_t)(ROWS * targets) * sizeof *score);
    }
    sr__linear_score(&model, m.x, score);
    for (int32_t t = 0; t < targets; t++) assert_true(score[t] == slow[t * ROWS]);
    free(c);
    free(x);
    free(intercept);
    free(slow);
    free(score);
    free_matrix(&m);
  }
}

/* ---- classes -------------------------------------------------------------------------------- */

/* `classes` clouds of rows. */
static test_matrix clouds(int64_t rows, int64_t features, int32_t classes, double spread,
                          uint64_t seed, int32_t *label) {
  test_matrix m = new_matrix(rows, features, 1, false, seed);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_TEST, 1, 0);
  for (int64_t i = 0; i < rows; i++) {
    label[i] = (int32_t)(i % classes);
    for (int64_t f = 0; f < features; f++)
      m.x[i * features + f] =
          (float)((f % classes == label[i]) + spread * sr__random_normal(&random));
  }
  problem_of(&m);
  return m;
}

/* Left-out rows tell accuracy and calibration on new rows. */
static void test_classes(void **state) {
  (void)state;
  enum { ROWS = 240, NEW = 4000, FEATURES = 260 };
  sr_context *ctx = test_context(1);
  int32_t label[NEW], vote[NEW];
  for (int32_t classes = 2; classes <= 3; classes++) {
    test_matrix m = clouds(ROWS, FEATURES, classes, 5.0, 1, label);
    m.maker.tile_begin = m.tile_begin;
    m.maker.data = &m;
    sr__linear_classes *model = NULL;
    sr__classes_report report;
    float *proba = malloc((size_t)(NEW * classes) * sizeof *proba);
    sr__classes_problem problem = {.maker = &m.maker,
                                   .label = label,
                                   .classes = classes,
                                   .options = {.memory = (int64_t)1 << 30}};
    assert_ok(ctx, sr__linear_classes_fit(ctx, &problem, proba, &report, &model));
    assert_int_equal(model->model->targets, classes == 2 ? 1 : 3);
    assert_int_equal(report.judged, ROWS);
    double expected = (double)report.wrong / ROWS;
    free_matrix(&m);
    m = clouds(NEW, FEATURES, classes, 5.0, 2, label);
    m.maker.tile_begin = m.tile_begin;
    m.maker.data = &m;
    assert_ok(ctx, sr__linear_classes_predict(ctx, model, &m.maker, NULL, vote, proba));
    double wrong = 0.0, sure = 0.0;
    for (int64_t i = 0; i < NEW; i++) {
      double sum = 0.0, top = 0.0;
      for (int32_t c = 0; c < classes; c++) {
        sum += (double)proba[i * classes + c];
        top = fmax(top, (double)proba[i * classes + c]);
      }
      assert_close(sum, 1.0, 1e-6);
      assert_true((double)proba[i * classes + vote[i]] == top);
      wrong += vote[i] != label[i];
      sure += top;
    }
    assert_true(wrong / NEW > 0.1 && wrong / NEW < 0.4); /* neither trivial nor hopeless */
    assert_close(expected, wrong / NEW, 0.1);
    assert_close(sure / NEW, 1.0 - wrong / NEW, 0.06);
    sr__linear_classes_free(model);
    free(proba);
    free_matrix(&m);
  }
  sr_context_free(&ctx);
}

/* A class with two rows keeps the walk at 10^3; classes that training did not hold are never named;
 * one class needs no model. */
static void test_few_cases(void **state) {
  (void)state;
  enum { ROWS = 40, FEATURES = 60 };
  sr_context *ctx = test_context(1);
  int32_t label[ROWS], vote[ROWS];
  float proba[ROWS * 6];
  test_matrix m = clouds(ROWS, FEATURES, 2, 50.0, 6, label);
  m.maker.tile_begin = m.tile_begin;
  m.maker.data = &m;
  sr__classes_problem problem = {.maker = &m.maker, .label = label, .classes = 6};
  for (int i = 1; i < ROWS; i += 2) /* equal rows of different classes ask for a large penalty */
    memcpy(m.x + i * FEATURES, m.x + (i - 1) * FEATURES, FEATURES * sizeof *m.x);
  for (int few = 0; few < 2; few++) {
    sr__linear_classes *model = NULL;
    for (int i = 0; i < ROWS; i++) label[i] = i < 3 - few ? 4 : i % 2 ? 1 : 3;
    assert_ok(ctx, sr__linear_classes_fit(ctx, &problem, NULL, NULL, &model));
    assert_int_equal(model->known, 3);
    assert_true(few ? model->model->penalty <= 1.0001e3 : model->model->penalty > 1e5);
    assert_ok(ctx, sr__linear_classes_predict(ctx, model, &m.maker, NULL, vote, proba));
    for (int i = 0; i < ROWS; i++) {
      assert_true(vote[i] == 1 || vote[i] == 3 || vote[i] == 4);
      assert_true(proba[i * 6] == 0.0f && proba[i * 6 + 2] == 0.0f && proba[i * 6 + 5] == 0.0f);
    }
    sr__linear_classes_free(model);
  }
  for (int i = 0; i < ROWS; i++) label[i] = 2;
  sr__linear_classes *model = NULL;
  assert_ok(ctx, sr__linear_classes_fit(ctx, &problem, NULL, NULL, &model));
  assert_null(model->model);
  assert_ok(ctx, sr__linear_classes_predict(ctx, model, &m.maker, NULL, vote, proba));
  for (int i = 0; i < ROWS; i++) assert_true(vote[i] == 2 && proba[i * 6 + 2] == 1.0f);
  sr__linear_classes_free(model);
  free_matrix(&m);
  sr_context_free(&ctx);
}

static void test_store(void **state) {
  (void)state;
  enum { ROWS = 20, FEATURES = 30 };
  sr_context *ctx = test_context(1);
  int32_t label[ROWS];
  test_matrix m = clouds(ROWS, FEATURES, 3, 1.0, 6, label);
  m.maker.tile_begin = m.tile_begin;
  m.maker.data = &m;
  sr__classes_problem problem = {.maker = &m.maker, .label = label, .classes = 3};
  sr__linear_classes *model = NULL, *loaded = NULL;
  sr__bytes bytes = {.ctx = ctx}, again = {.ctx = ctx};
  assert_ok(ctx, sr__linear_classes_fit(ctx, &problem, NULL, NULL, &model));
  sr__linear_classes_save(model, &bytes);
  sr__byte_reader reader = {.ctx = ctx, .data = bytes.data, .size = bytes.size, .what = "x"};
  assert_ok(ctx, sr__linear_classes_load(&reader, 3, &loaded));
  sr__linear_classes_save(loaded, &again);
  assert_int_equal(bytes.size, again.size);
  assert_memory_equal(bytes.data, again.data, (size_t)bytes.size);
  sr__linear_classes_free(loaded);
  for (int64_t size = 0; size < bytes.size; size++) {
    sr__byte_reader cut = {.ctx = ctx, .data = bytes.data, .size = size, .what = "x"};
    assert_int_equal(sr__linear_classes_load(&cut, 3, &loaded), SR_ERROR_FORMAT);
    assert_null(loaded);
  }
  for (int64_t i = 0; i < bytes.size; i++) {
    uint8_t kept = bytes.data[i];
    bytes.data[i] ^= (uint8_t)(1 << (i % 8));
    sr__byte_reader damaged = {.ctx = ctx, .data = bytes.data, .size = bytes.size, .what = "x"};
    if (sr__linear_classes_load(&damaged, 3, &loaded) == SR_OK) sr__linear_classes_free(loaded);
    bytes.data[i] = kept;
  }
  sr__bytes_free(&bytes);
  sr__bytes_free(&again);
  sr__linear_classes_free(model);
  free_matrix(&m);
  sr_context_free(&ctx);
}

static sr_status fit_both(sr_context *ctx, void *data) {
  test_matrix *m = data; /* 30 rows, and the same with few features */
  sr_status status = SR_OK;
  int32_t label[30], vote[30];
  test_sets *sets = malloc(sizeof *sets);
  sr__linear_classes *model = NULL;
  make_sets(sets, 30, 6);
  for (int i = 0; i < 30; i++) label[i] = i % 3;
  for (int k = 0; k < 4 && status == SR_OK; k++) {
    sr__classes_problem problem = {.maker = &m[k % 2].maker,
                                   .label = label,
                                   .classes = 3,
                                   .left_out = k < 2 ? NULL : &sets->out,
                                   .options = {.memory = (int64_t)1 << 30}};
    status = sr__linear_classes_fit(ctx, &problem, NULL, NULL, &model);
    if (status == SR_OK)
      status = sr__linear_classes_predict(ctx, model, &m[k % 2].maker, NULL, vote, NULL);
    sr__linear_classes_free(model);
    model = NULL;
  }
  free(sets);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  test_matrix m[2] = {new_matrix(30, 40, 1, false, 1), new_matrix(30, 10, 1, false, 2)};
  problem_of(&m[0]);
  problem_of(&m[1]);
  test_every_allocation(fit_both, m);
  free_matrix(&m[0]);
  free_matrix(&m[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_leave_one_out), cmocka_unit_test(test_leave_part_out),
      cmocka_unit_test(test_large),         cmocka_unit_test(test_small_penalty),
      cmocka_unit_test(test_most_penalty),  cmocka_unit_test(test_scores),
      cmocka_unit_test(test_classes),       cmocka_unit_test(test_few_cases),
      cmocka_unit_test(test_store),         cmocka_unit_test(test_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
