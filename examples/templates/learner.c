/* Copy me to src/learner/NAME/NAME.c, rename `means` to NAME, and add SR_ENTRY(NAME) to
 * src/learner/methods.def, a test that names it and a page docs/methods/learner-NAME.md.
 *
 * This one votes for the class whose mean row is nearest. Missing values are left out on both
 * sides. */
#include "learner/learner.h"

#include <math.h>

typedef struct means {
  double power;
} means;

static const sr_option options[] = {SR_REAL(means, power, "2", 0.1, 10,
                                            "of the distance along each feature"),
                                    SR_OPTIONS_END};

/* What all members share and the model stores once. */
struct sr__encoder {
  sr_allocator allocator;
  int32_t classes;
  int64_t features;
  double power;
};
/* Rows as prediction reads them, row by row. */
struct sr__encoded {
  sr_allocator allocator;
  int64_t rows, features;
  float *x;
};
struct sr__training {
  sr_allocator allocator;
  sr__encoded *rows;
  int32_t *label;
  float *weight;
};
struct sr__member {
  sr_allocator allocator;
  double *mean; /* of each class along each feature; NaN where the bag had none */
};

/* ---- freeing: null-safe, without a context -------------------------------------------------- */

static void free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
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
  sr__release(&allocator, member->mean);
  sr__release(&allocator, member);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static sr_status new_encoded(sr_context *ctx, int64_t rows, int64_t features, sr__encoded **made) {
  sr_status status = SR_OK;
  sr__encoded *encoded = NULL;
  SR_NEW_ZERO(ctx, encoded, 1);
  *encoded = (sr__encoded){sr__allocator(ctx), rows, features, NULL};
  SR_NEW(ctx, encoded->x, rows * features);
  *made = encoded;
  encoded = NULL;
cleanup:
  free_encoded(encoded);
  return status;
}

static sr_status encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                        int64_t first, int64_t count, sr__encoded **rows) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  *rows = NULL;
  if (view->features != encoder->features)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the table has %lld features, expected %lld",
                    (long long)view->features, (long long)encoder->features));
  SR_TRY(new_encoded(ctx, count, view->features, rows));
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < view->features; j++)
      (*rows)->x[i * view->features + j] = view->x[j * view->rows + first + i];
cleanup:
  return status;
}

static sr_status copy_encoded(sr_context *ctx, const sr__encoder *encoder, const sr__encoded *from,
                              sr__encoded **copy) {
  (void)encoder;
  *copy = NULL;
  sr_status status = new_encoded(ctx, from->rows, from->features, copy);
  if (status == SR_OK)
    memcpy((*copy)->x, from->x, (size_t)(from->rows * from->features) * sizeof *from->x);
  return status;
}

static void copy_feature(const sr__encoder *encoder, const sr__encoded *from, int64_t feature,
                         const int32_t *source, sr__encoded *to) {
  (void)encoder;
  for (int64_t i = 0; i < to->rows; i++)
    to->x[i * to->features + feature] =
        from->x[(source ? source[i] : i) * from->features + feature];
}

/* ---- preparing and fitting ------------------------------------------------------------------ */

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *values,
                         sr__encoder **encoder, sr__training **training) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  const means *given = values;
  sr__encoder *shared = NULL;
  sr__training *made = NULL;
  *encoder = NULL;
  *training = NULL;
  SR_NEW_ZERO(ctx, shared, 1);
  *shared = (sr__encoder){sr__allocator(ctx), view->classes.count, view->features, given->power};
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_NEW(ctx, made->label, view->rows);
  SR_NEW(ctx, made->weight, view->rows);
  for (int64_t i = 0; i < view->rows; i++) {
    made->label[i] = view->label[i];
    made->weight[i] = view->weight ? view->weight[i] : 1.0f;
  }
  SR_TRY(encode(ctx, shared, table, 0, view->rows, &made->rows));
  *encoder = shared;
  *training = made;
  shared = NULL;
  made = NULL;
cleanup:
  free_training(made);
  free_encoder(shared);
  return status;
}

/* Sums of a bag, which comes in pieces. */
typedef struct class_sums {
  const sr__training *training;
  double *sum, *weight; /* of each class along each feature */
  int64_t labeled;
} class_sums;

static sr_status add_piece(void *data, const int32_t *rows, const int32_t *counts, int64_t length) {
  class_sums *sums = data;
  const sr__training *t = sums->training;
  int64_t features = t->rows->features;
  for (int64_t i = 0; i < length; i++) {
    double weight = (double)t->weight[rows[i]] * (counts ? counts[i] : 1);
    if (t->label[rows[i]] < 0 || !(weight > 0.0)) continue;
    const float *x = t->rows->x + rows[i] * features;
    int64_t at = t->label[rows[i]] * features;
    sums->labeled++;
    for (int64_t j = 0; j < features; j++) {
      if (!isfinite(x[j])) continue;
      sums->sum[at + j] += weight * (double)x[j];
      sums->weight[at + j] += weight;
    }
  }
  return SR_OK;
}

