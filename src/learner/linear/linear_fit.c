#include <math.h>

#include "core/maths.h"
#include "linear_work.h"

double sr__linear_penalty(int i) { return sr__pow_portable(10.0, -3.0 + 6.0 * i / 9.0); }

int sr__linear_penalties(double most) {
  int count = 1;
  while (count < SR__PENALTIES && sr__linear_penalty(count) <= most * (1.0 + 1e-9)) count++;
  return count;
}

sr_status sr__linear_most_penalty(sr_context *ctx, const int32_t *label, int64_t rows,
                                  int32_t classes, double *most) {
  sr_status status = SR_OK;
  int64_t *count = NULL;
  SR_NEW_ZERO(ctx, count, classes);
  for (int64_t i = 0; i < rows; i++) count[label[i]]++;
  *most = 1e6;
  for (int32_t c = 0; c < classes; c++)
    if (count[c] > 0 && count[c] < 3) *most = 1e3;
cleanup:
  sr__free(ctx, count);
  return status;
}

void sr__linear_free(sr__linear_model *model) {
  if (!model) return;
  sr_allocator allocator = model->allocator;
  sr__release(&allocator, model->coefficient);
  sr__release(&allocator, model->intercept);
  sr__release(&allocator, model);
}

int64_t sr__linear_widest_tile(const sr__feature_maker *maker) {
  int64_t widest = 0;
  for (int64_t t = 0; t < maker->tiles; t++)
    if (maker->tile_begin[t + 1] - maker->tile_begin[t] > widest)
      widest = maker->tile_begin[t + 1] - maker->tile_begin[t];
  return widest;
}

sr_status sr__linear_factor(sr_context *ctx, const sr__penalized *matrix, bool *definite) {
  enum { SIDE = 64 }; /* of the squares that are turned over, for the cache */
  int64_t n = matrix->side;
  double *gram = matrix->gram, level = matrix->level;
  const double *v = matrix->direction;
  for (int64_t first = 0; first < n; first += SIDE)
    for (int64_t i = first; i < n; i++) {
      int64_t end = first + SIDE < i ? first + SIDE : i;
      for (int64_t j = first; j < end; j++) gram[j * n + i] = gram[i * n + j] + level * v[i] * v[j];
      if (i < first + SIDE)
        gram[i * n + i] = matrix->diagonal[i] + matrix->penalty[i] + level * v[i] * v[i];
    }
  return sr__dense_factor(ctx, n, gram, definite);
}

/* ---- the walk ------------------------------------------------------------------------------ */

sr_status sr__linear_walk(sr__linear_work *work, sr__penalty_fn at, void *data, int64_t size,
                          double *solution, int *best) {
  enum { START = 6 /* penalty 10 */ };
  sr_status status = SR_OK;
  double *curve = work->report.curve, *other = NULL, *other_residual = NULL;
  int64_t residuals = work->n * work->targets;
  int here = START, direction = 1, last = sr__linear_penalties(work->problem->most_penalty) - 1;
  bool moved = false, turned = false;
  SR_NEW(work->ctx, other, size);
  SR_NEW(work->ctx, other_residual, residuals);
  SR_TRY(at(work, data, sr__linear_penalty(here), solution, work->residual, &curve[here]));
  for (;;) {
    int next = here + direction;
    bool inside = next >= 0 && next <= last;
    if (inside)
      SR_TRY(at(work, data, sr__linear_penalty(next), other, other_residual, &curve[next]));
    if (inside && curve[next] < curve[here]) {
      memcpy(solution, other, (size_t)size * sizeof *other);
      memcpy(work->residual, other_residual, (size_t)residuals * sizeof *other_residual);
      here = next;
      moved = true;
    } else if (!moved && !turned) {
      direction = -direction;
      turned = true;
    } else {
      break;
    }
  }
  if (!(curve[here] < INFINITY))
    SR_TRY(sr__fail(work->ctx, SR_ERROR_DATA,
                    "a ridge of %lld rows and %lld features could not be solved at penalty %g; "
                    "look for values of very different size",
                    (long long)work->n, (long long)work->p, sr__linear_penalty(here)));
  work->report.error = curve[here];
  *best = here;
cleanup:
  sr__free(work->ctx, other);
  sr__free(work->ctx, other_residual);
  return status;
}

/* ---- one problem --------------------------------------------------------------------------- */

static sr_status check_problem(sr_context *ctx, const sr__linear_problem *problem) {
  if (problem->maker->rows < 2)
    return sr__fail(ctx, SR_ERROR_DATA, "a ridge needs at least two rows and got %lld",
                    (long long)problem->maker->rows);
  if (!(problem->most_penalty >= 10.0) || problem->most_penalty > 1.1e9)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "the largest penalty of a ridge is %g, expected 10 to 1e9",
                    problem->most_penalty);
  return SR_OK;
}

static void find_targets(sr__linear_work *w) {
  for (int32_t t = 0; t < w->targets; t++) {
    const double *y = w->problem->target + t * w->n;
    double sum = 0.0;
    for (int64_t i = 0; i < w->n; i++) sum += w->root[i] * w->root[i] * y[i];
    w->target_mean[t] = sum / w->total;
    for (int64_t i = 0; i < w->n; i++)
      w->target[t * w->n + i] = w->root[i] * (y[i] - w->target_mean[t]);
  }
}

