#include "linear_classes.h"

#include <math.h>
#include "core/maths.h"

void sr__linear_classes_free(sr__linear_classes *model) {
  if (!model) return;
  sr_allocator allocator = model->allocator;
  sr__linear_free(model->model);
  sr__release(&allocator, model->class_of);
  sr__release(&allocator, model);
}

/* Score of the known class number k. */
static double score_of(const sr__linear_classes *model, const double *score, int64_t stride,
                       int32_t k) {
  if (model->known == 2) return k == 1 ? score[0] : -score[0];
  return score[k * stride];
}

int32_t sr__linear_classes_vote(const sr__linear_classes *model, const double *score,
                                int64_t stride, float *proba) {
  int32_t best = 0;
  double total = 0.0;
  if (proba) memset(proba, 0, (size_t)model->classes * sizeof *proba);
  if (model->known == 1) {
    if (proba) proba[model->class_of[0]] = 1.0f;
    return model->class_of[0];
  }
  for (int32_t k = 1; k < model->known; k++)
    if (score_of(model, score, stride, k) > score_of(model, score, stride, best)) best = k;
  if (!proba) return model->class_of[best];
  double top = score_of(model, score, stride, best);
  for (int32_t k = 0; k < model->known; k++)
    total += sr__exp_portable(model->sharpness * (score_of(model, score, stride, k) - top));
  for (int32_t k = 0; k < model->known; k++)
    proba[model->class_of[k]] =
        (float)(sr__exp_portable(model->sharpness * (score_of(model, score, stride, k) - top)) /
                total);
  return model->class_of[best];
}

/* ---- fitting ------------------------------------------------------------------------------- */

static sr_status find_classes(sr_context *ctx, const int32_t *label, int64_t rows,
                              sr__linear_classes *made, int32_t *place) {
  sr_status status = SR_OK;
  int64_t *count = NULL;
  SR_NEW_ZERO(ctx, count, made->classes);
  for (int64_t i = 0; i < rows; i++) count[label[i]]++;
  for (int32_t c = 0; c < made->classes; c++) {
    place[c] = made->known;
    made->known += count[c] > 0;
  }
  SR_NEW(ctx, made->class_of, made->known);
  for (int32_t c = 0; c < made->classes; c++)
    if (count[c] > 0) made->class_of[place[c]] = c;
cleanup:
  sr__free(ctx, count);
  return status;
}

/* -log likelihood of the judged rows at a sharpness, by the weights. `place`: of a class among
 * the known ones. */
static double log_loss(const sr__linear_classes *model, const sr__classes_problem *problem,
                       const int32_t *place, const double *score, double sharpness) {
  double loss = 0.0;
  int64_t rows = problem->maker->rows;
  for (int64_t i = 0; i < rows; i++) {
    double top = -INFINITY, total = 0.0;
    if (isnan(score[i])) continue;
    for (int32_t k = 0; k < model->known; k++) top = fmax(top, score_of(model, score + i, rows, k));
    for (int32_t k = 0; k < model->known; k++)
      total += sr__exp_portable(sharpness * (score_of(model, score + i, rows, k) - top));
    double own = score_of(model, score + i, rows, place[problem->label[i]]);
    loss += (problem->weight ? problem->weight[i] : 1.0) *
            (sr__log_portable(total) - sharpness * (own - top));
  }
  return loss;
}

/* The best of 120 values between .3 and 60: bounded, because scores without an error ask for an
 * infinite one. */
static double find_sharpness(const sr__linear_classes *model, const sr__classes_problem *problem,
                             const int32_t *place, const double *score) {
  enum { VALUES = 120 };
  double best = 1.0, least = INFINITY;
  for (int i = 0; i < VALUES; i++) {
    double sharpness = 0.3 * sr__pow_portable(60.0 / 0.3, i / (VALUES - 1.0));
    double loss = log_loss(model, problem, place, score, sharpness);
    if (!(loss < least)) continue;
    least = loss;
    best = sharpness;
  }
  return best;
}

static void judge(const sr__linear_classes *model, const sr__classes_problem *problem,
                  const double *score, float *proba, sr__classes_report *report) {
  int64_t rows = problem->maker->rows;
  for (int64_t i = 0; i < rows; i++) {
    float *to = proba ? proba + i * model->classes : NULL;
    if (isnan(score[i])) {
      for (int32_t c = 0; to && c < model->classes; c++) to[c] = NAN;
      continue;
    }
    int32_t vote = sr__linear_classes_vote(model, score + i, rows, to);
    report->judged++;
    report->wrong += vote != problem->label[i];
  }
}

static sr_status fit_targets(sr_context *ctx, const sr__classes_problem *of, const int32_t *place,
                             float *proba, sr__classes_report *report, sr__linear_classes *made) {
  sr_status status = SR_OK;
  int64_t rows = of->maker->rows;
  int32_t targets = made->known == 2 ? 1 : made->known;
  double *target = NULL, *score = NULL;
  SR_NEW(ctx, target, rows * targets);
  SR_NEW(ctx, score, rows * targets);
  for (int32_t t = 0; t < targets; t++)
    for (int64_t i = 0; i < rows; i++)
      target[t * rows + i] = place[of->label[i]] == (made->known == 2 ? 1 : t) ? 1.0 : -1.0;
  sr__linear_problem problem = {.maker = of->maker,
                                .target = target,
                                .targets = targets,
                                .weight = of->weight,
                                .left_out = of->left_out,
                                .most_penalty = of->options.most_penalty,
                                .memory = of->options.memory};
  SR_TRY(sr__linear_fit(ctx, &problem, score, &report->linear, &made->model));
  made->sharpness = find_sharpness(made, of, place, score);
  judge(made, of, score, proba, report);
cleanup:
  sr__free(ctx, target);
  sr__free(ctx, score);
  return status;
}

