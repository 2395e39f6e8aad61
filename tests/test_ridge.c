/* The ridge solver against scikit-learn and against refitting without each row. */
#include <math.h>

#include "learner/linear/linear.h"
#include "learner/ridge/ridge.h"
#include "learner_kit.h"

/* The made-up table of tests/data/ridge_reference.py. */
static float reference_value(int64_t i, int64_t j) {
  return (float)(((i + 3) * (j + 7) * 7919 + i * i * 31 + j * 104729) % 1009) / 64.0f;
}

typedef struct small_problem {
  sr__ridge_problem problem;
  float *x;
  int32_t *row, *label;
  double *weight;
} small_problem;

static small_problem new_problem(int64_t rows, int64_t columns, int32_t classes) {
  small_problem s = {.x = malloc(sizeof(float) * (size_t)(rows * columns)),
                     .row = malloc(sizeof(int32_t) * (size_t)rows),
                     .label = malloc(sizeof(int32_t) * (size_t)rows),
                     .weight = malloc(sizeof(double) * (size_t)rows)};
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) s.x[i * columns + j] = reference_value(i, j);
    s.row[i] = (int32_t)i;
    s.label[i] = (int32_t)(i % classes);
    s.weight[i] = 1.0;
  }
  s.problem = (sr__ridge_problem){s.x, columns, s.row, rows, s.weight, s.label, classes};
  return s;
}

static void free_problem(small_problem *s) {
  free(s->x);
  free(s->row);
  free(s->label);
  free(s->weight);
}

static void free_model(sr_context *ctx, sr__ridge_model *model) {
  sr_allocator allocator = sr__allocator(ctx);
  sr__ridge_free_model(&allocator, model);
}

/* One case of the file; false at its end. Penalties are equal, decisions to 1e-7: both solve the
 * same normal equations by different decompositions. */
static bool check_case(sr_context *ctx, FILE *file) {
  int rows, columns, classes, weighted;
  double alpha, expected[4], decision[4], centered[64];
  if (fscanf(file, "%d %d %d %d %lf", &rows, &columns, &classes, &weighted, &alpha) != 5)
    return false;
  small_problem s = new_problem(rows, columns, classes);
  double(*stored)[4] = calloc((size_t)rows, sizeof *stored);
  for (int i = 0; i < rows; i++) {
    assert_int_equal(fscanf(file, "%d", &s.label[i]), 1);
    for (int c = 0; c < classes; c++) assert_int_equal(fscanf(file, "%lf", &stored[i][c]), 1);
    if (weighted) s.weight[i] = 1.0 + i % 3;
  }
  sr__ridge_model model = {0};
  assert_ok(ctx, sr__ridge_solve(ctx, &s.problem, &model));
  assert_close(model.alpha, alpha, 1e-12);
  for (int i = 0; i < rows; i++) {
    memcpy(expected, stored[i], sizeof expected);
    int32_t vote = sr__ridge_vote(&model, s.x + (int64_t)i * columns, centered, decision);
    int32_t best = 0;
    for (int c = 0; c < classes; c++) {
      assert_close(decision[c], expected[c], 1e-7);
      if (expected[c] > expected[best]) best = c;
    }
    assert_int_equal(vote, best);
  }
  free(stored);
  free_model(ctx, &model);
  free_problem(&s);
  return true;
}

static void decisions_are_those_of_scikit_learn(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  FILE *file = fopen(SR_TEST_DATA "/ridge_reference.txt", "r");
  assert_non_null(file);
  char line[256];
  assert_non_null(fgets(line, sizeof line, file));
  int cases = 0;
  while (check_case(ctx, file)) cases++;
  assert_int_equal(cases, 7);
  fclose(file);
  sr_context_free(&ctx);
}

/* ---- by hand ------------------------------------------------------------------------------ */

