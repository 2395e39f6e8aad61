#include "replay/qnet_kernel.h"

#include "nn/lanes.h"

enum { FILTERS = SR__GRID_FILTERS, OUT = SR__GRID_OUT, SIDE = 10 };

/* The filters of one tap. */
typedef float filters __attribute__((vector_size(FILTERS * sizeof(float))));
#define LOAD_FILTERS(to, from) memcpy(&(to), from, sizeof(filters))
#define STORE_FILTERS(to, from) memcpy(to, &(from), sizeof(filters))

/* Calls `body` with each cell (x, y) that is set in a plane of 16 bytes. */
#define EACH_CELL(plane, body)                                                    \
  for (int32_t word_ = 0; word_ < 2; word_++) {                                   \
    uint64_t set_;                                                                \
    memcpy(&set_, (plane) + 8 * word_, 8);                                        \
    for (; set_; set_ &= set_ - 1) {                                              \
      const int32_t cell_ = 64 * word_ + __builtin_ctzll(set_), y = cell_ / SIDE, \
                    x = cell_ % SIDE;                                             \
      body                                                                        \
    }                                                                             \
  }
/* All nine windows that cover a cell, by the tap (down, right) that falls on it. The outputs have
 * an edge of two cells all round, so that no window needs to be asked whether it exists. */
enum { EDGE = 2, PADDED = OUT + 2 * EDGE, TAPS = 9 };
#define EACH_WINDOW(body)                                                         \
  _Pragma("GCC unroll 3") for (int32_t down = 0; down < 3; down++)                \
      _Pragma("GCC unroll 3") for (int32_t right = 0; right < 3; right++) {       \
    const int32_t at = ((y - down + EDGE) * PADDED + x - right + EDGE) * FILTERS; \
    const int32_t tap = down * 3 + right;                                         \
    body                                                                          \
  }
/* Where the eight outputs of a row begin. */
static int32_t inner_row(int32_t row) { return ((row + EDGE) * PADDED + EDGE) * FILTERS; }

static void grid_forward(int32_t frames, int32_t channels, const uint8_t *const *planes,
                         const float *weight, const float *bias, float *out) {
  const int64_t apart = (int64_t)frames * channels * FILTERS; /* from tap to tap */
  float padded[PADDED * PADDED * FILTERS] __attribute__((aligned(64)));
  filters start, of_tap[TAPS];
  LOAD_FILTERS(start, bias);
  for (int32_t i = 0; i < PADDED * PADDED; i++) STORE_FILTERS(padded + i * FILTERS, start);
  for (int32_t f = 0; f < frames; f++)
    for (int32_t c = 0; c < channels; c++, weight += FILTERS) {
#pragma GCC unroll 9
      for (int k = 0; k < TAPS; k++) LOAD_FILTERS(of_tap[k], weight + k * apart);
      EACH_CELL(planes[f] + 16 * c, EACH_WINDOW({
                  filters sum;
                  LOAD_FILTERS(sum, padded + at);
                  sum += of_tap[tap];
                  STORE_FILTERS(padded + at, sum);
                }))
    }
  for (int32_t row = 0; row < OUT; row++)
    for (int32_t i = 0; i < OUT * FILTERS; i += SR__WIDE)
      sr__store(out + row * OUT * FILTERS + i,
                sr__larger(sr__load(padded + inner_row(row) + i), sr__all(0)));
}

static void grid_backward(int32_t frames, int32_t channels, const uint8_t *const *planes,
                          const float *dy, float *weight_gradient, float *bias_gradient) {
  const int64_t apart = (int64_t)frames * channels * FILTERS;
  float padded[PADDED * PADDED * FILTERS] __attribute__((aligned(64)));
  filters all = {0}, one, of_tap[TAPS];
  memset(padded, 0, sizeof padded);
  for (int32_t row = 0; row < OUT; row++)
    memcpy(padded + inner_row(row), dy + row * OUT * FILTERS, OUT * FILTERS * sizeof *dy);
  for (int32_t i = 0; i < OUT * OUT; i++) {
    LOAD_FILTERS(one, dy + i * FILTERS);
    all += one;
  }
  LOAD_FILTERS(one, bias_gradient);
  one += all;
  STORE_FILTERS(bias_gradient, one);
  for (int32_t f = 0; f < frames; f++)
    for (int32_t c = 0; c < channels; c++, weight_gradient += FILTERS) {
#pragma GCC unroll 9
      for (int k = 0; k < TAPS; k++) LOAD_FILTERS(of_tap[k], weight_gradient + k * apart);
      EACH_CELL(planes[f] + 16 * c, EACH_WINDOW({
                  LOAD_FILTERS(one, padded + at);
                  of_tap[tap] += one;
                }))
#pragma GCC unroll 9
      for (int k = 0; k < TAPS; k++) STORE_FILTERS(weight_gradient + k * apart, of_tap[k]);
    }
}

/* Four inputs that are not 0 at a time, each sum one chain of fused multiply-adds. */
static void dense_row(int64_t in, int64_t out, const float *x, const float *weight,
                      const float *bias, float *y) {
  memcpy(y, bias, (size_t)out * sizeof *y);
  for (int64_t k = 0; k < in;) {
    int64_t used[4];
    int many = 0;
    for (; k < in && many < 4; k++)
      if (x[k] != 0) used[many++] = k;
    if (many == 4) {
      const float *w0 = weight + used[0] * out, *w1 = weight + used[1] * out;
      const float *w2 = weight + used[2] * out, *w3 = weight + used[3] * out;
      const sr__wide x0 = sr__all(x[used[0]]), x1 = sr__all(x[used[1]]);
      const sr__wide x2 = sr__all(x[used[2]]), x3 = sr__all(x[used[3]]);
      for (int64_t j = 0; j < out; j += SR__WIDE) {
        sr__wide sum = sr__fused(x0, sr__load(w0 + j), sr__load(y + j));
        sum = sr__fused(x1, sr__load(w1 + j), sum);
        sum = sr__fused(x2, sr__load(w2 + j), sum);
        sr__store(y + j, sr__fused(x3, sr__load(w3 + j), sum));
      }
    } else {
      for (int i = 0; i < many; i++)
        for (int64_t j = 0; j < out; j += SR__WIDE)
          sr__store(y + j, sr__fused(sr__all(x[used[i]]), sr__load(weight + used[i] * out + j),
                                     sr__load(y + j)));
    }
  }
}

static void relu(int64_t count, float *x) {
  int64_t i = 0;
  for (; i + SR__WIDE <= count; i += SR__WIDE)
    sr__store(x + i, sr__larger(sr__load(x + i), sr__all(0)));
  for (; i < count; i++) x[i] = x[i] > 0 ? x[i] : 0;
}

static void interleave(int32_t frames, int64_t cells, const uint8_t *const *frame, float *to) {
  const float scale = 1.0f / 255.0f;
  if (frames == 4) {
    const uint8_t *a = frame[0], *b = frame[1], *c = frame[2], *d = frame[3];
    for (int64_t i = 0; i < cells; i++) {
      to[4 * i] = (float)a[i] * scale;
      to[4 * i + 1] = (float)b[i] * scale;
      to[4 * i + 2] = (float)c[i] * scale;
      to[4 * i + 3] = (float)d[i] * scale;
    }
    return;
  }
  for (int32_t f = 0; f < frames; f++)
    for (int64_t i = 0; i < cells; i++) to[i * frames + f] = (float)frame[f][i] * scale;
}

const sr__qnet_kernel SR__KERNEL(sr__qnet_kernel) = {grid_forward, grid_backward, dense_row, relu,
                                                     interleave};
