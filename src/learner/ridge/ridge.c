/* The ridge classifier as a learner. Words become one column a word; see ridge_solve.c. */
#include "ridge.h"

#include <math.h>

#include "learner/labeled_bag.h"
#include "learner/matrix/matrix.h"

enum { MAX_SIDE = 1 << 15 /* of the eigenproblem */ };

struct sr__member {
  sr_allocator allocator;
  sr__ridge_model model;
};

static void free_member(sr__member *member) {
  if (!member) return;
  sr_allocator allocator = member->allocator;
  sr__ridge_free_model(&allocator, &member->model);
  sr__release(&allocator, member);
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  return sr__matrix_prepare(ctx, table, SR__WORD_COLUMNS, encoder, training);
}

static sr_status fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                     sr__random *random, sr__member **member) {
  (void)random;
  sr_status status = SR_OK;
  sr__labeled_bag gathered = {0};
  sr__member *made = NULL;
  *member = NULL;
  SR_TRY(
      sr__labeled_bag_read(ctx, bag, input->training->label, input->training->weight, &gathered));
  sr__ridge_problem problem = {.x = input->training->rows->x,
                               .columns = input->encoder->columns,
                               .rows = gathered.length,
                               .row = gathered.row,
                               .weight = gathered.weight,
                               .label = gathered.label,
                               .classes = input->encoder->classes};
  if (problem.rows > MAX_SIDE && problem.columns > MAX_SIDE)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "a ridge of %lld rows and %lld columns needs an eigenproblem larger than %d; "
                    "use smaller bags or fewer columns",
                    (long long)problem.rows, (long long)problem.columns, MAX_SIDE));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__ridge_solve(ctx, &problem, &made->model));
  *member = made;
  made = NULL;
cleanup:
  free_member(made);
  sr__labeled_bag_free(ctx, &gathered);
  return status;
}

static sr_status predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                         const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  double *centered = NULL;
  SR_NEW(ctx, centered, encoder->columns);
  if (answers.share)
    memset(answers.share, 0, (size_t)(picked.count * encoder->classes) * sizeof *answers.share);
  for (int64_t i = 0; i < picked.count; i++) {
    const float *x = rows->x + sr__picked_row(picked, i) * rows->columns;
    int32_t chosen = sr__ridge_vote(&member->model, x, centered, NULL);
    if (answers.vote) answers.vote[i] = chosen;
    if (answers.share) answers.share[i * encoder->classes + chosen] = 1.0f;
  }
cleanup:
  sr__free(ctx, centered);
  return status;
}

/* ---- storing ------------------------------------------------------------------------------ */

static sr_status load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  return sr__matrix_load_encoder(reader, SR__WORD_COLUMNS, INT32_MAX, encoder);
}

static void save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes) {
  const sr__ridge_model *model = &member->model;
  sr__put_f64(bytes, model->alpha);
  for (int64_t j = 0; j < encoder->columns; j++) sr__put_f64(bytes, model->mean[j]);
  for (int32_t c = 0; c < encoder->classes; c++) {
    sr__put_u8(bytes, model->seen[c]);
    sr__put_f64(bytes, model->intercept[c]);
    for (int64_t j = 0; j < encoder->columns; j++)
      sr__put_f64(bytes, model->coefficient[c * encoder->columns + j]);
  }
}

static double get_finite(sr__byte_reader *reader) {
  double value = sr__get_f64(reader);
  if (!isfinite(value)) sr__get_refuse(reader, "a number is not finite");
  return value;
}

static void load_model(sr__byte_reader *reader, const sr__encoder *encoder,
                       sr__ridge_model *model) {
  bool any = false;
  model->alpha = get_finite(reader);
  for (int64_t j = 0; j < encoder->columns; j++) model->mean[j] = get_finite(reader);
  for (int32_t c = 0; c < encoder->classes && reader->status == SR_OK; c++) {
    model->seen[c] = sr__get_u8(reader);
    model->intercept[c] = get_finite(reader);
    if (model->seen[c] > 1) sr__get_refuse(reader, "a flag is neither 0 nor 1");
    for (int64_t j = 0; j < encoder->columns; j++)
      model->coefficient[c * encoder->columns + j] = get_finite(reader);
    any = any || model->seen[c];
  }
  if (!any) sr__get_refuse(reader, "no class can be voted for");
}

static sr_status load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                             sr__member **member) {
  sr_status status = SR_OK;
  sr__member *made = NULL;
  *member = NULL;
  int64_t left = reader->size - reader->at, number = sizeof(double);
  if (encoder->columns > left / number ||
      encoder->classes > left / (1 + number * (1 + encoder->columns)))
    sr__get_refuse(reader, "it ends too early");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  SR_TRY(sr__ridge_new_model(reader->ctx, encoder->classes, encoder->columns, &made->model));
  load_model(reader, encoder, &made->model);
  SR_TRY(reader->status);
  *member = made;
  made = NULL;
cleanup:
  free_member(made);
  return status;
}

const sr__learner sr__learner_ridge = {
    .about = {"ridge",
              "ridge regression on +-1 targets, one against the rest, penalty by leave-one-out",
              NULL, 0, NULL},
    SR__MATRIX_LEARNER_OPERATIONS,
    .prepare = prepare,
    .fit = fit,
    .predict = predict,
    .load_encoder = load_encoder,
    .save_member = save_member,
    .load_member = load_member,
    .free_member = free_member,
};
