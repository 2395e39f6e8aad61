#include "nn/rmsprop_kernel.h"

#include "nn/lanes.h"

static void update(int64_t count, const sr__rmsprop *how, const float *gradient, float *first,
                   float *second, float *value) {
  const sr__wide decay = sr__all(how->decay), rest = sr__all(1.0f - how->decay);
  for (int64_t i = 0; i < count; i += SR__WIDE) {
    const sr__wide g = sr__load(gradient + i);
    const sr__wide v = sr__fused(decay, sr__load(second + i), g * g * rest);
    sr__wide spread = v;
    if (how->centered) {
      const sr__wide m = sr__fused(decay, sr__load(first + i), g * rest);
      spread = sr__fused(-m, m, v);
      sr__store(first + i, m);
    }
    /* Rounding may bring v - m^2 below zero by a hair. */
    const sr__wide size = sr__root(sr__larger(spread, sr__all(0)) + sr__all(how->epsilon));
    sr__store(second + i, v);
    sr__store(value + i, sr__load(value + i) - g * sr__all(how->rate) / size);
  }
}

const sr__rmsprop_kernel SR__KERNEL(sr__rmsprop_kernel) = {update};
