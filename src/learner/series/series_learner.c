#include "series_learner.h"

#include <math.h>

#include "learner/labeled_bag.h"
#include "table_series.h"
#include "unit_sets.h"

struct sr__encoder {
  sr_allocator allocator;
  int32_t classes, channels;
  int64_t length; /* of the longest training series: kernels are drawn for it */
  bool normalize;
};

struct sr__encoded {
  sr_allocator allocator;
  sr__series_rows *rows;
};

struct sr__training {
  sr_allocator allocator;
  sr__encoded *rows;
  int32_t *label;
  float *weight; /* NULL: all 1 */
};

struct sr__member {
  sr_allocator allocator;
  sr__series_ridge *model;
};

/* ---- freeing ------------------------------------------------------------------------------ */

void sr__series_learner_free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
  sr__release(&allocator, encoder);
}

void sr__series_learner_free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__series_rows_free(rows->rows);
  sr__release(&allocator, rows);
}

void sr__series_learner_free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  sr__series_learner_free_encoded(training->rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training->weight);
  sr__release(&allocator, training);
}

void sr__series_learner_free_member(sr__member *member) {
  if (!member) return;
  sr_allocator allocator = member->allocator;
  sr__series_ridge_free(member->model);
  sr__release(&allocator, member);
}

/* ---- rows --------------------------------------------------------------------------------- */

sr_status sr__series_learner_encode(sr_context *ctx, const sr__encoder *encoder,
                                    const sr_table *table, int64_t first, int64_t count,
                                    sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  sr__series_view series;
  *rows = NULL;
  SR_TRY(sr__table_series(ctx, table, encoder->channels, &series));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__series_prepare(ctx, &series, first, count, encoder->normalize, &made->rows));
  *rows = made;
  made = NULL;
cleanup:
  sr__series_learner_free_encoded(made);
  return status;
}

/* ---- preparing and fitting ------------------------------------------------------------------ */

static const sr__series_ridge_options *ridge_of(const sr__series_kind *kind, const void *options) {
  return (const sr__series_ridge_options *)((const char *)options + kind->ridge_at);
}

void sr__series_learner_memory(const sr__series_kind *kind, const void *options,
                               const sr__fit_size *of, sr__fit_memory *memory) {
  enum { BY_ROWS = 1, WIDEST_TILE = 1024, INDEX = 64 /* bytes a row: lists of the bag, blocks */ };
  const sr_table_view *view = of->view;
  const sr__series_ridge_options *o = ridge_of(kind, options);
  int64_t features = kind->features(options);
  int32_t targets = view->classes.count > 2 ? view->classes.count : 1;
  sr__linear_size size = {.rows = view->rows,
                          .features = features,
                          .widest = WIDEST_TILE,
                          .largest_set = o->judged_by == BY_ROWS ? 0 : of->largest_set,
                          .targets = targets};
  bool kept = false;
  int64_t ridge = sr__linear_bytes(&size, o->memory * 1000000 / of->at_once, &kept);
  *memory =
      (sr__fit_memory){.common = 4.0 * (double)view->series_offset[view->rows * view->channels],
                       .each = (double)ridge + (double)INDEX * (double)view->rows,
                       .fitted = 4.0 * (double)features * targets,
                       .word = kept ? "features are kept" : "features are made twice"};
  memory->preparing = memory->common;
}

sr_status sr__series_learner_prepare(sr_context *ctx, const sr_table *table,
                                     const sr__series_kind *kind, sr__encoder **encoder,
                                     sr__training **training) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  sr__encoder *common = NULL;
  sr__training *made = NULL;
  *encoder = NULL;
  *training = NULL;
  SR_NEW_ZERO(ctx, common, 1);
  common->allocator = sr__allocator(ctx);
  common->classes = view->classes.count;
  common->channels = view->channels;
  common->normalize = kind->normalize;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__copy_labels(ctx, view, &made->label));
  SR_TRY(sr__copy_weights(ctx, view, &made->weight));
  SR_TRY(sr__series_learner_encode(ctx, common, table, 0, view->rows, &made->rows));
  common->length = made->rows->rows->longest;
  *encoder = common;
  *training = made;
  common = NULL;
  made = NULL;
cleanup:
  sr__series_learner_free_training(made);
  sr__series_learner_free_encoder(common);
  return status;
}

