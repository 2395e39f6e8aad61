/* Six windows by sixteen channels are twelve registers of sums: one broadcast and two fused
 * multiply-adds per value of a window. */
#include "nn/conv2d_kernel.h"

#include "nn/lanes.h"

enum { TILE = 6, CHANNELS = 2 * SR__WIDE };

/* `many` windows; it is a constant where this is inlined. */
SR__INLINE void apply_tile(const int many, const sr__windows *w, const float *const *at,
                           const float *panel, const float *bias, bool relu, float *const *out) {
  sr__wide low[TILE], high[TILE];
#pragma GCC unroll 6
  for (int i = 0; i < many; i++) {
    low[i] = bias ? sr__load(bias) : sr__all(0);
    high[i] = bias ? sr__load(bias + SR__WIDE) : sr__all(0);
  }
  int64_t offset = 0;
  for (int32_t r = 0; r < w->runs; r++, offset += w->run_step)
    for (int64_t k = offset; k < offset + w->run; k++, panel += CHANNELS) {
      const sr__wide first = sr__load(panel), second = sr__load(panel + SR__WIDE);
#pragma GCC unroll 6
      for (int i = 0; i < many; i++) {
        const sr__wide x = sr__all(at[i][k]);
        low[i] = sr__fused(x, first, low[i]);
        high[i] = sr__fused(x, second, high[i]);
      }
    }
#pragma GCC unroll 6
  for (int i = 0; i < many; i++) {
    sr__store(out[i], relu ? sr__larger(low[i], sr__all(0)) : low[i]);
    sr__store(out[i] + SR__WIDE, relu ? sr__larger(high[i], sr__all(0)) : high[i]);
  }
}

static void apply(const sr__windows *w, const float *panels, const float *bias, int32_t channels,
                  bool relu, float *out, int64_t out_row, int64_t out_column) {
  const int64_t inner = (int64_t)w->runs * w->run;
  const int32_t windows = w->rows * w->columns;
  for (int32_t c = 0; c < channels; c += CHANNELS) {
    const float *panel = panels + c * inner, *own_bias = bias ? bias + c : NULL;
    int32_t row = 0, column = 0;
    for (int32_t done = 0; done < windows;) {
      /* 7 is 4 and 3: a tile of one window waits for its own sums. */
      int32_t left = windows - done, many = left == TILE + 1 ? 4 : left < TILE ? left : TILE;
      const float *at[TILE];
      float *to[TILE];
      for (int32_t i = 0; i < many; i++) {
        at[i] = w->in + row * w->in_row + column * w->in_column;
        to[i] = out + row * out_row + column * out_column + c;
        if (++column == w->columns) {
          column = 0;
          row++;
        }
      }
      switch (many) {
        case 6:
          apply_tile(6, w, at, panel, own_bias, relu, to);
          break;
        case 5:
          apply_tile(5, w, at, panel, own_bias, relu, to);
          break;
        case 4:
          apply_tile(4, w, at, panel, own_bias, relu, to);
          break;
        case 3:
          apply_tile(3, w, at, panel, own_bias, relu, to);
          break;
        case 2:
          apply_tile(2, w, at, panel, own_bias, relu, to);
          break;
        default:
          apply_tile(1, w, at, panel, own_bias, relu, to);
          break;
      }
      done += many;
    }
  }
}

/* `many` places of the window, all windows; place[i] is where the place lies in the first window.
 */
SR__INLINE void weight_tile(const int many, const sr__windows *w, const float *const *place,
                            const float *dy, int32_t channels, float *gradient) {
  sr__wide low[TILE], high[TILE];
#pragma GCC unroll 6
  for (int i = 0; i < many; i++) {
    low[i] = sr__load(gradient + (int64_t)i * channels);
    high[i] = sr__load(gradient + (int64_t)i * channels + SR__WIDE);
  }
  for (int32_t row = 0; row < w->rows; row++) {
    int64_t at = row * w->in_row;
    for (int32_t column = 0; column < w->columns; column++, at += w->in_column, dy += channels) {
      const sr__wide first = sr__load(dy), second = sr__load(dy + SR__WIDE);
#pragma GCC unroll 6
      for (int i = 0; i < many; i++) {
        const sr__wide x = sr__all(place[i][at]);
        low[i] = sr__fused(x, first, low[i]);
        high[i] = sr__fused(x, second, high[i]);
      }
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < many; i++) {
    sr__store(gradient + (int64_t)i * channels, low[i]);
    sr__store(gradient + (int64_t)i * channels + SR__WIDE, high[i]);
  }
}

static void weight_gradient(const sr__windows *w, const float *dy, int32_t channels,
                            float *gradient) {
  const int64_t places = (int64_t)w->runs * w->run;
  for (int32_t c = 0; c < channels; c += CHANNELS)
    for (int64_t k = 0; k < places; k += TILE) {
      const int many = places - k < TILE ? (int)(places - k) : TILE;
      const float *place[TILE];
      for (int i = 0; i < many; i++)
        place[i] = w->in + (k + i) / w->run * w->run_step + (k + i) % w->run;
      float *to = gradient + k * channels + c;
      switch (many) {
        case 6:
          weight_tile(6, w, place, dy + c, channels, to);
          break;
        case 5:
          weight_tile(5, w, place, dy + c, channels, to);
          break;
        case 4:
          weight_tile(4, w, place, dy + c, channels, to);
          break;
        case 3:
          weight_tile(3, w, place, dy + c, channels, to);
          break;
        case 2:
          weight_tile(2, w, place, dy + c, channels, to);
          break;
        default:
          weight_tile(1, w, place, dy + c, channels, to);
          break;
      }
    }
}

static void row_sums(int64_t count, int32_t channels, const float *dy, float *sums) {
  for (int32_t c = 0; c < channels; c += SR__WIDE) {
    sr__wide sum = sr__load(sums + c);
    for (int64_t i = 0; i < count; i++) sum += sr__load(dy + i * channels + c);
    sr__store(sums + c, sum);
  }
}

static void relu_backward(int64_t count, const float *y, float *dy) {
  int64_t i = 0;
  for (; i + SR__WIDE <= count; i += SR__WIDE)
    sr__store(dy + i, (sr__wide)((sr__wide_int)sr__load(dy + i) & (sr__load(y + i) > sr__all(0))));
  for (; i < count; i++)
    if (!(y[i] > 0)) dy[i] = 0;
}

const sr__conv2d_kernel SR__KERNEL(sr__conv2d_kernel) = {apply, weight_gradient, row_sums,
                                                         relu_backward};
