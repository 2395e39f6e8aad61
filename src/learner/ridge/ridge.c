/* The ridge classifier as a learner. Words become one column a word; see ridge_solve.c. */
#include "ridge.h"

#include <math.h>

#include "data/dictionary.h"
#include "learner/labeled_bag.h"
#include "learner/learner.h"

enum { MAX_SIDE = 1 << 15 /* of the eigenproblem */ };

typedef struct ridge_feature {
  int64_t first;       /* of its columns */
  sr_dictionary names; /* count 0: one numeric column */
} ridge_feature;

struct sr__encoder {
  sr_allocator allocator;
  int32_t classes;
  int64_t features;
  int64_t columns;
  ridge_feature *feature;
};

struct sr__encoded {
  sr_allocator allocator;
  int64_t count;
  int64_t columns;
  float *x; /* row-major */
};

struct sr__training {
  sr_allocator allocator;
  sr__encoded *rows;
  int32_t *label;
  float *weight; /* NULL: all 1 */
};

struct sr__member {
  sr_allocator allocator;
  sr__ridge_model model;
};

static int64_t width(const ridge_feature *feature) {
  return feature->names.count > 0 ? feature->names.count : 1;
}

/* ---- freeing ------------------------------------------------------------------------------ */

static void free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
  for (int64_t j = 0; encoder->feature && j < encoder->features; j++)
    sr__dictionary_free(&allocator, &encoder->feature[j].names);
  sr__release(&allocator, encoder->feature);
  sr__release(&allocator, encoder);
}

static void free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__release(&allocator, rows->x);
  sr__release(&allocator, rows);
}

static void free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  free_encoded(training->rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training->weight);
  sr__release(&allocator, training);
}

static void free_member(sr__member *member) {
  if (!member) return;
  sr_allocator allocator = member->allocator;
  sr__ridge_free_model(&allocator, &member->model);
  sr__release(&allocator, member);
}

/* ---- rows --------------------------------------------------------------------------------- */

typedef struct encode_work {
  const sr__encoder *encoder;
  const sr_table_view *view;
  int32_t **code; /* a categorical feature: the model's code of each of the table's */
  int64_t first, chunk;
  sr__encoded *rows;
} encode_work;

/* Numbers that are not finite are missing; a word that training did not know is missing too. */
static void encode_value(const encode_work *work, int64_t j, float value, float *out) {
  const ridge_feature *feature = &work->encoder->feature[j];
  if (feature->names.count == 0) {
    out[0] = isfinite(value) ? value : NAN;
    return;
  }
  bool valid = value >= 0.0f && value < (float)work->view->categories[j].count;
  int32_t code = valid ? work->code[j][(int32_t)value] : -1;
  for (int32_t c = 0; c < feature->names.count; c++) out[c] = code < 0 ? NAN : (float)(c == code);
}

static sr_status encode_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)ctx;
  (void)slot;
  const encode_work *work = data;
  int64_t begin = chunk * work->chunk, end = begin + work->chunk;
  if (end > work->rows->count) end = work->rows->count;
  for (int64_t j = 0; j < work->encoder->features; j++) {
    const float *x = work->view->x + j * work->view->rows + work->first;
    float *out = work->rows->x + work->encoder->feature[j].first;
    for (int64_t i = begin; i < end; i++)
      encode_value(work, j, x[i], out + i * work->rows->columns);
  }
  return SR_OK;
}

static sr_status new_rows(sr_context *ctx, int64_t count, int64_t columns, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->count = count;
  made->columns = columns;
  SR_NEW(ctx, made->x, count * columns);
  *rows = made;
  made = NULL;
cleanup:
  free_encoded(made);
  return status;
}

static sr_status encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                        int64_t first, int64_t count, sr__encoded **rows) {
  enum { GRAIN = 1024 };
  sr_status status = SR_OK;
  encode_work work = {.encoder = encoder, .view = sr_table_get(table), .first = first};
  *rows = NULL;
  SR_TRY(sr__check_feature_count(ctx, work.view, encoder->features));
  SR_NEW_ZERO(ctx, work.code, encoder->features);
  for (int64_t j = 0; j < encoder->features; j++)
    SR_TRY(sr__feature_match(ctx, work.view, j, encoder->feature[j].names, &work.code[j]));
  SR_TRY(new_rows(ctx, count, encoder->columns, &work.rows));
  work.chunk = sr__chunk_size(count, GRAIN);
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(count, GRAIN), encode_chunk, &work));
  *rows = work.rows;
  work.rows = NULL;
cleanup:
  for (int64_t j = 0; work.code && j < encoder->features; j++) sr__free(ctx, work.code[j]);
  sr__free(ctx, work.code);
  free_encoded(work.rows);
  return status;
}