sr_status sr__series_learner_fit(sr_context *ctx, const sr__fit_input *input,
                                 const sr__series_kind *kind, const sr__bag *bag,
                                 sr__random *random, sr__member **member) {
  enum { BY_ROWS = 1 };
  sr_status status = SR_OK;
  const sr__training *training = input->training;
  const sr__series_ridge_options *o = ridge_of(kind, input->options);
  sr__labeled_bag labeled = {0};
  sr__unit_sets sets = {0};
  sr__member *made = NULL;
  *member = NULL;
  SR_TRY(sr__labeled_bag_read(ctx, bag, training->label, training->weight, &labeled));
  if (o->judged_by != BY_ROWS)
    SR_TRY(sr__unit_sets_new(ctx, &bag->units, labeled.row, labeled.length, &sets));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  sr__series_cases cases = {.rows = training->rows->rows,
                            .row = labeled.row,
                            .count = labeled.length,
                            .label = labeled.label,
                            .weight = labeled.weight,
                            .classes = input->encoder->classes,
                            .left_out = sets.left_out.sets > 0 ? &sets.left_out : NULL};
  sr__series_recipe recipe = {.transform = kind->transform,
                              .options = input->options,
                              .length = input->encoder->length,
                              .ridge = {.memory = o->memory * 1000000 / input->at_once}};
  SR_TRY(sr__series_ridge_fit(ctx, &recipe, &cases, random, NULL, &made->model));
  *member = made;
  made = NULL;
cleanup:
  sr__series_learner_free_member(made);
  sr__unit_sets_free(ctx, &sets);
  sr__labeled_bag_free(ctx, &labeled);
  return status;
}

sr_status sr__series_learner_predict(sr_context *ctx, const sr__encoder *encoder,
                                     const sr__member *member, const sr__encoded *rows,
                                     sr__picked picked, sr__answers answers) {
  (void)encoder;
  return sr__series_ridge_predict(ctx, member->model, rows->rows, picked, answers);
}

const sr__encoded *sr__series_learner_training_encoded(const sr__training *training) {
  return training->rows;
}
int32_t sr__series_learner_classes(const sr__encoder *encoder) { return encoder->classes; }
int64_t sr__series_learner_features(const sr__encoder *encoder) {
  (void)encoder;
  return 0;
}
int32_t sr__series_learner_channels(const sr__encoder *encoder) { return encoder->channels; }

bool sr__series_learner_own_judgment(const sr__member *member, sr__own_judgment *judgment) {
  const sr__linear_classes *classes = member->model->classes;
  *judgment = (sr__own_judgment){.judged = classes->judged,
                                 .wrong = classes->wrong,
                                 .sets = classes->sets,
                                 .penalty = classes->model ? classes->model->penalty : NAN,
                                 .temperature = 1.0 / classes->sharpness};
  return classes->judged > 0;
}

/* ---- storing ------------------------------------------------------------------------------ */

void sr__series_learner_save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)encoder->classes);
  sr__put_u32(bytes, (uint32_t)encoder->channels);
  sr__put_u64(bytes, (uint64_t)encoder->length);
  sr__put_u8(bytes, encoder->normalize);
}

sr_status sr__series_learner_load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  *encoder = NULL;
  uint32_t classes = sr__get_u32(reader), channels = sr__get_u32(reader);
  uint64_t length = sr__get_u64(reader);
  uint8_t normalize = sr__get_u8(reader);
  if (classes < 1 || classes > INT32_MAX || channels < 1 || channels > SR__MAX_CHANNELS ||
      length < 1 || length > SR__MAX_SERIES_LENGTH || normalize > 1)
    sr__get_refuse(reader, "classes, channels or length of the series are out of range");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, made, 1);
  *made = (sr__encoder){.allocator = sr__allocator(reader->ctx),
                        .classes = (int32_t)classes,
                        .channels = (int32_t)channels,
                        .length = (int64_t)length,
                        .normalize = normalize != 0};
  *encoder = made;
cleanup:
  return status;
}

void sr__series_learner_save_member(const sr__encoder *encoder, const sr__member *member,
                                    sr__bytes *bytes) {
  (void)encoder;
  sr__series_ridge_save(member->model, bytes);
}

sr_status sr__series_learner_load(sr__byte_reader *reader, const sr__encoder *encoder,
                                  const sr__series_kind *kind, sr__member **member) {
  sr_status status = SR_OK;
  sr__member *made = NULL;
  *member = NULL;
  SR_NEW_ZERO(reader->ctx, made, 1);
  made->allocator = sr__allocator(reader->ctx);
  SR_TRY(sr__series_ridge_load(reader, kind->transform, encoder->channels, encoder->classes,
                               &made->model));
  *member = made;
  made = NULL;
cleanup:
  sr__series_learner_free_member(made);
  return status;
}
