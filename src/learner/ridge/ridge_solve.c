/* Minimizes sum_i s_i |y_i - b - W' z_i|^2 + alpha |W|^2 with z the standardized columns, y in +-1
 * one against the rest, and b free. With rows scaled by sqrt(s_i) and centered targets t, rows >
 * columns + 1:  X'X = V diag(l) V', Q = X V, hat_i = s_i / S + sum_j q_ij^2 / (l_j + alpha),
 *                        left-out error (t - fitted)_i / (1 - hat_i);
 *   otherwise:           XX' = U diag(l) U' without the direction of the intercept,
 *                        c = U diag(1 / (l + alpha)) U't, left-out error c_i / (G^-1)_ii.
 * Every alpha uses one decomposition, and one alpha serves all classes. */
#include <math.h>

#include "core/dense.h"
#include "learner/linear/linear.h"
#include "ridge.h"

enum { CHUNK_VALUES = 1 << 18 };

typedef struct ridge_work {
  sr_context *ctx;
  const sr__ridge_problem *problem;
  int64_t n, p;
  int32_t targets;      /* classes that the rows hold */
  int32_t *class_of;    /* of each target */
  double total;         /* of the weights */
  double *root;         /* square root of each row's weight */
  double *mean, *scale; /* of each column; scale is 1 / sd, 0 where the column is constant */
  double *target;       /* n x targets, row-major: sqrt(s) (+-1 - mean) */
  double *target_mean;
  double *weights; /* p x targets: W */
  int alphas;      /* that are tried */
  double score[SR__PENALTIES];
} ridge_work;

sr_status sr__ridge_new_model(sr_context *ctx, int32_t classes, int64_t columns,
                              sr__ridge_model *model) {
  sr_status status = SR_OK;
  *model = (sr__ridge_model){.classes = classes, .columns = columns};
  SR_NEW_ZERO(ctx, model->mean, columns);
  SR_NEW_ZERO(ctx, model->coefficient, columns * classes);
  SR_NEW_ZERO(ctx, model->intercept, classes);
  SR_NEW_ZERO(ctx, model->seen, classes);
cleanup:
  return status;
}

void sr__ridge_free_model(const sr_allocator *allocator, sr__ridge_model *model) {
  void *blocks[] = {model->mean, model->coefficient, model->intercept, model->seen};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(allocator, blocks[i]);
  *model = (sr__ridge_model){0};
}

/* ---- preparing ---------------------------------------------------------------------------- */

static const float *row_of(const ridge_work *w, int64_t i) {
  return w->problem->x + (int64_t)w->problem->row[i] * w->p;
}

/* Missing values are left out of the mean and then stand at it. */
static sr_status find_moments(ridge_work *w) {
  sr_status status = SR_OK;
  double *present = NULL;
  SR_NEW_ZERO(w->ctx, present, w->p);
  for (int64_t i = 0; i < w->n; i++) {
    const float *x = row_of(w, i);
    for (int64_t j = 0; j < w->p; j++) {
      if (isnan(x[j])) continue;
      present[j] += w->problem->weight[i];
      w->mean[j] += w->problem->weight[i] * (double)x[j];
    }
  }
  for (int64_t j = 0; j < w->p; j++) w->mean[j] = present[j] > 0.0 ? w->mean[j] / present[j] : 0.0;
  for (int64_t i = 0; i < w->n; i++) {
    const float *x = row_of(w, i);
    for (int64_t j = 0; j < w->p; j++) {
      double deviation = isnan(x[j]) ? 0.0 : (double)x[j] - w->mean[j];
      w->scale[j] += w->problem->weight[i] * deviation * deviation;
    }
  }
  for (int64_t j = 0; j < w->p; j++) {
    double sd = sqrt(w->scale[j] / w->total);
    /* A constant column has only the rounding of its mean. */
    w->scale[j] = sd > 1e-12 * fabs(w->mean[j]) && sd > 0.0 ? 1.0 / sd : 0.0;
  }
cleanup:
  sr__free(w->ctx, present);
  return status;
}