sr_status sr__linear_classes_fit(sr_context *ctx, const sr__classes_problem *problem, float *proba,
                                 sr__classes_report *report, sr__linear_classes **model) {
  sr_status status = SR_OK;
  sr__linear_classes *made = NULL;
  sr__classes_report own = {0};
  sr__classes_problem settled = *problem;
  int32_t *place = NULL; /* of a class among the known ones */
  int64_t rows = problem->maker->rows;
  *model = NULL;
  if (rows < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "a ridge classifier needs at least one row and got none"));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->classes = problem->classes;
  made->sharpness = 1.0;
  SR_NEW(ctx, place, problem->classes);
  SR_TRY(find_classes(ctx, problem->label, rows, made, place));
  if (!(settled.options.most_penalty > 0.0))
    SR_TRY(sr__linear_most_penalty(ctx, problem->label, rows, problem->classes,
                                   &settled.options.most_penalty));
  if (made->known > 1) {
    SR_TRY(fit_targets(ctx, &settled, place, proba, &own, made));
  } else if (proba) {
    for (int64_t i = 0; i < rows * problem->classes; i++) proba[i] = NAN;
  }
  if (report) *report = own;
  made->judged = own.judged;
  made->wrong = own.wrong;
  made->sets = problem->left_out ? problem->left_out->sets : 0;
  *model = made;
  made = NULL;
cleanup:
  sr__linear_classes_free(made);
  sr__free(ctx, place);
  return status;
}

sr_status sr__linear_classes_predict(sr_context *ctx, const sr__linear_classes *model,
                                     const sr__feature_maker *maker, const int32_t *order,
                                     int32_t *vote, float *proba) {
  sr_status status = SR_OK;
  int64_t stride = (maker->rows + 7) / 8 * 8;
  double *score = NULL;
  if (model->model) {
    SR_NEW(ctx, score, stride * model->model->targets);
    SR_TRY(sr__linear_predict(ctx, model->model, maker, score, stride));
  }
  for (int64_t i = 0; i < maker->rows; i++) {
    int64_t to = order ? order[i] : i;
    int32_t chosen = sr__linear_classes_vote(model, score ? score + i : NULL, stride,
                                             proba ? proba + to * model->classes : NULL);
    if (vote) vote[to] = chosen;
  }
cleanup:
  sr__free(ctx, score);
  return status;
}

/* ---- storing ------------------------------------------------------------------------------- */

void sr__linear_classes_save(const sr__linear_classes *model, sr__bytes *bytes) {
  sr__put_u64(bytes, (uint64_t)model->known);
  for (int32_t k = 0; k < model->known; k++) sr__put_u32(bytes, (uint32_t)model->class_of[k]);
  sr__put_f64(bytes, model->sharpness);
  sr__put_u64(bytes, (uint64_t)model->judged);
  sr__put_u64(bytes, (uint64_t)model->wrong);
  sr__put_u64(bytes, (uint64_t)model->sets);
  if (model->model) sr__linear_save(model->model, bytes);
}

sr_status sr__linear_classes_load(sr__byte_reader *reader, int32_t classes,
                                  sr__linear_classes **model) {
  sr_status status = SR_OK;
  sr__linear_classes *made = NULL;
  *model = NULL;
  int64_t known = sr__get_count(reader, sizeof(uint32_t));
  if (known < 1 || known > classes) sr__get_refuse(reader, "the number of classes is wrong");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  made->classes = classes;
  made->known = (int32_t)known;
  SR_NEW(reader->ctx, made->class_of, known);
  for (int32_t k = 0; k < known; k++) {
    uint32_t class = sr__get_u32(reader);
    if (class >= (uint32_t)classes || (k > 0 && (int32_t) class <= made->class_of[k - 1]))
      sr__get_refuse(reader, "a class is wrong");
    made->class_of[k] = (int32_t) class;
  }
  made->sharpness = sr__get_f64(reader);
  if (!(made->sharpness > 0.0) || !(made->sharpness < 1e6))
    sr__get_refuse(reader, "the sharpness is wrong");
  made->judged = (int64_t)sr__get_u64(reader);
  made->wrong = (int64_t)sr__get_u64(reader);
  made->sets = (int64_t)sr__get_u64(reader);
  if (made->judged < 0 || made->wrong < 0 || made->wrong > made->judged || made->sets < 0)
    sr__get_refuse(reader, "the number of rows that were left out is wrong");
  SR_TRY(reader->status);
  if (known > 1) SR_TRY(sr__linear_load(reader, &made->model));
  if (known > 1 && made->model->targets != (known == 2 ? 1 : known))
    sr__get_refuse(reader, "the number of targets is wrong");
  SR_TRY(reader->status);
  *model = made;
  made = NULL;
cleanup:
  sr__linear_classes_free(made);
  return status;
}
