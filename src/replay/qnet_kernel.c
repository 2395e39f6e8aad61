#include "replay/qnet_kernel.h"

#include "nn/lanes.h"

enum { FILTERS = SR__GRID_FILTERS, OUT = SR__GRID_OUT, SIDE = 10 };

/* Calls `body` with channel c (of all frames) and the cell (x, y) for each cell that is set. */
#define EACH_CELL(frames, channels, planes, body)                                     \
  for (int32_t frame_ = 0; frame_ < (frames); frame_++)                               \
    for (int32_t channel_ = 0; channel_ < (channels); channel_++)                     \
      for (int32_t word_ = 0; word_ < 2; word_++) {                                   \
        uint64_t set_;                                                                \
        memcpy(&set_, (planes)[frame_] + 16 * channel_ + 8 * word_, 8);               \
        const int32_t c = frame_ * (channels) + channel_;                             \
        for (; set_; set_ &= set_ - 1) {                                              \
          const int32_t cell_ = 64 * word_ + __builtin_ctzll(set_), y = cell_ / SIDE, \
                        x = cell_ % SIDE;                                             \
          body                                                                        \
        }                                                                             \
      }
/* All nine windows that cover a cell, by the tap (down, right) that falls on it. The outputs have
 * an edge of two cells all round, so that no window needs to be asked whether it exists. */
enum { EDGE = 2, PADDED = OUT + 2 * EDGE };
#define EACH_WINDOW(body)                                                         \
  _Pragma("GCC unroll 3") for (int32_t down = 0; down < 3; down++)                \
      _Pragma("GCC unroll 3") for (int32_t right = 0; right < 3; right++) {       \
    const int32_t at = ((y - down + EDGE) * PADDED + x - right + EDGE) * FILTERS; \
    const int64_t tap = ((int64_t)(down * 3 + right) * depth + c) * FILTERS;      \
    body                                                                          \
  }
/* Where the eight outputs of a row begin. */
static int32_t inner_row(int32_t row) { return ((row + EDGE) * PADDED + EDGE) * FILTERS; }

static void grid_forward(int32_t frames, int32_t channels, const uint8_t *const *planes,
                         const float *weight, const float *bias, float *out) {
  const int64_t depth = (int64_t)frames * channels;
  const sr__wide low = sr__load(bias), high = sr__load(bias + SR__WIDE);
  float padded[PADDED * PADDED * FILTERS] __attribute__((aligned(64)));
  for (int32_t i = 0; i < PADDED * PADDED; i++) {
    sr__store(padded + i * FILTERS, low);
    sr__store(padded + i * FILTERS + SR__WIDE, high);
  }
  EACH_CELL(frames, channels, planes, EACH_WINDOW({
              sr__store(padded + at, sr__load(padded + at) + sr__load(weight + tap));
              sr__store(padded + at + SR__WIDE,
                        sr__load(padded + at + SR__WIDE) + sr__load(weight + tap + SR__WIDE));
            }))
  for (int32_t row = 0; row < OUT; row++)
    for (int32_t i = 0; i < OUT * FILTERS; i += SR__WIDE)
      sr__store(out + row * OUT * FILTERS + i,
                sr__larger(sr__load(padded + inner_row(row) + i), sr__all(0)));
}

static void grid_backward(int32_t frames, int32_t channels, const uint8_t *const *planes,
                          const float *dy, float *weight_gradient, float *bias_gradient) {
  const int64_t depth = (int64_t)frames * channels;
  sr__wide low = sr__all(0), high = sr__all(0);
  float padded[PADDED * PADDED * FILTERS] __attribute__((aligned(64)));
  memset(padded, 0, sizeof padded);
  for (int32_t row = 0; row < OUT; row++)
    memcpy(padded + inner_row(row), dy + row * OUT * FILTERS, OUT * FILTERS * sizeof *dy);
  for (int32_t i = 0; i < OUT * OUT; i++) {
    low += sr__load(dy + i * FILTERS);
    high += sr__load(dy + i * FILTERS + SR__WIDE);
  }
  sr__store(bias_gradient, sr__load(bias_gradient) + low);
  sr__store(bias_gradient + SR__WIDE, sr__load(bias_gradient + SR__WIDE) + high);
  EACH_CELL(frames, channels, planes, EACH_WINDOW({
              float *to = weight_gradient + tap;
              sr__store(to, sr__load(to) + sr__load(padded + at));
              sr__store(to + SR__WIDE, sr__load(to + SR__WIDE) + sr__load(padded + at + SR__WIDE));
            }))
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