static void find_targets(ridge_work *w) {
  const sr__ridge_problem *problem = w->problem;
  for (int32_t k = 0; k < w->targets; k++) {
    double sum = 0.0;
    for (int64_t i = 0; i < w->n; i++)
      sum += problem->label[i] == w->class_of[k] ? problem->weight[i] : -problem->weight[i];
    w->target_mean[k] = sum / w->total;
    for (int64_t i = 0; i < w->n; i++) {
      double y = problem->label[i] == w->class_of[k] ? 1.0 : -1.0;
      w->target[i * w->targets + k] = w->root[i] * (y - w->target_mean[k]);
    }
  }
}

static sr_status prepare_work(ridge_work *w, const sr__ridge_model *model) {
  sr_status status = SR_OK;
  const sr__ridge_problem *problem = w->problem;
  SR_NEW(w->ctx, w->class_of, problem->classes);
  for (int32_t c = 0; c < problem->classes; c++)
    if (model->seen[c]) w->class_of[w->targets++] = c;
  SR_NEW(w->ctx, w->root, w->n);
  SR_NEW_ZERO(w->ctx, w->mean, w->p);
  SR_NEW_ZERO(w->ctx, w->scale, w->p);
  SR_NEW(w->ctx, w->target, w->n * w->targets);
  SR_NEW(w->ctx, w->target_mean, w->targets);
  SR_NEW_ZERO(w->ctx, w->weights, w->p * w->targets);
  for (int64_t i = 0; i < w->n; i++) {
    w->total += problem->weight[i];
    w->root[i] = sqrt(problem->weight[i]);
  }
  SR_TRY(find_moments(w));
  find_targets(w);
cleanup:
  return status;
}

static void free_work(ridge_work *w) {
  void *blocks[] = {w->class_of, w->root, w->mean, w->scale, w->target, w->target_mean, w->weights};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(w->ctx, blocks[i]);
}

/* Standardized rows [begin, begin + rows) and columns [first, first + columns), times sqrt(s);
 * row-major. */
static void fill_design(const ridge_work *w, int64_t begin, int64_t rows, int64_t first,
                        int64_t columns, double *out) {
  for (int64_t i = 0; i < rows; i++) {
    const float *x = row_of(w, begin + i) + first;
    double root = w->root[begin + i];
    for (int64_t j = 0; j < columns; j++) {
      double deviation = isnan(x[j]) ? 0.0 : (double)x[j] - w->mean[first + j];
      out[i * columns + j] = root * (deviation * w->scale[first + j]);
    }
  }
}

/* The matrix (upper triangle in row-major) becomes its eigenvectors, one after the other. */
static sr_status decompose(ridge_work *w, double *matrix, int64_t size, double *value) {
  sr_status status = SR_OK;
  for (int64_t i = 0; i < size; i++)
    for (int64_t j = 0; j < i; j++) matrix[i * size + j] = matrix[j * size + i];
  SR_TRY(sr__dense_eigen(w->ctx, size, matrix, value));
  for (int64_t j = 0; j < size; j++)
    if (value[j] < 0.0) value[j] = 0.0; /* rounding */
cleanup:
  return status;
}

/* Of equal scores the larger penalty. */
static double choose_alpha(const ridge_work *w) {
  int best = w->alphas - 1;
  for (int a = best - 1; a >= 0; a--)
    if (w->score[a] < w->score[best]) best = a;
  return sr__linear_penalty(best);
}

/* By columns (primal) or by rows (dual): `side` of them, the others some at a time. */
typedef struct solve_parts {
  int64_t chunk;
  double *design;  /* chunk x side, or side x chunk */
  double *gram;    /* side x side; then row j is eigenvector j */
  double *value;   /* side */
  double *cross;   /* side x targets: X't, then V'X't; or U't */
  double *shrunk;  /* side x targets */
  double *rotated; /* primal, chunk x p: Q */
  double *fitted;  /* primal, chunk x targets */
  double *dual;    /* n x targets: c */
} solve_parts;

