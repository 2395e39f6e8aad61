/* How many steps a picture is remembered: the integrated autocorrelation time of the buffer. */
#include "sampler.h"

enum { ROWS_MOST = 4000, GRAY_CELLS = 1024, LANES = 8, LAGS_MOST = 1000, PAIRS_LEAST = 50 };

/* One float per cell; of gray pictures every few. */
static int64_t cells_of(const sr__buffer *buffer, bool bits) {
  int64_t cells = bits ? 8 * buffer->frame_bytes : GRAY_CELLS;
  return cells + (LANES - cells % LANES) % LANES;
}

static void spread(const sr__buffer *buffer, bool bits, int64_t row, int64_t cells, float *x) {
  const uint8_t *frame = buffer->frame + sr__buffer_slot(buffer, row) * buffer->frame_bytes;
  for (int64_t j = 0; j < cells; j++)
    x[j] = !bits                         ? (float)frame[j * buffer->frame_bytes / cells]
           : j < 8 * buffer->frame_bytes ? (float)(frame[j / 8] >> j % 8 & 1)
                                         : 0;
}

static double product(int64_t cells, const float *a, const float *b) {
  float lane[LANES] = {0};
  double sum = 0;
  for (int64_t j = 0; j < cells; j += LANES)
    for (int l = 0; l < LANES; l++) lane[l] += a[j + l] * b[j + l];
  for (int l = 0; l < LANES; l++) sum += (double)lane[l];
  return sum;
}

static void subtract_means(int64_t rows, int64_t cells, float *x) {
  for (int64_t j = 0; j < cells; j++) {
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) sum += (double)x[i * cells + j];
    for (int64_t i = 0; i < rows; i++) x[i * cells + j] -= (float)(sum / (double)rows);
  }
}

/* Mean of the products of rows `lag` apart in one episode; *pairs: how many. */
static double covariance(int64_t rows, int64_t cells, const float *x, const int32_t *episode,
                         int64_t lag, int64_t *pairs) {
  double sum = 0;
  *pairs = 0;
  for (int64_t i = 0; i + lag < rows; i++) {
    if (episode[i] != episode[i + lag]) continue;
    sum += product(cells, x + i * cells, x + (i + lag) * cells);
    (*pairs)++;
  }
  return *pairs > 0 ? sum / (double)*pairs : 0;
}

sr_status sr__picture_time(sr_context *ctx, const sr__buffer *buffer, bool bits, double *time) {
  sr_status status = SR_OK;
  int64_t oldest = sr__buffer_oldest(buffer), rows = buffer->written - oldest, pairs;
  int64_t cells = cells_of(buffer, bits);
  float *x = NULL;
  int32_t *episode = NULL, now = 0;
  *time = 1;
  if (rows > ROWS_MOST) rows = ROWS_MOST;
  SR_NEW(ctx, x, rows * cells);
  SR_NEW(ctx, episode, rows);
  for (int64_t i = 0; i < rows; i++) {
    int64_t row = buffer->written - rows + i;
    now += (buffer->flags[sr__buffer_slot(buffer, row)] & SR__ROW_FIRST) != 0;
    episode[i] = now;
    spread(buffer, bits, row, cells, x + i * cells);
  }
  subtract_means(rows, cells, x);
  double variance = covariance(rows, cells, x, episode, 0, &pairs);
  /* 1 + 2 (rho_1 + rho_2 + ...) up to five times what the sum then says. */
  for (int64_t lag = 1; variance > 0 && lag <= LAGS_MOST && (double)lag < 5 * *time; lag++) {
    double rho = covariance(rows, cells, x, episode, lag, &pairs) / variance;
    if (pairs < PAIRS_LEAST) break;
    *time += 2 * rho;
  }
  if (*time < 1) *time = 1;
cleanup:
  sr__free(ctx, x);
  sr__free(ctx, episode);
  return status;
}