static void count_judged(sr__linear_work *w) {
  const sr__left_out *out = w->problem->left_out;
  w->largest_set = 1;
  w->judged = out ? 0.0 : w->total;
  for (int64_t s = 0; out && s < out->sets; s++) {
    int64_t begin = out->begin[s], rows = out->begin[s + 1] - begin;
    if (rows > w->largest_set) w->largest_set = rows;
    for (int64_t i = begin; i < begin + out->judged[s]; i++)
      w->judged += w->root[out->row[i]] * w->root[out->row[i]];
  }
}

static sr_status begin_work(sr__linear_work *w) {
  sr_status status = SR_OK;
  SR_NEW(w->ctx, w->root, w->n);
  SR_NEW(w->ctx, w->target, w->n * w->targets);
  SR_NEW(w->ctx, w->target_mean, w->targets);
  SR_NEW_ZERO(w->ctx, w->mean, w->p);
  SR_NEW_ZERO(w->ctx, w->scale, w->p);
  SR_NEW_ZERO(w->ctx, w->weights, w->p * w->targets);
  SR_NEW(w->ctx, w->residual, w->n * w->targets);
  for (int i = 0; i < SR__PENALTIES; i++) w->report.curve[i] = NAN;
  for (int64_t i = 0; i < w->n; i++) {
    double weight = w->problem->weight ? w->problem->weight[i] : 1.0;
    w->total += weight;
    w->root[i] = sqrt(weight);
  }
  find_targets(w);
  count_judged(w);
  if (!(w->judged > 0.0))
    SR_TRY(sr__fail(w->ctx, SR_ERROR_DATA,
                    "no row of a ridge is judged: every set that is left out is only a buffer"));
cleanup:
  return status;
}

static void end_work(sr__linear_work *w) {
  void *owned[] = {w->root, w->target, w->target_mean, w->mean, w->scale, w->weights, w->residual};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) sr__free(w->ctx, owned[i]);
}

/* The intercept takes up the means with the coefficients as they are stored. */
static sr_status make_model(const sr__linear_work *w, double penalty, sr__linear_model **model) {
  sr_status status = SR_OK;
  sr__linear_model *made = NULL;
  SR_NEW_ZERO(w->ctx, made, 1);
  made->allocator = sr__allocator(w->ctx);
  made->features = w->p;
  made->targets = w->targets;
  made->penalty = penalty;
  SR_NEW(w->ctx, made->coefficient, w->p * w->targets);
  SR_NEW(w->ctx, made->intercept, w->targets);
  memcpy(made->intercept, w->target_mean, (size_t)w->targets * sizeof *made->intercept);
  for (int64_t f = 0; f < w->p; f++)
    for (int32_t t = 0; t < w->targets; t++) {
      float c = (float)(w->weights[f * w->targets + t] * w->scale[f]);
      made->coefficient[f * w->targets + t] = c;
      made->intercept[t] -= (double)c * w->mean[f];
    }
  *model = made;
  made = NULL;
cleanup:
  sr__linear_free(made);
  return status;
}

double sr__linear_mean_square(const sr__linear_work *w, const double *residual) {
  const sr__left_out *out = w->problem->left_out;
  double sum = 0.0;
  for (int32_t t = 0; t < w->targets; t++) {
    const double *e = residual + t * w->n;
    for (int64_t i = 0; !out && i < w->n; i++) sum += e[i] * e[i];
    for (int64_t s = 0; out && s < out->sets; s++)
      for (int64_t k = 0; k < out->judged[s]; k++)
        sum += e[out->row[out->begin[s] + k]] * e[out->row[out->begin[s] + k]];
  }
  return sum / w->judged / w->targets;
}

static void fill_scores(const sr__linear_work *w, double *score) {
  const sr__left_out *out = w->problem->left_out;
  for (int32_t t = 0; t < w->targets; t++)
    for (int64_t i = 0; i < w->n; i++) {
      int64_t at = t * w->n + i;
      score[at] = out ? NAN : w->problem->target[at] - w->residual[at] / w->root[i];
    }
  for (int64_t s = 0; out && s < out->sets; s++)
    for (int64_t i = 0; i < out->judged[s]; i++)
      for (int32_t t = 0; t < w->targets; t++) {
        int32_t row = out->row[out->begin[s] + i];
        int64_t at = t * w->n + row;
        score[at] = w->problem->target[at] - w->residual[at] / w->root[row];
      }
}

static bool by_features(int64_t rows, int64_t features) { return rows > features; }

/* Beyond the largest arrays: targets, residuals and scores of rows, and what features are scaled
 * and weighed by. */
int64_t sr__linear_bytes(const sr__linear_size *size, int64_t memory, bool *held) {
  int64_t few =
      8 * size->rows * (2 + 6 * size->targets) + 8 * size->features * (2 + 2 * size->targets);
  return few + (by_features(size->rows, size->features)
                    ? sr__linear_features_bytes(size, memory, held)
                    : sr__linear_rows_bytes(size, memory, held));
}

sr_status sr__linear_fit(sr_context *ctx, const sr__linear_problem *problem, double *score,
                         sr__linear_report *report, sr__linear_model **model) {
  sr_status status = SR_OK;
  sr__linear_work work = {.ctx = ctx,
                          .problem = problem,
                          .n = problem->maker->rows,
                          .p = problem->maker->features,
                          .targets = problem->targets};
  double penalty = 0.0;
  *model = NULL;
  SR_TRY(check_problem(ctx, problem));
  SR_TRY(begin_work(&work));
  SR_TRY(by_features(work.n, work.p) ? sr__linear_by_features(&work, &penalty)
                                     : sr__linear_by_rows(&work, &penalty));
  SR_TRY(make_model(&work, penalty, model));
  if (score) fill_scores(&work, score);
  if (report) *report = work.report;
cleanup:
  end_work(&work);
  return status;
}