static sr_status new_parts(ridge_work *w, int64_t side, int64_t others, solve_parts *parts) {
  sr_status status = SR_OK;
  int64_t chunk = CHUNK_VALUES / side;
  parts->chunk = chunk < 1 ? 1 : chunk > others ? others : chunk;
  SR_NEW(w->ctx, parts->design, parts->chunk * side);
  SR_NEW_ZERO(w->ctx, parts->gram, side * side);
  SR_NEW(w->ctx, parts->value, side);
  SR_NEW_ZERO(w->ctx, parts->cross, side * w->targets);
  SR_NEW(w->ctx, parts->shrunk, side * w->targets);
cleanup:
  return status;
}

static void free_parts(ridge_work *w, solve_parts *parts) {
  void *blocks[] = {parts->design, parts->gram,    parts->value,  parts->cross,
                    parts->shrunk, parts->rotated, parts->fitted, parts->dual};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(w->ctx, blocks[i]);
}

/* Of the first `count` eigenvectors. */
static void shrink(const ridge_work *w, solve_parts *parts, int64_t count, double alpha) {
  for (int64_t j = 0; j < count; j++)
    for (int32_t k = 0; k < w->targets; k++)
      parts->shrunk[j * w->targets + k] =
          parts->cross[j * w->targets + k] / (parts->value[j] + alpha);
}

/* ---- more rows than columns ---------------------------------------------------------------- */

/* Adds the squared left-out errors of a chunk for every alpha. */
static sr_status score_chunk(ridge_work *w, solve_parts *parts, int64_t begin, int64_t rows) {
  sr_status status = SR_OK;
  int32_t k = w->targets;
  for (int a = 0; a < w->alphas; a++) {
    double alpha = sr__linear_penalty(a);
    shrink(w, parts, w->p, alpha);
    SR_TRY(sr__dense_multiply(w->ctx, (sr__product_shape){rows, k, w->p},
                              (sr__factor_view){parts->rotated, w->p, false},
                              (sr__factor_view){parts->shrunk, k, false},
                              (sr__product_view){parts->fitted, k, false}));
    for (int64_t i = 0; i < rows; i++) {
      double hat = w->problem->weight[begin + i] / w->total;
      const double *q = parts->rotated + i * w->p;
      for (int64_t j = 0; j < w->p; j++) hat += q[j] * q[j] / (parts->value[j] + alpha);
      for (int32_t t = 0; t < k; t++) {
        double residual = w->target[(begin + i) * k + t] - parts->fitted[i * k + t];
        double error = residual / fmax(1.0 - hat, 1e-12);
        w->score[a] += error * error;
      }
    }
  }
cleanup:
  return status;
}

