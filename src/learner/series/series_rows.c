#include "series_rows.h"

#include <math.h>

void sr__series_rows_free(sr__series_rows *rows) {
  if (!rows) return;
  sr_allocator allocator = rows->allocator;
  sr__release(&allocator, rows->begin);
  sr__release(&allocator, rows->values);
  sr__release(&allocator, rows);
}

float sr__series_peak(const sr__series_rows *rows, int64_t r) {
  int32_t length = sr__series_length(rows, r);
  const float *x = rows->values + rows->begin[r];
  float peak = 0.0f;
  for (int32_t t = 0; t < length; t++) {
    float sum = 0.0f;
    for (int64_t c = 0; c < rows->channels; c++) sum += fabsf(x[c * length + t]);
    if (sum > peak) peak = sum;
  }
  return peak;
}

/* Steps up to the last present value of any channel; at least 1. */
static int64_t present_length(const sr__series_view *view, int64_t r) {
  int64_t length = 1;
  for (int32_t c = 0; c < view->channels; c++) {
    int64_t at = r * view->channels + c;
    const float *x = view->values + view->offset[at];
    int64_t t = view->offset[at + 1] - view->offset[at];
    while (t > length && !isfinite(x[t - 1])) t--;
    if (t > length) length = t;
  }
  return length;
}

/* `given` values of a channel become `length` of them; what is missing is filled in. */
static void fill_channel(const float *x, int64_t given, int64_t length, float *out) {
  enum { NONE = -1 };
  int64_t last = NONE; /* the latest present step */
  if (given > length) given = length;
  for (int64_t t = 0; t < given; t++) {
    if (!isfinite(x[t])) continue;
    out[t] = fminf(fmaxf(x[t], -1e30f), 1e30f);
    double rise = last == NONE ? 0.0 : ((double)out[t] - (double)out[last]) / (double)(t - last);
    for (int64_t s = last + 1; s < t; s++)
      out[s] = last == NONE ? out[t] : (float)((double)out[last] + rise * (double)(s - last));
    last = t;
  }
  for (int64_t t = last + 1; t < length; t++) out[t] = last == NONE ? 0.0f : out[last];
}

/* A constant channel leaves only the rounding of its mean, which must not be blown up. */
static void normalize_channel(int64_t length, float *x) {
  double mean = 0.0, square = 0.0, size = 0.0;
  for (int64_t t = 0; t < length; t++) mean += (double)x[t];
  mean /= (double)length;
  for (int64_t t = 0; t < length; t++) {
    double deviation = (double)x[t] - mean;
    square += deviation * deviation;
    size += (double)x[t] * (double)x[t];
  }
  double scale = square > 1e-14 * size ? 1.0 / sqrt(square / (double)length) : 0.0;
  for (int64_t t = 0; t < length; t++) x[t] = (float)(((double)x[t] - mean) * scale);
}

typedef struct prepare_work {
  const sr__series_view *view;
  int64_t first, chunk;
  bool normalize;
  sr__series_rows *rows;
} prepare_work;

static sr_status prepare_chunk(sr_context *ctx, void *data, int64_t chunk, int slot) {
  (void)ctx;
  (void)slot;
  const prepare_work *work = data;
  const sr__series_view *view = work->view;
  int64_t end = (chunk + 1) * work->chunk;
  for (int64_t r = chunk * work->chunk; r < end && r < work->rows->rows; r++) {
    int64_t length = sr__series_length(work->rows, r);
    for (int32_t c = 0; c < view->channels; c++) {
      int64_t at = (work->first + r) * view->channels + c;
      float *out = work->rows->values + work->rows->begin[r] + c * length;
      fill_channel(view->values + view->offset[at], view->offset[at + 1] - view->offset[at], length,
                   out);
      if (work->normalize) normalize_channel(length, out);
    }
  }
  return SR_OK;
}

sr_status sr__series_prepare(sr_context *ctx, const sr__series_view *view, int64_t first,
                             int64_t count, bool normalize, sr__series_rows **rows) {
  enum { GRAIN = 64 };
  sr_status status = SR_OK;
  sr__series_rows *made = NULL;
  *rows = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  *made =
      (sr__series_rows){.allocator = sr__allocator(ctx), .rows = count, .channels = view->channels};
  SR_NEW(ctx, made->begin, count + 1);
  made->begin[0] = 0;
  for (int64_t r = 0; r < count; r++) {
    int64_t length = present_length(view, first + r);
    if (length > SR__MAX_SERIES_LENGTH)
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                      "the series of row %lld has %lld values, more than the %d that a learner on "
                      "series takes; cut it into windows",
                      (long long)(first + r), (long long)length, SR__MAX_SERIES_LENGTH));
    made->begin[r + 1] = made->begin[r] + length * view->channels;
    if (length > made->longest) made->longest = length;
  }
  SR_NEW(ctx, made->values, made->begin[count]);
  prepare_work work = {view, first, sr__chunk_size(count, GRAIN), normalize, made};
  SR_TRY(sr__parallel_for(ctx, sr__chunk_count(count, GRAIN), prepare_chunk, &work));
  *rows = made;
  made = NULL;
cleanup:
  sr__series_rows_free(made);
  return status;
}
