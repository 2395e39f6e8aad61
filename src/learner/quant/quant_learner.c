/* QUANT as a learner. */
#include "learner/labeled_bag.h"
#include "learner/learner.h"
#include "learner/series/table_series.h"
#include "quant.h"

typedef struct quant_options {
  int64_t trees;
  double share;
} quant_options;

static const sr_option options_list[] = {
    SR_INTEGER(quant_options, trees, "2", 1, 1e6,
               "trees of a member; 100 members of 2 are the method's 200"),
    SR_REAL(quant_options, share, "0.1", 1e-6, 1, "share of the features that a split looks at"),
    SR_OPTIONS_END};

struct sr__encoder {
  sr__quant_encoder *quant;
};

struct sr__encoded {
  sr__quant_rows *rows;
};

struct sr__training {
  sr_allocator allocator;
  sr__encoded encoded;
  int32_t *label;
};

struct sr__member {
  sr__quant_member *quant;
};

/* ---- freeing ------------------------------------------------------------------------------ */

static void free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->quant->allocator;
  sr__quant_encoder_free(&encoder->quant);
  sr__release(&allocator, encoder);
}

static void free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  sr__quant_rows_free(&training->encoded.rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training);
}

static void free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->rows->allocator;
  sr__quant_rows_free(&rows->rows);
  sr__release(&allocator, rows);
}

static void free_member(sr__member *member) {
  if (!member) return;
  sr_allocator allocator = member->quant->allocator;
  sr__quant_member_free(&member->quant);
  sr__release(&allocator, member);
}

/* ---- preparing, fitting, asking ------------------------------------------------------------- */

/* Puts an object into a block of its own; the object is freed where that fails. */
static sr_status wrap_encoder(sr_context *ctx, sr__quant_encoder *quant, sr__encoder **encoder) {
  *encoder = sr__alloc_zero(ctx, 1, sizeof **encoder);
  if (!*encoder) {
    sr__quant_encoder_free(&quant);
    return SR_ERROR_MEMORY;
  }
  (*encoder)->quant = quant;
  return SR_OK;
}

static sr_status prepare(sr_context *ctx, const sr_table *table, const void *options,
                         sr__encoder **encoder, sr__training **training) {
  (void)options;
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  sr__quant_encoder *quant = NULL;
  sr__encoder *common = NULL;
  sr__training *made = NULL;
  sr__series_view series;
  *encoder = NULL;
  *training = NULL;
  SR_TRY(sr__refuse_weights(ctx, view, "quant"));
  SR_TRY(sr__table_series(ctx, table, view->channels, &series));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__copy_labels(ctx, view, &made->label));
  SR_TRY(sr__quant_prepare(ctx, &series, view->classes.count, &quant, &made->encoded.rows));
  SR_TRY(wrap_encoder(ctx, quant, &common));
  *encoder = common;
  *training = made;
  made = NULL;
cleanup:
  free_training(made);
  return status;
}

static sr_status encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                        int64_t first, int64_t count, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__quant_rows *made = NULL;
  sr__series_view series;
  *rows = NULL;
  SR_TRY(sr__table_series(ctx, table, encoder->quant->channels, &series));
  SR_TRY(sr__quant_encode(ctx, encoder->quant, &series, first, count, &made));
  SR_NEW_ZERO(ctx, *rows, 1);
  (*rows)->rows = made;
  made = NULL;
cleanup:
  if (made) sr__quant_rows_free(&made);
  return status;
}

static sr_status fit(sr_context *ctx, const sr__encoder *encoder, const sr__training *training,
                     const void *options, const sr__bag *bag, sr__random *random,
                     sr__member **member) {
  sr_status status = SR_OK;
  const quant_options *o = options;
  sr__quant_options wanted = {.trees = (int32_t)o->trees, .share = o->share};
  sr__labeled_bag labeled = {0};
  sr__quant_member *made = NULL;
  *member = NULL;
  SR_TRY(sr__labeled_bag_read(ctx, bag, training->label, NULL, &labeled));
  SR_TRY(sr__quant_fit(ctx, encoder->quant, training->encoded.rows, training->label, labeled.row,
                       labeled.count, labeled.length, &wanted, random, &made));
  SR_NEW_ZERO(ctx, *member, 1);
  (*member)->quant = made;
  made = NULL;
cleanup:
  sr__quant_member_free(&made);
  sr__labeled_bag_free(ctx, &labeled);
  return status;
}

static sr_status predict(sr_context *ctx, const sr__encoder *encoder, const sr__member *member,
                         const sr__encoded *rows, const int32_t *index, int64_t count,
                         int32_t *vote, float *proba) {
  return sr__quant_predict(ctx, encoder->quant, member->quant, rows->rows, index, count, vote,
                           proba);
}

static const sr__encoded *training_encoded(const sr__training *training) {
  return &training->encoded;
}
static int32_t classes(const sr__encoder *encoder) { return encoder->quant->classes; }
static int32_t channels(const sr__encoder *encoder) { return encoder->quant->channels; }
static int64_t features(const sr__encoder *encoder) {
  (void)encoder;
  return 0;
}

/* ---- storing ------------------------------------------------------------------------------ */

static void save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__quant_encoder_save(encoder->quant, false, bytes);
}

static sr_status load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr__quant_encoder *quant = NULL;
  *encoder = NULL;
  sr_status status = sr__quant_encoder_load(reader, &quant);
  return status == SR_OK ? wrap_encoder(reader->ctx, quant, encoder) : status;
}

static void save_member(const sr__encoder *encoder, const sr__member *member, sr__bytes *bytes) {
  sr__quant_member_save(encoder->quant, member->quant, bytes);
}

static sr_status load_member(sr__byte_reader *reader, const sr__encoder *encoder,
                             sr__member **member) {
  sr_status status = SR_OK;
  sr__quant_member *made = NULL;
  *member = NULL;
  SR_TRY(sr__quant_member_load(reader, encoder->quant, &made));
  SR_NEW_ZERO(reader->ctx, *member, 1);
  (*member)->quant = made;
  made = NULL;
cleanup:
  sr__quant_member_free(&made);
  return status;
}

const sr__learner sr__learner_quant = {
    .about = {"quant",
              "series: quantiles over dyadic intervals, extremely randomized trees on them",
              options_list, sizeof(quant_options), NULL},
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