static sr_status solve_primal(ridge_work *w, double *alpha) {
  sr_status status = SR_OK;
  solve_parts parts = {0};
  int64_t p = w->p, k = w->targets;
  SR_TRY(new_parts(w, p, w->n, &parts));
  SR_NEW(w->ctx, parts.rotated, parts.chunk * p);
  SR_NEW(w->ctx, parts.fitted, parts.chunk * k);
  for (int64_t begin = 0; begin < w->n; begin += parts.chunk) {
    int64_t rows = w->n - begin < parts.chunk ? w->n - begin : parts.chunk;
    SR_TRY(sr__check_interrupt(w->ctx));
    fill_design(w, begin, rows, 0, w->p, parts.design);
    SR_TRY(sr__dense_square(w->ctx, 1.0, (sr__factor_view){parts.design, p, true}, rows,
                            (sr__triangle_view){SR__UPPER, p, parts.gram}));
    SR_TRY(sr__dense_multiply(w->ctx, (sr__product_shape){p, k, rows},
                              (sr__factor_view){parts.design, p, true},
                              (sr__factor_view){w->target + begin * k, k, false},
                              (sr__product_view){parts.cross, k, true}));
  }
  SR_TRY(decompose(w, parts.gram, w->p, parts.value));
  SR_TRY(sr__dense_multiply(w->ctx, (sr__product_shape){p, k, p},
                            (sr__factor_view){parts.gram, p, false},
                            (sr__factor_view){parts.cross, k, false},
                            (sr__product_view){parts.shrunk, k, false}));
  memcpy(parts.cross, parts.shrunk, (size_t)(w->p * k) * sizeof *parts.cross);
  for (int64_t begin = 0; begin < w->n; begin += parts.chunk) {
    int64_t rows = w->n - begin < parts.chunk ? w->n - begin : parts.chunk;
    SR_TRY(sr__check_interrupt(w->ctx));
    fill_design(w, begin, rows, 0, w->p, parts.design);
    SR_TRY(sr__dense_multiply(w->ctx, (sr__product_shape){rows, p, p},
                              (sr__factor_view){parts.design, p, false},
                              (sr__factor_view){parts.gram, p, true},
                              (sr__product_view){parts.rotated, p, false}));
    SR_TRY(score_chunk(w, &parts, begin, rows));
  }
  *alpha = choose_alpha(w);
  shrink(w, &parts, p, *alpha);
  SR_TRY(sr__dense_multiply(w->ctx, (sr__product_shape){p, k, p},
                            (sr__factor_view){parts.gram, p, true},
                            (sr__factor_view){parts.shrunk, k, false},
                            (sr__product_view){w->weights, k, false}));
cleanup:
  free_parts(w, &parts);
  return status;
}

/* ---- more columns than rows ---------------------------------------------------------------- */

/* XX' plus a multiple of the intercept's direction that is larger than every eigenvalue: it becomes
 * the last eigenvector, which is then left out. */
static sr_status fill_gram(ridge_work *w, solve_parts *parts) {
  sr_status status = SR_OK;
  double trace = 1.0;
  for (int64_t first = 0; first < w->p; first += parts->chunk) {
    int64_t columns = w->p - first < parts->chunk ? w->p - first : parts->chunk;
    SR_TRY(sr__check_interrupt(w->ctx));
    fill_design(w, 0, w->n, first, columns, parts->design);
    SR_TRY(sr__dense_square(w->ctx, 1.0, (sr__factor_view){parts->design, columns, false}, columns,
                            (sr__triangle_view){SR__UPPER, w->n, parts->gram}));
  }
  for (int64_t i = 0; i < w->n; i++) trace += parts->gram[i * w->n + i];
  for (int64_t i = 0; i < w->n; i++)
    for (int64_t j = i; j < w->n; j++)
      parts->gram[i * w->n + j] += trace * w->root[i] * w->root[j] / w->total;
cleanup:
  return status;
}

/* c for one alpha; without the last eigenvector. */
static sr_status solve_dual_at(const ridge_work *w, solve_parts *parts, double alpha) {
  int64_t n = w->n, k = w->targets;
  shrink(w, parts, n - 1, alpha);
  return sr__dense_multiply(w->ctx, (sr__product_shape){n, k, n - 1},
                            (sr__factor_view){parts->gram, n, true},
                            (sr__factor_view){parts->shrunk, k, false},
                            (sr__product_view){parts->dual, k, false});
}

static sr_status score_dual(ridge_work *w, solve_parts *parts, int a) {
  sr_status status = SR_OK;
  int k = w->targets;
  double alpha = sr__linear_penalty(a);
  SR_TRY(solve_dual_at(w, parts, alpha));
  for (int64_t i = 0; i < w->n; i++) {
    double inverse = 0.0;
    for (int64_t j = 0; j + 1 < w->n; j++) {
      double u = parts->gram[j * w->n + i];
      inverse += u * u / (parts->value[j] + alpha);
    }
    for (int32_t t = 0; t < k; t++) {
      double error = parts->dual[i * k + t] / inverse;
      w->score[a] += error * error;
    }
  }
cleanup:
  return status;
}

