/* Lengths, running sums, and the features of an interval. */
#include "tsf_kernel.h"

/* ---- encoder ------------------------------------------------------------------------------ */

void sr__tsf_free_encoder(sr__encoder *encoder) {
  if (!encoder) return;
  sr_allocator allocator = encoder->allocator;
  sr__release(&allocator, encoder->length);
  sr__release(&allocator, encoder->first);
  sr__release(&allocator, encoder);
}

sr_status sr__tsf_encoder_new(sr_context *ctx, const sr__even_shape *shape, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__encoder *made = NULL;
  *encoder = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->classes = shape->classes;
  made->channels = shape->channels;
  SR_NEW(ctx, made->length, shape->channels);
  SR_NEW(ctx, made->first, shape->channels + 1);
  made->first[0] = 0;
  for (int32_t c = 0; c < shape->channels; c++) {
    made->length[c] = shape->length[c];
    made->first[c + 1] = made->first[c] + shape->length[c];
  }
  *encoder = made;
  made = NULL;
cleanup:
  sr__tsf_free_encoder(made);
  return status;
}

void sr__tsf_save_encoder(const sr__encoder *encoder, sr__bytes *bytes) {
  sr__even_shape_save((sr__even_shape){encoder->classes, encoder->channels, encoder->length},
                      bytes);
}

sr_status sr__tsf_load_encoder(sr__byte_reader *reader, sr__encoder **encoder) {
  sr_status status = SR_OK;
  sr__even_shape shape = {0};
  *encoder = NULL;
  SR_TRY(sr__even_shape_load(reader, &shape));
  SR_TRY(sr__tsf_encoder_new(reader->ctx, &shape, encoder));
cleanup:
  sr__free(reader->ctx, shape.length);
  return status;
}

/* ---- rows --------------------------------------------------------------------------------- */

void sr__tsf_free_encoded(sr__encoded *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__release(&allocator, rows->memory);
  sr__release(&allocator, rows);
}

typedef struct sum_work {
  const sr__encoder *encoder;
  const sr__series_view *series;
  int64_t first;
  sr__encoded *rows;
} sum_work;

enum { EIGHT = 8, CHUNK_EIGHTS = 32, ALIGNED = 64 };

static int64_t eights_of(int64_t rows) { return (rows + EIGHT - 1) / EIGHT; }

/* Eight rows; the last one again where there are fewer. */
static void sum_eight(const sum_work *work, int64_t eight, float *even) {
  const sr__encoder *encoder = work->encoder;
  int64_t width = work->rows->width, tile = eight * EIGHT / width, lane = eight * EIGHT % width;
  for (int32_t c = 0; c < encoder->channels; c++) {
    for (int64_t j = 0; j < EIGHT; j++) {
      int64_t row = eight * EIGHT + j;
      if (row >= work->rows->count) row = work->rows->count - 1;
      sr__even_series(work->series, work->first + row, c, encoder->length[c], EIGHT, even + j);
    }
    int64_t place = tile * sr__tsf_places(encoder) + encoder->first[c] + c;
    sr__tsf_kernel_now()->sums(even, encoder->length[c], width,
                               work->rows->sum + 3 * width * place + lane,
                               work->rows->center + width * (tile * encoder->channels + c) + lane);
  }
}

static sr_status sum_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)slot;
  const sum_work *work = data;
  sr_status status = SR_OK;
  float *even = NULL;
  int32_t longest = 1;
  for (int32_t c = 0; c < work->encoder->channels; c++)
    if (work->encoder->length[c] > longest) longest = work->encoder->length[c];
  SR_NEW(ctx, even, (int64_t)longest * EIGHT);
  for (int64_t i = chunk * CHUNK_EIGHTS; i < (chunk + 1) * CHUNK_EIGHTS; i++) {
    if (i >= eights_of(work->rows->count)) break;
    SR_TRY(sr__check_interrupt(ctx));
    sum_eight(work, i, even);
  }