static sr_status fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                     sr__random *random, sr__member **member) {
  (void)random; /* the member's own stream, for learners that draw */
  sr_status status = SR_OK;
  int64_t size = input->encoder->classes * input->encoder->features;
  class_sums sums = {.training = input->training};
  sr__member *made = NULL;
  *member = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_NEW_ZERO(ctx, made->mean, size);
  SR_NEW_ZERO(ctx, sums.weight, size);
  sums.sum = made->mean;
  SR_TRY(sr__bag_read(ctx, bag, add_piece, &sums));
  if (sums.labeled == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "no row of a bag has a class and a weight above 0"));
  for (int64_t k = 0; k < size; k++)
    made->mean[k] = sums.weight[k] > 0.0 ? made->mean[k] / sums.weight[k] : NAN;
  *member = made;
  made = NULL;
cleanup:
  free_member(made);
  sr__free(ctx, sums.weight);
  return status;
}

/* ---- predicting ----------------------------------------------------------------------------- */

/* Mean distance over the features that both know; infinite where there is none. */
static double distance_to(const sr__encoder *encoder, const double *mean, const float *x) {
  double sum = 0.0;
  int64_t known = 0;
  for (int64_t j = 0; j < encoder->features; j++) {
    double gap = fabs((double)x[j] - mean[j]);
    if (!isfinite(gap)) continue;
    sum += pow(gap, encoder->power);
    known++;
  }
  return known ? sum / (double)known : INFINITY;
}

static bool class_seen(const sr__encoder *encoder, const double *mean) {
  bool seen = false;
  for (int64_t j = 0; j < encoder->features; j++) seen |= !isnan(mean[j]);
  return seen;
}

static sr_status predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                         const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  (void)ctx;
  if (answers.share)
    memset(answers.share, 0, (size_t)(picked.count * encoder->classes) * sizeof *answers.share);
  for (int64_t i = 0; i < picked.count; i++) {
    const float *x = rows->x + sr__picked_row(picked, i) * rows->features;
    int32_t nearest = -1;
    double least = INFINITY;
    for (int32_t c = 0; c < encoder->classes; c++) {
      const double *mean = member->mean + c * encoder->features;
      if (!class_seen(encoder, mean)) continue;
      double distance = distance_to(encoder, mean, x);
      if (nearest >= 0 && !(distance < least)) continue; /* ties go to the lower class */
      nearest = c;
      least = distance;
    }
    if (nearest < 0) nearest = 0;
    if (answers.vote) answers.vote[i] = nearest;
    if (answers.share) answers.share[i * encoder->classes + nearest] = 1.0f;
  }
  return SR_OK;
}

static const sr__encoded *training_encoded(const sr__training *training) { return training->rows; }
static int32_t classes(const sr__encoder *encoder) { return encoder->classes; }
static int64_t features(const sr__encoder *encoder) { return encoder->features; }

/* ---- storing: a loader believes no number that it reads -------------------------------------- */

static void save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)encoder->classes);
  sr__put_u64(bytes, (uint64_t)encoder->features);
  sr__put_f64(bytes, encoder->power);
}

static sr_status load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr_status status = SR_OK;
  *encoder = NULL;
  uint32_t stored_classes = sr__get_u32(reader);
  uint64_t stored_features = sr__get_u64(reader);
  double power = sr__get_f64(reader);
  if (stored_classes < 1 || stored_classes > INT32_MAX || stored_features < 1 ||
      stored_features > INT32_MAX || !(power >= 0.1 && power <= 10.0))
    sr__get_refuse(reader, "the encoder's numbers are wrong");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, *encoder, 1);
  **encoder = (sr__encoder){sr__allocator(reader->ctx), (int32_t)stored_classes,
                            (int64_t)stored_features, power};
cleanup:
  return status;
}

static void save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes) {
  for (int64_t k = 0; k < encoder->classes * encoder->features; k++)
    sr__put_f64(bytes, member->mean[k]);
}

static sr_status load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                             sr__member **member) {
  sr_status status = SR_OK;
  sr__member *made = NULL;
  int64_t size = encoder->classes * encoder->features, left = reader->size - reader->at;
  *member = NULL;
  if (size > left / (int64_t)sizeof(double)) sr__get_refuse(reader, "it ends too early");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  SR_NEW(reader->ctx, made->mean, size);
  for (int64_t k = 0; k < size; k++) made->mean[k] = sr__get_f64(reader);
  SR_TRY(reader->status);
  *member = made;
  made = NULL;
cleanup:
  free_member(made);
  return status;
}

const sr__learner sr__learner_means = {
    .about = {"means", "the class whose mean row is nearest", options, sizeof(means), NULL},
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
