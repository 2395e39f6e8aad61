#include "matrix.h"

#include <math.h>

#include "data/dictionary.h"
#include "learner/labeled_bag.h"

/* ---- freeing ------------------------------------------------------------------------------ */

void sr__matrix_free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
  for (int64_t j = 0; encoder->names && j < encoder->features; j++)
    sr__dictionary_free(&allocator, &encoder->names[j]);
  sr__release(&allocator, encoder->names);
  sr__release(&allocator, encoder->first);
  sr__release(&allocator, encoder);
}

void sr__matrix_free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__release(&allocator, rows->x);
  sr__release(&allocator, rows);
}

void sr__matrix_free_training(sr__training *training) {
  if (!training) return;
  sr_allocator allocator = training->allocator;
  sr__matrix_free_encoded(training->rows);
  sr__release(&allocator, training->label);
  sr__release(&allocator, training->weight);
  sr__release(&allocator, training);
}

/* ---- rows --------------------------------------------------------------------------------- */

typedef struct encode_work {
  const sr__encoder *encoder;
  const sr_table_view *view;
  int32_t **code; /* a categorical feature: the model's code of each of the table's */
  int64_t first, chunk;
  sr__encoded *rows;
} encode_work;

static void encode_value(const encode_work *work, int64_t j, float value, float *out) {
  int32_t words = work->encoder->names[j].count;
  if (words == 0) {
    out[0] = isfinite(value) ? value : NAN;
    return;
  }
  bool valid = value >= 0.0f && value < (float)work->view->categories[j].count;
  int32_t code = valid ? work->code[j][(int32_t)value] : -1;
  if (work->encoder->form == SR__WORD_CODE) {
    out[0] = code < 0 ? NAN : (float)code;
    return;
  }
  for (int32_t c = 0; c < words; c++) out[c] = code < 0 ? NAN : (float)(c == code);
}

static sr_status encode_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)ctx;
  (void)slot;
  const encode_work *work = data;
  int64_t begin = chunk * work->chunk, end = begin + work->chunk;
  if (end > work->rows->count) end = work->rows->count;
  for (int64_t j = 0; j < work->encoder->features; j++) {
    const float *x = work->view->x + j * work->view->rows + work->first;
    float *out = work->rows->x + work->encoder->first[j];
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
  sr__matrix_free_encoded(made);
  return status;
}

sr_status sr__matrix_encode(sr_context *ctx, const sr__encoder *encoder, const sr_table *table,
                            int64_t first, int64_t count, sr__encoded **rows) {
  enum { GRAIN = 1024 };
  sr_status status = SR_OK;
  encode_work work = {.encoder = encoder, .view = sr_table_get(table), .first = first};
  *rows = NULL;
  SR_TRY(sr__check_feature_count(ctx, work.view, encoder->features));
  SR_NEW_ZERO(ctx, work.code, encoder->features);
  for (int64_t j = 0; j < encoder->features; j++)
    SR_TRY(sr__feature_match(ctx, work.view, j, encoder->names[j], &work.code[j]));
  SR_TRY(new_rows(ctx, count, encoder->columns, &work.rows));
  work.chunk = sr__chunk_size(count, GRAIN);
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(count, GRAIN), encode_chunk, &work));
  *rows = work.rows;
  work.rows = NULL;
cleanup:
  for (int64_t j = 0; work.code && j < encoder->features; j++) sr__free(ctx, work.code[j]);
  sr__free(ctx, work.code);
  sr__matrix_free_encoded(work.rows);
  return status;
}

sr_status sr__matrix_copy_encoded(sr_context *ctx, const sr__encoder *encoder,
                                  const sr__encoded *from, sr__encoded **copy) {
  (void)encoder;
  *copy = NULL;
  sr_status status = new_rows(ctx, from->count, from->columns, copy);
  if (status == SR_OK)
    memcpy((*copy)->x, from->x, (size_t)(from->count * from->columns) * sizeof *from->x);
  return status;
}

