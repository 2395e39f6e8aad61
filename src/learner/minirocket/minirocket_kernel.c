/* Per dilation the sum of the nine taps is made once and its sum with 3 x_a + 3 x_b once per pair,
 * so that a response costs one addition and each bias one comparison and one subtraction; six
 * biases share a response. A vector is one time of 8 (16) series or 8 (16) times of one series. */
/* Vectors are 32 bytes long. GCC with AVX-512 compares those into masks, which is slower here. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("no-avx512f")
#endif
#include "minirocket_kernel.h"

#include "learner/series/lane_vectors.h"

enum { TOGETHER = 6 /* biases */, STRETCH = 32000 /* vectors that a count of 16 bits can take */ };

/* ---- whole numbers of 16 bits --------------------------------------------------------------- */

/* 12 max|x| must stay below 2^15 after each of up to nine channels was rounded. */
#define WHOLE_PEAK 2720.0f

/* Biases must stay within 32 bits; only a series that is tiny beside them feels it. */
static void find_scales(const float *peak, float most_bias, float *scale) {
  for (int i = 0; i < SR__MINI_LANES; i++) {
    scale[i] = peak[i] > 1e-30f ? WHOLE_PEAK / peak[i] : 1.0f;
    if (scale[i] * most_bias > 1e9f) scale[i] = 1e9f / most_bias;
  }
}

/* To the nearest whole number. */
SR__INLINE ints nearest(floats x) {
#if defined(__AVX2__)
  return (ints)_mm256_cvtps_epi32((__m256)x);
#elif defined(__SSE2__)
  return (ints)_mm_cvtps_epi32((__m128)x);
#else
  ints n;
  for (int i = 0; i < FLOAT_LANES; i++) n[i] = (int32_t)lrintf(x[i]);
  return n;
#endif
}

/* Beyond 16 bits the nearest number that has them. */
SR__INLINE shorts join(ints low, ints high) {
#if defined(__AVX2__)
  return (shorts)_mm256_permute4x64_epi64(_mm256_packs_epi32((__m256i)low, (__m256i)high), 0xd8);
#elif defined(__SSE2__)
  return (shorts)_mm_packs_epi32((__m128i)low, (__m128i)high);
#else
  shorts n = {0};
  for (int i = 0; i < FLOAT_LANES; i++) {
    n[i] = (int16_t)(low[i] < INT16_MIN ? INT16_MIN : low[i] > INT16_MAX ? INT16_MAX : low[i]);
    n[FLOAT_LANES + i] = (int16_t)(high[i] < INT16_MIN   ? INT16_MIN
                                   : high[i] > INT16_MAX ? INT16_MAX
                                                         : high[i]);
  }
  return n;
#endif
}

/* A whole number exceeds x where it exceeds the floor of x; |x| < 2^31. */
SR__INLINE ints floor_of(floats x) {
#if defined(__AVX2__)
  return (ints)_mm256_cvtps_epi32(_mm256_floor_ps((__m256)x));
#else
  ints n = __builtin_convertvector(x, ints);
  return n + (__builtin_convertvector(n, floats) > x);
#endif
}

/* Counts of the first lanes as shares of their outputs. */
SR__INLINE void store_shares(const int32_t *above, const float *number, int lanes, float *to) {
  for (int i = 0; i < lanes; i += FLOAT_LANES) {
    floats share = __builtin_convertvector(load_ints(above + i), floats) / load_floats(number + i);
    memcpy(to + i, &share, sizeof share);
  }
}

/* ---- the two forms -------------------------------------------------------------------------- */

#define ELEMENT float
#define VECTOR floats
#define MASK ints
#define MASK_ELEMENT int32_t
#define WIDTH FLOAT_LANES
#define BLOCK 8
#define LOAD load_floats
#define NAME(name) float_##name
SR__INLINE floats float_bias_vector(float bias, const float *scale) {
  (void)scale;
  return all_floats(bias);
}
static void float_stage(const sr__mini_input *in, const int32_t *channel, int32_t channels,
                        const float *scale, float *x) {
  (void)scale;
  int64_t values = in->steps[0] * in->step;
  memcpy(x, in->x[0] + channel[0] * in->channel_stride[0], (size_t)values * sizeof *x);
  for (int32_t c = 1; c < channels; c++) {
    const float *from = in->x[0] + channel[c] * in->channel_stride[0];
    for (int64_t i = 0; i < values; i++) x[i] += from[i];
  }
}
#include "minirocket_lanes.h"

#define ELEMENT int16_t
#define VECTOR shorts
#define MASK shorts
#define MASK_ELEMENT int16_t
#define WIDTH SHORT_LANES
#define BLOCK 16
#define LOAD load_shorts
#define NAME(name) whole_##name
SR__INLINE shorts whole_bias_vector(float bias, const float *scale) {
  return join(floor_of(bias * load_floats(scale)),
              floor_of(bias * load_floats(scale + FLOAT_LANES)));
}
/* Eight lanes of one block, of the sixteen in x. */
static void whole_stage_block(const float *from, int64_t steps, const float *scale, int16_t *x) {
  for (int64_t t = 0; t < steps; t++, from += SR__SERIES_LANES, x += SR__MINI_LANES)
    for (int i = 0; i < SR__SERIES_LANES; i += FLOAT_LANES) {
      ints n = nearest(load_floats(from + i) * load_floats(scale + i));
      for (int k = 0; k < FLOAT_LANES; k++) x[i + k] = (int16_t)(x[i + k] + n[k]);
    }
}
static void whole_stage(const sr__mini_input *in, const int32_t *channel, int32_t channels,
                        const float *scale, int16_t *x) {
  int64_t most = in->steps[0] > in->steps[1] ? in->steps[0] : in->steps[1];
  memset(x, 0, (size_t)(most * (in->step == 1 ? 1 : SR__MINI_LANES)) * sizeof *x);
  for (int32_t c = 0; c < channels; c++) {
    const float *from = in->x[0] + channel[c] * in->channel_stride[0];
    if (in->step == 1) {
      int64_t t = 0;
      for (; t + FLOAT_LANES <= most; t += FLOAT_LANES) {
        ints n = nearest(load_floats(from + t) * scale[0]);
        for (int k = 0; k < FLOAT_LANES; k++) x[t + k] = (int16_t)(x[t + k] + n[k]);
      }
      for (; t < most; t++) x[t] = (int16_t)(x[t] + nearest(all_floats(from[t] * scale[0]))[0]);
      continue;
    }
    whole_stage_block(from, in->steps[0], scale, x);
    if (in->steps[1] > 0)
      whole_stage_block(in->x[1] + channel[c] * in->channel_stride[1], in->steps[1],
                        scale + SR__SERIES_LANES, x + SR__SERIES_LANES);
  }
}
#include "minirocket_lanes.h"

const sr__minirocket_kernel SR__KERNEL(sr__minirocket_kernel) = {float_transform, whole_transform};