/* Solves the small dense system a x = b by elimination with pivoting; a is size x size. */
static void solve_by_hand(double *a, double *b, int size) {
  for (int k = 0; k < size; k++) {
    int pivot = k;
    for (int i = k + 1; i < size; i++)
      if (fabs(a[i * size + k]) > fabs(a[pivot * size + k])) pivot = i;
    for (int j = 0; j < size; j++) {
      double swap = a[k * size + j];
      a[k * size + j] = a[pivot * size + j];
      a[pivot * size + j] = swap;
    }
    double swap = b[k];
    b[k] = b[pivot];
    b[pivot] = swap;
    for (int i = 0; i < size; i++) {
      if (i == k) continue;
      double factor = a[i * size + k] / a[k * size + k];
      for (int j = k; j < size; j++) a[i * size + j] -= factor * a[k * size + j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = 0; k < size; k++) b[k] /= a[k * size + k];
}

/* Weighted squared error of every row predicted from a fit to the others, intercept free. */
static double left_out_error(const small_problem *s, const double *z, double alpha) {
  int n = (int)s->problem.rows, p = (int)s->problem.columns, size = p + 1;
  double sum = 0.0;
  double *a = malloc(sizeof *a * (size_t)(size * size)), *b = malloc(sizeof *b * (size_t)size);
  for (int out = 0; out < n; out++) {
    memset(a, 0, sizeof *a * (size_t)(size * size));
    memset(b, 0, sizeof *b * (size_t)size);
    for (int j = 0; j < p; j++) a[j * size + j] = alpha;
    for (int i = 0; i < n; i++) {
      if (i == out) continue;
      double y = s->label[i] ? 1.0 : -1.0;
      for (int j = 0; j < size; j++) {
        double zj = j < p ? z[i * p + j] : 1.0;
        b[j] += s->weight[i] * zj * y;
        for (int k = 0; k < size; k++)
          a[j * size + k] += s->weight[i] * zj * (k < p ? z[i * p + k] : 1.0);
      }
    }
    solve_by_hand(a, b, size);
    double prediction = b[p];
    for (int j = 0; j < p; j++) prediction += b[j] * z[out * p + j];
    double error = (s->label[out] ? 1.0 : -1.0) - prediction;
    sum += s->weight[out] * error * error;
  }
  free(a);
  free(b);
  return sum;
}

/* The chosen penalty has the least error when every row is in turn left out and all is refitted. */
static void penalty_is_the_best_left_out(void **state) {
  (void)state;
  for (int shape = 0; shape < 4; shape++) {
    int64_t n = shape % 2 ? 12 : 40, p = shape % 2 ? 15 : 6;
    sr_context *ctx = test_context(1);
    small_problem s = new_problem(n, p, 2);
    double *z = malloc(sizeof *z * (size_t)(n * p)), total = 0.0;
    for (int64_t i = 0; i < n; i++) {
      if (shape >= 2) s.weight[i] = 1.0 + (double)(i % 4);
      s.label[i] = s.x[i * p] + 0.7f * s.x[i * p + 1] + (float)(i % 5) > 11.0f;
      total += s.weight[i];
    }
    for (int64_t j = 0; j < p; j++) {
      double mean = 0.0, square = 0.0;
      for (int64_t i = 0; i < n; i++) mean += s.weight[i] * (double)s.x[i * p + j] / total;
      for (int64_t i = 0; i < n; i++) square += s.weight[i] * pow(s.x[i * p + j] - mean, 2) / total;
      for (int64_t i = 0; i < n; i++) z[i * p + j] = (s.x[i * p + j] - mean) / sqrt(square);
    }
    int best = 0;
    double error[SR__PENALTIES];
    for (int a = 0; a < sr__linear_penalties(1e6); a++) {
      error[a] = left_out_error(&s, z, sr__linear_penalty(a));
      if (error[a] < error[best]) best = a;
    }
    sr__ridge_model model = {0};
    assert_ok(ctx, sr__ridge_solve(ctx, &s.problem, &model));
    assert_close(model.alpha, sr__linear_penalty(best), 1e-12);
    free_model(ctx, &model);
    free(z);
    free_problem(&s);
    sr_context_free(&ctx);
  }
}

static void grid_is_logspace(void **state) {
  (void)state;
  assert_close(sr__linear_penalty(0), 1e-3, 1e-15);
  assert_close(sr__linear_penalty(3), 0.1, 1e-14);
  assert_close(sr__linear_penalty(9), 1e3, 1e-12);
  assert_int_equal(sr__linear_penalties(1e3), 10);
  assert_int_equal(sr__linear_penalties(1e6), 14);
}

/* Labels that no column tells ask for the largest penalty that is allowed: 1,000 where a class has
 * two rows, beyond it where each has three. */
static void rare_classes_hold_the_penalty_down(void **state) {
  (void)state;
  for (int shape = 0; shape < 4; shape++) {
    int64_t n = 40, p = shape % 2 ? 60 : 6;
    int rare = shape < 2 ? 2 : 3;
    sr_context *ctx = test_context(1);
    small_problem s = new_problem(n, p, 3);
    for (int64_t i = 0; i < n; i++) s.label[i] = i < rare ? 2 : (int32_t)(i % 2);
    sr__ridge_model model = {0};
    assert_ok(ctx, sr__ridge_solve(ctx, &s.problem, &model));
    if (rare == 2)
      assert_close(model.alpha, 1e3, 1e-9);
    else
      assert_true(model.alpha > 1e4);
    free_model(ctx, &model);
    free_problem(&s);
    sr_context_free(&ctx);
  }
}

/* ---- odd columns -------------------------------------------------------------------------- */

/* A constant column and an all-missing one change nothing; missing values stand at the mean. */
static void constant_and_missing_columns_are_harmless(void **state) {
  (void)state;
  for (int64_t n = 8; n <= 50; n += 42) {
    sr_context *ctx = test_context(1);
    small_problem plain = new_problem(n, 6, 3), odd = new_problem(n, 8, 3);
    double centered[8], decision[3], other[3];
    for (int64_t i = 0; i < n; i++) {
      memcpy(odd.x + i * 8, plain.x + i * 6, 6 * sizeof *odd.x);
      odd.x[i * 8 + 6] = 1e6f;
      odd.x[i * 8 + 7] = NAN;
    }
    sr__ridge_model a = {0}, b = {0};
    assert_ok(ctx, sr__ridge_solve(ctx, &plain.problem, &a));
    assert_ok(ctx, sr__ridge_solve(ctx, &odd.problem, &b));
    assert_close(a.alpha, b.alpha, 1e-12);
    for (int64_t i = 0; i < n; i++) {
      sr__ridge_vote(&a, plain.x + i * 6, centered, decision);
      sr__ridge_vote(&b, odd.x + i * 8, centered, other);
      for (int c = 0; c < 3; c++) assert_close(other[c], decision[c], 1e-9);
    }
    float all_missing[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
    sr__ridge_vote(&a, all_missing, centered, decision);
    for (int c = 0; c < 3; c++) assert_close(decision[c], a.intercept[c], 1e-15);
    free_model(ctx, &a);
    free_model(ctx, &b);
    free_problem(&plain);
    free_problem(&odd);
    sr_context_free(&ctx);
  }
}

/* A multiplicity is a weight: the same member as from a table with that weight. */
static void counts_are_weights(void **state) {
  (void)state;
  enum { N = 60, D = 4 };
  sr_context *ctx = test_context(1);
  float x[N * D], weight[N];
  int32_t label[N], all[N], counts[N];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < D; j++) x[j * N + i] = reference_value(i, j);
    label[i] = i % 3 == 0 ? -1 : x[i] > 8.0f; /* some without a class */
    counts[i] = 1 + i % 5;
    weight[i] = (float)counts[i];
    all[i] = i;
  }
  sr_table_view view = {
      .rows = N, .features = D, .x = x, .label = label, .classes = {3, kit_names}};
  sr_table *plain = NULL, *weighted = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &plain));
  view.weight = weight;
  assert_ok(ctx, sr_table_new(ctx, &view, &weighted));
  kit_options options;
  kit_options_init(&options);
  options.name = "ridge";
  sr__bag bag = {.rows = all, .counts = counts, .length = N};
  fitted a, b;
  sr__bytes a_shared, a_member, b_shared, b_member;
  assert_ok(ctx, fit_table(ctx, plain, &options, &bag, 1, &a));
  assert_ok(ctx, fit_table(ctx, weighted, &options, NULL, 1, &b));
  save_fitted(ctx, &a, &a_shared, &a_member);
  save_fitted(ctx, &b, &b_shared, &b_member);
  assert_int_equal(a_member.size, b_member.size);
  assert_memory_equal(a_member.data, b_member.data, (size_t)a_member.size);
  int32_t vote[N];
  assert_ok(ctx, predict_table(ctx, &a, plain, vote, NULL));
  for (int i = 0; i < N; i++) assert_in_range(vote[i], 0, 1); /* class 2 was never seen */
  sr__bytes_free(&a_shared);
  sr__bytes_free(&a_member);
  sr__bytes_free(&b_shared);
  sr__bytes_free(&b_member);
  fitted_free(&a);
  fitted_free(&b);
  sr_table_free(&plain);
  sr_table_free(&weighted);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decisions_are_those_of_scikit_learn),
      cmocka_unit_test(penalty_is_the_best_left_out),
      cmocka_unit_test(grid_is_logspace),
      cmocka_unit_test(rare_classes_hold_the_penalty_down),
      cmocka_unit_test(constant_and_missing_columns_are_harmless),
      cmocka_unit_test(counts_are_weights),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