cleanup:
  sr__free(ctx, even);
  return status;
}

sr_status sr__tsf_encode(sr_context *ctx, const sr__encoder *encoder, const sr__series_view *series,
                         int64_t first, int64_t count, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__encoded *made = NULL;
  int64_t eights = eights_of(count), places = sr__tsf_places(encoder);
  int64_t width = EIGHT * eights < SR__TSF_TILE ? EIGHT * eights : SR__TSF_TILE;
  int64_t tiles = width ? (EIGHT * eights + width - 1) / width : 0;
  int64_t each = width * (3 * places + encoder->channels);
  *rows = NULL;
  if (series->channels != encoder->channels)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the rows have %d series each; the model was trained on %d",
                    series->channels, encoder->channels));
  if (each && tiles > INT64_MAX / 16 / each)
    SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "cannot hold %lld rows of %lld points",
                    (long long)count, (long long)places));
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->count = count;
  made->width = width;
  made->memory = sr__alloc(ctx, tiles * each + ALIGNED / 8, sizeof(double));
  if (!made->memory) SR_TRY(sr_context_error(ctx).status);
  made->sum = (double *)made->memory +
              (ALIGNED - (uintptr_t)made->memory % ALIGNED) % ALIGNED / sizeof(double);
  made->center = made->sum + tiles * places * 3 * width;
  sum_work work = {encoder, series, first, made};
  SR_TRY(sr__parallel_for(ctx, (eights + CHUNK_EIGHTS - 1) / CHUNK_EIGHTS, sum_chunk, &work));
  *rows = made;
  made = NULL;
cleanup:
  sr__tsf_free_encoded(made);
  return status;
}

sr_status sr__tsf_prepare(sr_context *ctx, const sr__series_view *series, int32_t classes,
                          sr__encoder **encoder, sr__encoded **rows) {
  sr_status status = SR_OK;
  sr__even_shape shape = {0};
  sr__encoder *made = NULL;
  *encoder = NULL;
  *rows = NULL;
  SR_TRY(sr__even_shape_find(ctx, series, classes, &shape));
  SR_TRY(sr__tsf_encoder_new(ctx, &shape, &made));
  SR_TRY(sr__tsf_encode(ctx, made, series, 0, series->rows, rows));
  *encoder = made;
  made = NULL;
cleanup:
  sr__free(ctx, shape.length);
  sr__tsf_free_encoder(made);
  return status;
}

/* ---- features ----------------------------------------------------------------------------- */

/* With a the sum of x over w points, the slope on u = 0 .. w - 1 is
 * (sum u x - (w - 1) / 2 a) 12 / (w (w^2 - 1)). */
sr__tsf_reader sr__tsf_reader_of(const sr__encoder *encoder, const sr__tsf_interval *interval,
                                 int32_t kind) {
  int64_t first = encoder->first[interval->channel] + interval->channel;
  sr__tsf_reader reader = {.channel = interval->channel,
                           .kind = kind,
                           .start = first + interval->start,
                           .end = first + interval->end};
  double w = interval->end - interval->start;
  reader.by_value = 1.0 / w;
  if (kind == 2) {
    reader.by_moment = w > 1.0 ? 12.0 / (w * (w * w - 1.0)) : 0.0;
    reader.by_value = -reader.by_moment * (interval->start + 0.5 * (w - 1.0));
  }
  return reader;
}

void sr__tsf_features(const sr__encoder *encoder, const sr__encoded *rows, sr__tsf_lanes lanes,
                      sr__tsf_asked asked, float *feature) {
  int64_t width = rows->width, lane = lanes.first * EIGHT;
  const double *sum = rows->sum + lanes.tile * sr__tsf_places(encoder) * 3 * width + lane;
  const double *center = rows->center + lanes.tile * encoder->channels * width + lane;
  sr__tsf_kernel_now()->features(sum, center, width, lanes.eights, asked, feature);
}
