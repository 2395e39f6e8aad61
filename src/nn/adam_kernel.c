#include "nn/adam_kernel.h"

#include "nn/lanes.h"

/* m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
 * value = shrink value - step m / (sqrt(second_factor v) + epsilon). */
static void update(int64_t count, const sr__adam_update *how, const float *gradient, float *first,
                   float *second, float *value) {
  const sr__wide beta1 = sr__all(how->beta1), rest1 = sr__all(1.0f - how->beta1);
  const sr__wide beta2 = sr__all(how->beta2), rest2 = sr__all(1.0f - how->beta2);
  for (int64_t i = 0; i < count; i += SR__WIDE) {
    const int64_t left = count - i;
    sr__wide g, m, v, x;
    if (left >= SR__WIDE) {
      g = sr__load(gradient + i), m = sr__load(first + i), v = sr__load(second + i);
      x = sr__load(value + i);
    } else {
      g = sr__load_some(gradient + i, left), m = sr__load_some(first + i, left);
      v = sr__load_some(second + i, left), x = sr__load_some(value + i, left);
    }
    g *= sr__all(how->gradient_factor);
    m = sr__fused(beta1, m, g * rest1);
    v = sr__fused(beta2, v, g * g * rest2);
    sr__wide size = sr__root(v * sr__all(how->second_factor)) + sr__all(how->epsilon);
    x = x * sr__all(how->shrink) - m * sr__all(how->step) / size;
    if (left >= SR__WIDE) {
      sr__store(first + i, m), sr__store(second + i, v), sr__store(value + i, x);
    } else {
      sr__store_some(first + i, m, left), sr__store_some(second + i, v, left);
      sr__store_some(value + i, x, left);
    }
  }
}

/* Blocks of 1,024 in 32 float sums each; the blocks are added up in double. */
static double sum_of_squares(int64_t count, const float *x) {
  enum { BLOCK = 1024 };
  double sum = 0;
  int64_t i = 0;
  for (; i + BLOCK <= count; i += BLOCK) {
    sr__wide part[4] = {sr__all(0), sr__all(0), sr__all(0), sr__all(0)};
    for (int64_t j = i; j < i + BLOCK; j += 4 * SR__WIDE)
      for (int k = 0; k < 4; k++) {
        sr__wide v = sr__load(x + j + SR__WIDE * k);
        part[k] = sr__fused(v, v, part[k]);
      }
    sum += (double)sr__lane_sum((part[0] + part[1]) + (part[2] + part[3]));
  }
  for (; i < count; i++) sum += (double)x[i] * (double)x[i];
  return sum;
}

const sr__adam_kernel SR__KERNEL(sr__adam_kernel) = {update, sum_of_squares};
