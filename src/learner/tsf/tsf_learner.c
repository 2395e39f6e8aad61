/* Time Series Forest as a learner. Its encoder, encoded rows and member are those of tsf.h. */
#include "learner/labeled_bag.h"
#include "learner/learner.h"
#include "learner/series/table_series.h"
#include "tsf.h"

typedef struct tsf_options {
  int64_t intervals;
} tsf_options;

static const sr_option options_list[] = {
    SR_INTEGER(tsf_options, intervals, "0", 0, 1e6,
               "random intervals of a tree; 0 is the root of the number of values"),
    SR_OPTIONS_END};

struct sr__training {
  sr_allocator allocator;
  sr__tsf_rows *rows;
  int32_t *label;
};

static const sr__tsf_encoder *own_encoder(const sr__encoder *encoder) {
  return (const sr__tsf_encoder *)encoder;
}
static const sr__tsf_rows *own_rows(const sr__encoded *rows) { return (const sr__tsf_rows *)rows; }
static const sr__tsf_member *own_member(const sr__member *member) {
  return (const sr__tsf_member *)member;
}

static void free_encoder(sr__encoder *encoder) {
  sr__tsf_encoder_free(&(sr__tsf_encoder *){(sr__tsf_encoder *)encoder});
}
static void free_encoded(sr__encoded *rows) {
  sr__tsf_rows_free(&(sr__tsf_rows *){(sr__tsf_rows *)rows});
}
static void free_member(sr__member *member) {
  sr__tsf_member_free(&(sr__tsf_member *){(sr__tsf_member *)member});
}
static void free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  sr__tsf_rows_free(&training->rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training);
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  sr__tsf_encoder *common = NULL;
  sr__training *made = NULL;
  sr__series_view series;
  *encoder = NULL;
  *training = NULL;
  SR_TRY(sr__refuse_weights(ctx, view, "tsf"));
  SR_TRY(sr__table_series(ctx, table, view->channels, &series));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__copy_labels(ctx, view, &made->label));
  SR_TRY(sr__tsf_prepare(ctx, &series, view->classes.count, &common, &made->rows));
  *encoder = (sr__encoder *)common;
  *training = made;
  made = NULL;
cleanup:
  free_training(made);
  return status;
}

static sr_status encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                        int64_t first, int64_t count, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__tsf_rows *made = NULL;
  sr__series_view series;
  *rows = NULL;
  SR_TRY(sr__table_series(ctx, table, own_encoder(encoder)->channels, &series));
  SR_TRY(sr__tsf_encode(ctx, own_encoder(encoder), &series, first, count, &made));
  *rows = (sr__encoded *)made;
cleanup:
  return status;
}

static sr_status fit(sr_context *ctx, const sr__fit_input *input, const sr__bag *bag,
                     sr__random *random, sr__member **member) {
  sr_status status = SR_OK;
  const tsf_options *o = input->options;
  sr__labeled_bag labeled = {0};
  sr__tsf_member *made = NULL;
  *member = NULL;
  SR_TRY(sr__labeled_bag_read(ctx, bag, input->training->label, NULL, &labeled));
  SR_TRY(sr__tsf_fit(ctx, own_encoder(input->encoder), input->training->rows,
                     input->training->label, labeled.row, labeled.count, labeled.length,
                     (int32_t)o->intervals, random, &made));
  *member = (sr__member *)made;
cleanup:
  sr__labeled_bag_free(ctx, &labeled);
  return status;
}

static sr_status predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                         const sr__encoded *rows, sr__picked picked, sr__answers answers) {
  return sr__tsf_predict(ctx, own_encoder(encoder), own_member(member), own_rows(rows), picked,
                         answers);
}

static const sr__encoded *training_encoded(const sr__training *training) {
  return (const sr__encoded *)training->rows;
}
static int32_t classes(const sr__encoder *encoder) { return own_encoder(encoder)->classes; }
static int32_t channels(const sr__encoder *encoder) { return own_encoder(encoder)->channels; }
static int64_t features(const sr__encoder *encoder) {
  (void)encoder;
  return 0;
}

static void save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__tsf_encoder_save(own_encoder(encoder), bytes);
}

static sr_status load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr__tsf_encoder *made = NULL;
  sr_status status = sr__tsf_encoder_load(reader, &made);
  *encoder = (sr__encoder *)made;
  return status;
}

static void save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes) {
  sr__tsf_member_save(own_encoder(encoder), own_member(member), bytes);
}

static sr_status load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                             sr__member **member) {
  sr__tsf_member *made = NULL;
  sr_status status = sr__tsf_member_load(reader, own_encoder(encoder), &made);
  *member = (sr__member *)made;
  return status;
}

const sr__learner sr__learner_tsf = {
    .about = {"tsf", "series: a tree on means, deviations and slopes of random intervals",
              options_list, sizeof(tsf_options), NULL},
    .flags = SR_LEARNER_TAKES_SERIES,
    .prepare = prepare,
    .training_encoded = training_encoded,
    .fit = fit,
    .encode = encode,
    .predict = predict,
    .classes = classes,
    .features = features,
    .channels = channels,
    .save_encoder = save_encoder,
    .load_encoder = load_encoder,
    .save_member = save_member,
    .load_member = load_member,
    .free_encoder = free_encoder,
    .free_training = free_training,
    .free_encoded = free_encoded,
    .free_member = free_member,
};
