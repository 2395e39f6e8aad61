/* Lengths, running sums, and the features of an interval. */
#include <math.h>

#include "tsf.h"

/* ---- encoder ------------------------------------------------------------------------------ */

void sr__tsf_encoder_free(sr__tsf_encoder **encoder) {
  if (!*encoder) return;
  sr_allocator allocator = (*encoder)->allocator;
  sr__release(&allocator, (*encoder)->length);
  sr__release(&allocator, (*encoder)->first);
  sr__release(&allocator, *encoder);
  *encoder = NULL;
}

sr_status sr__tsf_encoder_new(sr_context *ctx, const int32_t *length, int32_t channels,
                              int32_t classes, sr__tsf_encoder **encoder) {
  sr_status status = SR_OK;
  sr__tsf_encoder *made = NULL;
  *encoder = NULL;
  if (classes < 1 || classes > SR__TSF_MAX_CLASSES)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "there are %d classes; expected 1 to %d", classes,
                    SR__TSF_MAX_CLASSES));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->classes = classes;
  made->channels = channels;
  SR_NEW(ctx, made->length, channels);
  SR_NEW(ctx, made->first, channels + 1);
  made->first[0] = 0;
  for (int32_t c = 0; c < channels; c++) {
    made->length[c] = length[c];
    made->first[c + 1] = made->first[c] + length[c];
  }
  *encoder = made;
  made = NULL;
cleanup:
  sr__tsf_encoder_free(&made);
  return status;
}

void sr__tsf_encoder_save(const sr__tsf_encoder *encoder, sr__bytes *bytes) {
  sr__put_u32(bytes, (uint32_t)encoder->classes);
  sr__put_u64(bytes, (uint64_t)encoder->channels);
  for (int32_t c = 0; c < encoder->channels; c++) sr__put_u32(bytes, (uint32_t)encoder->length[c]);
}

sr_status sr__tsf_encoder_load(sr__byte_reader *reader, sr__tsf_encoder **encoder) {
  sr_status status = SR_OK;
  int32_t *length = NULL;
  *encoder = NULL;
  uint32_t classes = sr__get_u32(reader);
  int64_t channels = sr__get_count(reader, 4);
  if (classes < 1 || classes > SR__TSF_MAX_CLASSES)
    sr__get_refuse(reader, "the number of classes is wrong");
  if (channels < 1 || channels > SR__MAX_EVEN_CHANNELS)
    sr__get_refuse(reader, "the number of series a row is wrong");
  SR_TRY(reader->status);
  SR_NEW(reader->ctx, length, channels);
  for (int64_t c = 0; c < channels; c++) {
    uint32_t here = sr__get_u32(reader);
    if (here < 1 || here > SR__MAX_EVEN_LENGTH)
      sr__get_refuse(reader, "the length of a series is wrong");
    length[c] = (int32_t)here;
  }
  SR_TRY(reader->status);
  SR_TRY(sr__tsf_encoder_new(reader->ctx, length, (int32_t)channels, (int32_t)classes, encoder));
cleanup:
  sr__free(reader->ctx, length);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

void sr__tsf_rows_free(sr__tsf_rows **rows) {
  if (!*rows) return;
  sr_allocator allocator = (*rows)->allocator;
  sr__release(&allocator, (*rows)->sum);
  sr__release(&allocator, (*rows)->center);
  sr__release(&allocator, *rows);
  *rows = NULL;
}

static double running_sums(const float *x, int32_t length, sr__tsf_sum *sum) {
  double center = 0.0;
  for (int32_t t = 0; t < length; t++) center += x[t];
  center /= length;
  sum[0] = (sr__tsf_sum){0.0, 0.0, 0.0};
  for (int32_t t = 0; t < length; t++) {
    double value = x[t] - center;
    sum[t + 1] = (sr__tsf_sum){sum[t].value + value, sum[t].square + value * value,
                               sum[t].moment + t * value};
  }
  return center;
}

typedef struct sum_work {
  const sr__tsf_encoder *encoder;
  const sr__ragged *series;
  int64_t first;
  sr__tsf_rows *rows;
} sum_work;

enum { CHUNK_ROWS = 256 };

static sr_status sum_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)slot;
  const sum_work *work = data;
  const sr__tsf_encoder *encoder = work->encoder;
  sr_status status = SR_OK;
  float *even = NULL;
  int32_t longest = 1;
  for (int32_t c = 0; c < encoder->channels; c++)
    if (encoder->length[c] > longest) longest = encoder->length[c];
  SR_NEW(ctx, even, longest);
  for (int64_t i = chunk * CHUNK_ROWS; i < (chunk + 1) * CHUNK_ROWS && i < work->rows->count; i++) {
    SR_TRY(sr__check_interrupt(ctx));
    for (int32_t c = 0; c < encoder->channels; c++) {
      int64_t s = (work->first + i) * encoder->channels + c;
      sr__even_series(work->series->values + work->series->offset[s],
                      work->series->offset[s + 1] - work->series->offset[s], encoder->length[c], 1,
                      even);
      work->rows->center[i * encoder->channels + c] =
          running_sums(even, encoder->length[c],
                       work->rows->sum + i * sr__tsf_sums_of_row(encoder) + encoder->first[c] + c);
    }
  }
cleanup:
  sr__free(ctx, even);
  return status;
}

sr_status sr__tsf_encode(sr_context *ctx, const sr__tsf_encoder *encoder, const sr__ragged *series,
                         int64_t first, int64_t count, sr__tsf_rows **rows) {
  sr_status status = SR_OK;
  sr__tsf_rows *made = NULL;
  int64_t each = sr__tsf_sums_of_row(encoder);
  *rows = NULL;
  if (series->channels != encoder->channels)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the rows have %d series each; the model was trained on %d",
                    series->channels, encoder->channels));
  if (count > INT64_MAX / (int64_t)sizeof(sr__tsf_sum) / each)
    SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "cannot hold %lld rows of %lld points",
                    (long long)count, (long long)each));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->count = count;
  SR_NEW(ctx, made->sum, count * each);
  SR_NEW(ctx, made->center, count * encoder->channels);
  sum_work work = {encoder, series, first, made};
  SR_TRY(sr__parallel_for(ctx, (count + CHUNK_ROWS - 1) / CHUNK_ROWS, sum_chunk, &work));
  *rows = made;
  made = NULL;
cleanup:
  sr__tsf_rows_free(&made);
  return status;
}

sr_status sr__tsf_prepare(sr_context *ctx, const sr__ragged *series, int32_t classes,
                          sr__tsf_encoder **encoder, sr__tsf_rows **rows) {
  sr_status status = SR_OK;
  int32_t *length = NULL;
  sr__tsf_encoder *made = NULL;
  *encoder = NULL;
  *rows = NULL;
  SR_NEW(ctx, length, series->channels > 0 ? series->channels : 1);
  SR_TRY(sr__even_lengths(ctx, series, length));
  SR_TRY(sr__tsf_encoder_new(ctx, length, series->channels, classes, &made));
  SR_TRY(sr__tsf_encode(ctx, made, series, 0, series->rows, rows));
  *encoder = made;
  made = NULL;
cleanup:
  sr__free(ctx, length);
  sr__tsf_encoder_free(&made);
  return status;
}