void sr__matrix_copy_feature(const sr__encoder *encoder, const sr__encoded *from, int64_t feature,
                             const int32_t *source, sr__encoded *to) {
  int64_t first = encoder->first[feature];
  size_t bytes = (size_t)(encoder->first[feature + 1] - first) * sizeof *to->x;
  for (int64_t i = 0; i < to->count; i++)
    memcpy(to->x + i * to->columns + first,
           from->x + (source ? source[i] : i) * from->columns + first, bytes);
}

const sr__encoded *sr__matrix_training_encoded(const sr__training *training) {
  return training->rows;
}
int32_t sr__matrix_classes(const sr__encoder *encoder) { return encoder->classes; }
int64_t sr__matrix_features(const sr__encoder *encoder) { return encoder->features; }

/* ---- preparing ---------------------------------------------------------------------------- */

static sr_status new_encoder(sr_context *ctx, int64_t features, int32_t classes, sr__word_form form,
                             sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->classes = classes;
  made->form = form;
  SR_NEW_ZERO(ctx, made->names, features);
  made->features = features;
  SR_NEW_ZERO(ctx, made->first, features + 1);
  *encoder = made;
  made = NULL;
cleanup:
  sr__matrix_free_encoder(made);
  return status;
}

static void place_columns(sr__encoder *encoder) {
  for (int64_t j = 0; j < encoder->features; j++) {
    bool spread = encoder->form == SR__WORD_COLUMNS && encoder->names[j].count > 0;
    encoder->first[j + 1] = encoder->first[j] + (spread ? encoder->names[j].count : 1);
  }
  encoder->columns = encoder->first[encoder->features];
}

sr_status sr__matrix_prepare(sr_context *ctx, const sr_table *table, sr__word_form form,
                             sr__encoder **encoder, sr__training **training) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(table);
  sr__encoder *common = NULL;
  sr__training *made = NULL;
  *encoder = NULL;
  *training = NULL;
  SR_TRY(new_encoder(ctx, view->features, view->classes.count, form, &common));
  for (int64_t j = 0; j < view->features; j++)
    if (sr__categories_of(view, j).count > 0)
      SR_TRY(sr__dictionary_copy(ctx, view->categories[j], &common->names[j]));
  place_columns(common);
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__copy_labels(ctx, view, &made->label));
  SR_TRY(sr__copy_weights(ctx, view, &made->weight));
  SR_TRY(sr__matrix_encode(ctx, common, table, 0, view->rows, &made->rows));
  *encoder = common;
  *training = made;
  common = NULL;
  made = NULL;
cleanup:
  sr__matrix_free_training(made);
  sr__matrix_free_encoder(common);
  return status;
}

/* ---- storing ------------------------------------------------------------------------------ */

void sr__matrix_save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)encoder->classes);
  sr__put_u64(bytes, (uint64_t)encoder->features);
  for (int64_t j = 0; j < encoder->features; j++) sr__dictionary_save(encoder->names[j], bytes);
}

sr_status sr__matrix_load_encoder(sr__byte_reader *reader, sr__word_form form,
                                  uint32_t most_classes, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  *encoder = NULL;
  uint32_t classes = sr__get_u32(reader);
  if (classes < 1 || classes > most_classes)
    sr__get_refuse(reader, "the number of classes is wrong");
  int64_t features = sr__get_count(reader, sizeof(uint64_t));
  if (reader->status == SR_OK && (features < 1 || features > INT32_MAX))
    sr__get_refuse(reader, "the number of features is wrong");
  SR_TRY(reader->status);
  SR_TRY(new_encoder(reader->ctx, features, (int32_t)classes, form, &made));
  for (int64_t j = 0; j < features; j++) SR_TRY(sr__dictionary_load(reader, &made->names[j]));
  place_columns(made);
  *encoder = made;
  made = NULL;
cleanup:
  sr__matrix_free_encoder(made);
  return status;
}
