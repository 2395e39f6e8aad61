#include "nn/adam_kernel.h"

#include "nn/adam_lanes.h"

static void update(int64_t count, const sr__adam_tensor *tensor, const float *gradient) {
  const sr__adam_update how = tensor->how;
  float *first = tensor->first, *second = tensor->second, *value = tensor->value;
  int64_t i = 0;
  for (; i + SR__WIDE <= count; i += SR__WIDE) {
    sr__adam_lanes at = {sr__load(first + i), sr__load(second + i), sr__load(value + i)};
    sr__adam_lanes_step(&how, sr__load(gradient + i), &at);
    sr__store(first + i, at.first), sr__store(second + i, at.second);
    sr__store(value + i, at.value);
  }
  if (i < count) {
    const int64_t left = count - i;
    sr__adam_lanes at = {sr__load_some(first + i, left), sr__load_some(second + i, left),
                         sr__load_some(value + i, left)};
    sr__adam_lanes_step(&how, sr__load_some(gradient + i, left), &at);
    sr__store_some(first + i, at.first, left), sr__store_some(second + i, at.second, left);
    sr__store_some(value + i, at.value, left);
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
