#include "nn/norm_kernel.h"

#include "nn/lanes.h"

static void forward(int64_t rows, int64_t width, const float *x, const float *weight,
                    const float *bias, float *y, float *moments) {
  const float share = 1.0f / (float)width;
  for (int64_t r = 0; r < rows; r++, x += width, y += width) {
    sr__wide sum = sr__all(0), squares = sr__all(0);
    for (int64_t j = 0; j < width; j += SR__WIDE) sum += sr__load(x + j);
    const sr__wide mean = sr__all(sr__lane_sum(sum) * share);
    for (int64_t j = 0; j < width; j += SR__WIDE) {
      sr__wide centered = sr__load(x + j) - mean;
      squares = sr__fused(centered, centered, squares);
    }
    const float factor = 1.0f / sqrtf(sr__lane_sum(squares) * share + 1e-5f);
    for (int64_t j = 0; j < width; j += SR__WIDE)
      sr__store(y + j, sr__fused((sr__load(x + j) - mean) * sr__all(factor), sr__load(weight + j),
                                 sr__load(bias + j)));
    moments[2 * r] = mean[0];
    moments[2 * r + 1] = factor;
  }
}

/* With f the factor, h = (x - mean) f and e = dy * weight:  dx += f (e - mean(e) - h mean(e h)). */
static void backward_input(int64_t rows, int64_t width, const float *x, const float *weight,
                           const float *moments, const float *dy, float *dx) {
  const float share = 1.0f / (float)width;
  for (int64_t r = 0; r < rows; r++, x += width, dy += width, dx += width) {
    const sr__wide mean = sr__all(moments[2 * r]), factor = sr__all(moments[2 * r + 1]);
    sr__wide sum = sr__all(0), along = sr__all(0);
    for (int64_t j = 0; j < width; j += SR__WIDE) {
      sr__wide e = sr__load(dy + j) * sr__load(weight + j);
      sum += e;
      along = sr__fused(e, (sr__load(x + j) - mean) * factor, along);
    }
    const sr__wide level = sr__all(sr__lane_sum(sum) * share) * factor;
    const sr__wide slope = sr__all(sr__lane_sum(along) * share) * factor * factor;
    for (int64_t j = 0; j < width; j += SR__WIDE) {
      sr__wide e = sr__load(dy + j) * sr__load(weight + j);
      sr__wide d = sr__fused(mean - sr__load(x + j), slope, sr__fused(e, factor, -level));
      sr__store(dx + j, sr__load(dx + j) + d);
    }
  }
}

static void backward(int64_t rows, int64_t width, const float *x, const float *weight,
                     const float *moments, const float *dy, float *dx, float *weight_gradient,
                     float *bias_gradient) {
  backward_input(rows, width, x, weight, moments, dy, dx);
  for (int64_t j = 0; j < width; j += SR__WIDE) {
    sr__wide dw = sr__all(0), db = sr__all(0);
    for (int64_t r = 0; r < rows; r++) {
      sr__wide g = sr__load(dy + r * width + j);
      sr__wide h =
          (sr__load(x + r * width + j) - sr__all(moments[2 * r])) * sr__all(moments[2 * r + 1]);
      dw = sr__fused(g, h, dw);
      db += g;
    }
    sr__store(weight_gradient + j, sr__load(weight_gradient + j) + dw);
    sr__store(bias_gradient + j, sr__load(bias_gradient + j) + db);
  }
}

const sr__norm_kernel SR__KERNEL(sr__norm_kernel) = {forward, backward};