static sr_status solve_dual(ridge_work *w, double *alpha) {
  sr_status status = SR_OK;
  solve_parts parts = {0};
  int64_t n = w->n, k = w->targets;
  SR_TRY(new_parts(w, n, w->p, &parts));
  SR_NEW(w->ctx, parts.dual, n * k);
  SR_TRY(fill_gram(w, &parts));
  SR_TRY(decompose(w, parts.gram, w->n, parts.value));
  SR_TRY(sr__dense_multiply(w->ctx, (sr__product_shape){n, k, n},
                            (sr__factor_view){parts.gram, n, false},
                            (sr__factor_view){w->target, k, false},
                            (sr__product_view){parts.cross, k, false}));
  for (int a = 0; a < w->alphas; a++) SR_TRY(score_dual(w, &parts, a));
  *alpha = choose_alpha(w);
  SR_TRY(solve_dual_at(w, &parts, *alpha));
  for (int64_t first = 0; first < w->p; first += parts.chunk) {
    int64_t columns = w->p - first < parts.chunk ? w->p - first : parts.chunk;
    fill_design(w, 0, w->n, first, columns, parts.design);
    SR_TRY(sr__dense_multiply(w->ctx, (sr__product_shape){columns, k, n},
                              (sr__factor_view){parts.design, columns, true},
                              (sr__factor_view){parts.dual, k, false},
                              (sr__product_view){w->weights + first * k, k, false}));
  }
cleanup:
  free_parts(w, &parts);
  return status;
}

/* ---- the model ---------------------------------------------------------------------------- */

static void fill_model(const ridge_work *w, sr__ridge_model *model) {
  memcpy(model->mean, w->mean, (size_t)w->p * sizeof *model->mean);
  for (int32_t k = 0; k < w->targets; k++) {
    int32_t class = w->class_of[k];
    model->intercept[class] = w->target_mean[k];
    for (int64_t j = 0; j < w->p; j++)
      model->coefficient[class * w->p + j] = w->weights[j * w->targets + k] * w->scale[j];
  }
}

sr_status sr__ridge_solve(sr_context *ctx, const sr__ridge_problem *problem,
                          sr__ridge_model *model) {
  sr_status status = SR_OK;
  ridge_work w = {.ctx = ctx, .problem = problem, .n = problem->rows, .p = problem->columns};
  double most = 0.0;
  SR_TRY(sr__ridge_new_model(ctx, problem->classes, problem->columns, model));
  for (int64_t i = 0; i < w.n; i++) model->seen[problem->label[i]] = 1;
  SR_TRY(sr__linear_most_penalty(ctx, problem->label, w.n, problem->classes, &most));
  w.alphas = sr__linear_penalties(most);
  SR_TRY(prepare_work(&w, model));
  /* A single class needs no decision: its intercept stands alone. */
  if (w.targets > 1)
    SR_TRY(w.n > w.p + 1 ? solve_primal(&w, &model->alpha) : solve_dual(&w, &model->alpha));
  fill_model(&w, model);
cleanup:
  free_work(&w);
  return status;
}

int32_t sr__ridge_vote(const sr__ridge_model *model, const float *x, double *centered,
                       double *decision) {
  int32_t vote = -1;
  double best = 0.0;
  for (int64_t j = 0; j < model->columns; j++)
    centered[j] = isnan(x[j]) ? 0.0 : (double)x[j] - model->mean[j];
  for (int32_t c = 0; c < model->classes; c++) {
    const double *coefficient = model->coefficient + c * model->columns;
    double sum = model->intercept[c];
    for (int64_t j = 0; model->seen[c] && j < model->columns; j++)
      sum += coefficient[j] * centered[j];
    if (decision) decision[c] = sum;
    if (!model->seen[c] || (vote >= 0 && !(sum > best))) continue;
    vote = c;
    best = sum;
  }
  return vote;
}