static sr_status copy_encoded(sr_context *ctx, const sr__encoder *encoder, const sr__encoded *from,
                              sr__encoded **copy) {
  (void)encoder;
  *copy = NULL;
  sr_status status = new_rows(ctx, from->count, from->columns, copy);
  if (status == SR_OK)
    memcpy((*copy)->x, from->x, (size_t)(from->count * from->columns) * sizeof *from->x);
  return status;
}

static void copy_feature(const sr__encoder *encoder, const sr__encoded *from, int64_t feature,
                         const int32_t *source, sr__encoded *to) {
  int64_t first = encoder->feature[feature].first;
  size_t bytes = (size_t)width(&encoder->feature[feature]) * sizeof *to->x;
  for (int64_t i = 0; i < to->count; i++)
    memcpy(to->x + i * to->columns + first,
           from->x + (source ? source[i] : i) * from->columns + first, bytes);
}

/* ---- preparing and fitting ----------------------------------------------------------------- */

static sr_status fill_shared(sr_context *ctx, const sr_table_view *view, sr__encoder *encoder) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, encoder->feature, view->features);
  encoder->features = view->features;
  encoder->classes = view->classes.count;
  for (int64_t j = 0; j < view->features; j++) {
    ridge_feature *feature = &encoder->feature[j];
    feature->first = encoder->columns;
    if (sr__categories_of(view, j).count > 0)
      SR_TRY(sr__dictionary_copy(ctx, view->categories[j], &feature->names));
    encoder->columns += width(feature);
  }
cleanup:
  return status;
}

static sr_status fill_training(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                               sr__training *training) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  SR_NEW(ctx, training->label, view->rows);
  memcpy(training->label, view->label, (size_t)view->rows * sizeof *view->label);
  if (view->weight) {
    SR_NEW(ctx, training->weight, view->rows);
    for (int64_t i = 0; i < view->rows; i++) {
      training->weight[i] = view->weight[i];
      if (!(view->weight[i] >= 0.0f) || !isfinite(view->weight[i]))
        SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the weight of row %lld is %g, expected 0 or more",
                        (long long)i + 1, (double)view->weight[i]));
    }
  }
  SR_TRY(encode(ctx, encoder, table, 0, view->rows, &training->rows));
cleanup:
  return status;
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  sr_status status = SR_OK;
  sr__encoder *common = NULL;
  sr__training *made = NULL;
  *encoder = NULL;
  *training = NULL;
  SR_NEW_ZERO(ctx, common, 1);
  common->allocator = sr__allocator(ctx);
  SR_TRY(fill_shared(ctx, sr_table_get(table), common));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(fill_training(ctx, common, table, made));
  *encoder = common;
  *training = made;
  common = NULL;
  made = NULL;
cleanup:
  free_training(made);
  free_encoder(common);
  return status;
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

static const sr__encoded *training_encoded(const sr__training *training) { return training->rows; }
static int32_t classes(const sr__encoder *encoder) { return encoder->classes; }
static int64_t features(const sr__encoder *encoder) { return encoder->features; }

/* ---- storing ------------------------------------------------------------------------------ */

static void save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)encoder->classes);
  sr__put_u64(bytes, (uint64_t)encoder->features);
  for (int64_t j = 0; j < encoder->features; j++)
    sr__dictionary_save(encoder->feature[j].names, bytes);
}

static sr_status load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  *encoder = NULL;
  uint32_t count = sr__get_u32(reader);
  if (count < 1 || count > INT32_MAX) sr__get_refuse(reader, "the number of classes is wrong");
  int64_t features_stored = sr__get_count(reader, sizeof(uint64_t));
  if (reader->status == SR_OK && features_stored < 1)
    sr__get_refuse(reader, "the number of features is wrong");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  made->classes = (int32_t)count;
  SR_NEW_ZERO(reader->ctx, made->feature, features_stored);
  made->features = features_stored;
  for (int64_t j = 0; j < features_stored; j++) {
    made->feature[j].first = made->columns;
    SR_TRY(sr__dictionary_load(reader, &made->feature[j].names));
    made->columns += width(&made->feature[j]);
  }
  *encoder = made;
  made = NULL;
cleanup:
  free_encoder(made);
  return status;
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
    .flags = SR_LEARNER_TAKES_FEATURES,
    .prepare = prepare,
    .training_encoded = training_encoded,
    .fit = fit,
    .encode = encode,
    .predict = predict,
    .copy_feature = copy_feature,
    .copy_encoded = copy_encoded,
    .classes = classes,
    .features = features,
    .save_encoder = save_encoder,
    .load_encoder = load_encoder,
    .save_member = save_member,
    .load_member = load_member,
    .free_encoder = free_encoder,
    .free_training = free_training,
    .free_encoded = free_encoded,
    .free_member = free_member,
};
