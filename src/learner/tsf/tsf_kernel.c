/* Running sums, and features of intervals from them. Every operation is correctly rounded and none
 * is fused: the same bits at every level. */
#include "tsf_kernel.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef double f64x4 __attribute__((vector_size(32), may_alias));
typedef float f32x4 __attribute__((vector_size(16), may_alias));
typedef int32_t i32x4 __attribute__((vector_size(16), may_alias));

static inline f64x4 wide_of(const float *x) { return (f64x4){x[0], x[1], x[2], x[3]}; }

static void sums(const float *series, int32_t length, int64_t width, double *sum, double *center) {
  for (int h = 0; h < 8; h += 4) {
    f64x4 total = {0}, value = {0}, square = {0}, moment = {0};
    for (int64_t t = 0; t < length; t++) total += wide_of(series + 8 * t + h);
    f64x4 middle = total / (double)length;
    *(f64x4 *)(void *)(center + h) = middle;
    for (int64_t t = 0; t <= length; t++) {
      double *to = sum + 3 * width * t + h;
      *(f64x4 *)(void *)to = value;
      *(f64x4 *)(void *)(to + width) = square;
      *(f64x4 *)(void *)(to + 2 * width) = moment;
      if (t == length) break;
      f64x4 here = wide_of(series + 8 * t + h) - middle;
      value += here;
      square += here * here;
      moment += (double)t * here;
    }
  }
}

static inline f64x4 difference(const double *from, const double *to) {
  return *(const f64x4 *)(const void *)to - *(const f64x4 *)(const void *)from;
}

/* What is missing becomes +inf. */
static inline void store_narrow(f64x4 made, float *to) {
  f32x4 narrow = __builtin_convertvector(made, f32x4), missing = (f32x4){0} + INFINITY;
  i32x4 there = narrow == narrow;
  narrow = (f32x4)((there & (i32x4)narrow) | (~there & (i32x4)missing));
  memcpy(to, &narrow, sizeof narrow);
}

/* Of the variance, or of 0 where rounding made it negative. */
static inline f64x4 square_root(f64x4 variance) {
#if defined(__AVX__)
  return (f64x4)_mm256_sqrt_pd(_mm256_max_pd(_mm256_setzero_pd(), (__m256d)variance));
#else
  f64x4 root;
  for (int j = 0; j < 4; j++) root[j] = sqrt(variance[j] < 0.0 ? 0.0 : variance[j]);
  return root;
#endif
}

static void means(const double *from, const double *to, const double *center, int64_t rows,
                  const sr__tsf_reader *reader, float *feature) {
  for (int64_t i = 0; i < rows; i += 4)
    store_narrow(reader->by_value * difference(from + i, to + i) +
                     *(const f64x4 *)(const void *)(center + i),
                 feature + i);
}

static void deviations(const double *from, const double *to, int64_t width, int64_t rows,
                       const sr__tsf_reader *reader, float *feature) {
  for (int64_t i = 0; i < rows; i += 4) {
    f64x4 mean = reader->by_value * difference(from + i, to + i);
    f64x4 variance = reader->by_value * difference(from + width + i, to + width + i) - mean * mean;
    store_narrow(square_root(variance), feature + i);
  }
}

static void slopes(const double *from, const double *to, int64_t width, int64_t rows,
                   const sr__tsf_reader *reader, float *feature) {
  for (int64_t i = 0; i < rows; i += 4)
    store_narrow(reader->by_value * difference(from + i, to + i) +
                     reader->by_moment * difference(from + 2 * width + i, to + 2 * width + i),
                 feature + i);
}

static void features(const double *sum, const double *center, int64_t width, int64_t eights,
                     sr__tsf_asked asked, float *feature) {
  const sr__tsf_reader *reader = asked.reader;
  for (int32_t i = 0; i < asked.count; i++) {
    int64_t k = asked.list ? asked.list[i] : i, rows = 8 * eights;
    const double *from = sum + 3 * width * reader[k].start, *to = sum + 3 * width * reader[k].end;
    float *made = feature + rows * k;
    if (reader[k].kind == 0)
      means(from, to, center + width * reader[k].channel, rows, &reader[k], made);
    else if (reader[k].kind == 1)
      deviations(from, to, width, rows, &reader[k], made);
    else
      slopes(from, to, width, rows, &reader[k], made);
  }
}

const sr__tsf_kernel SR__KERNEL(sr__tsf_kernel) = {sums, features};
