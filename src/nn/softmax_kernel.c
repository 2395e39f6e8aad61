#include "nn/softmax_kernel.h"

#include "nn/lanes.h"

static int64_t padded_to_lanes(int64_t columns) { return (columns + 7) / 8 * 8; }

/* All ones in the lanes of the last vector that lie beyond the columns. */
static sr__wide_int beyond(int64_t columns) {
  const int32_t counted = (int32_t)(columns - (padded_to_lanes(columns) - SR__WIDE));
  return (sr__wide_int){0, 1, 2, 3, 4, 5, 6, 7} >= (sr__wide_int){0} + counted;
}

/* 2^(scale log2(e) score + shift) in the lanes that count. */
SR__INLINE void row_of_powers(int64_t padded, sr__wide_int outside, float scale, float shift,
                              float *row) {
  const sr__wide factor = sr__all(scale * SR__LOG2_E), add = sr__all(shift);
  for (int64_t j = 0; j < padded; j += SR__WIDE) {
    sr__wide e = sr__exp2(sr__fused(sr__load(row + j), factor, add));
    if (j + SR__WIDE == padded) e = sr__select(outside, sr__all(0), e);
    sr__store(row + j, e);
  }
}

SR__INLINE void scale_row(int64_t padded, float factor, float *row) {
  for (int64_t j = 0; j < padded; j += SR__WIDE)
    sr__store(row + j, sr__load(row + j) * sr__all(factor));
}

static void forward(int64_t rows, int64_t columns, float scale, float *score, float *moments) {
  const int64_t padded = padded_to_lanes(columns);
  const sr__wide_int outside = beyond(columns);
  for (int64_t r = 0; r < rows; r++, score += padded) {
    sr__wide most = sr__select(outside, sr__all(-3e38f), sr__load(score + padded - SR__WIDE));
    for (int64_t j = 0; j + SR__WIDE < padded; j += SR__WIDE)
      most = sr__larger(sr__load(score + j), most);
    const float shift = -sr__lane_max(most) * (scale * SR__LOG2_E);
    row_of_powers(padded, outside, scale, shift, score);
    sr__wide sum = sr__all(0);
    for (int64_t j = 0; j < padded; j += SR__WIDE) sum += sr__load(score + j);
    const float factor = 1.0f / sr__lane_sum(sum);
    scale_row(padded, factor, score);
    moments[2 * r] = shift;
    moments[2 * r + 1] = factor;
  }
}

static void again(int64_t rows, int64_t columns, float scale, float *score, const float *moments) {
  const int64_t padded = padded_to_lanes(columns);
  for (int64_t r = 0; r < rows; r++, score += padded) {
    row_of_powers(padded, beyond(columns), scale, moments[2 * r], score);
    scale_row(padded, moments[2 * r + 1], score);
  }
}

/* With r = sum of dp p over the row:  (dp - r) p scale. */
static void backward(int64_t rows, int64_t columns, float scale, const float *p, float *dp) {
  const int64_t padded = padded_to_lanes(columns);
  for (int64_t r = 0; r < rows; r++, p += padded, dp += padded) {
    sr__wide sum = sr__all(0);
    for (int64_t j = 0; j < padded; j += SR__WIDE)
      sum = sr__fused(sr__load(dp + j), sr__load(p + j), sum);
    const sr__wide level = sr__all(sr__lane_sum(sum));
    for (int64_t j = 0; j < padded; j += SR__WIDE)
      sr__store(dp + j, (sr__load(dp + j) - level) * sr__load(p + j) * sr__all(scale));
  }
}

const sr__softmax_kernel SR__KERNEL(sr__softmax_kernel) = {forward, again, backward};
