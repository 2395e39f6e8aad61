/* Up to four filters of one shape run together over successive output vectors: with 12 sums, 3
 * loads and 1 weight the 16 registers of AVX2 are full. What is left of a shape runs as 3 x 4, 2 x
 * 6 and 1 x 8 (filters x vectors). A vector is one time of eight series or eight times of one
 * series; the two differ only in how far a tap is away and in how many vectors each lane takes part
 * in. */
/* Vectors are 32 bytes long. GCC with AVX-512 compares those into masks, which is slower here. */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("no-avx512f")
#endif
#include "rocket_kernel.h"

#include "learner/series/lane_vectors.h"

enum { MOST_FILTERS = 4, MOST_VECTORS = 8 };

/* Where a fused sum is an instruction, all taps are written out. Where it is computed from 25
 * others, that gains nothing and takes the compiler minutes. */
#if defined(__FMA__) || defined(__aarch64__)
#define UNROLL_TAPS _Pragma("GCC unroll 11")
#else
#define UNROLL_TAPS _Pragma("GCC unroll 1")
#endif

/* Filters of one shape over one input. */
typedef struct span {
  const float *x; /* first tap of output vector 0 */
  int64_t tap_step, channel_stride;
  const int32_t *channel;
  int32_t channels, taps;
  const float *weight, *bias;
  int32_t vectors[SR__SERIES_LANES]; /* that each lane takes part in */
  int32_t least, most;               /* of these */
} span;

typedef struct lane_sums {
  int32_t positive[MOST_FILTERS][SR__SERIES_LANES];
  float largest[MOST_FILTERS][SR__SERIES_LANES];
} lane_sums;

/* Sums of K filters x T output vectors from x on. K > 1 reads one channel. */
SR__INLINE void convolve(const span *s, const float *x, int K, int T, int taps,
                         floats sum[MOST_FILTERS][MOST_VECTORS]) {
  const float *weight = s->weight;
  SR__READ_ANEW(weight);
#pragma GCC unroll 4
  for (int k = 0; k < K; k++)
#pragma GCC unroll 8
    for (int t = 0; t < T; t++) sum[k][t] = all_floats(s->bias[k]);
  for (int32_t c = 0; c < (K > 1 ? 1 : s->channels); c++, weight += taps) {
    const float *tap = x + s->channel[c] * s->channel_stride;
    UNROLL_TAPS
    for (int j = 0; j < taps; j++, tap += s->tap_step) {
      if (T <= 3) {
        floats value[3];
#pragma GCC unroll 3
        for (int t = 0; t < T; t++) {
          value[t] = load_floats(tap + t * SR__SERIES_LANES);
          SR__PIN(value[t]);
        }
#pragma GCC unroll 4
        for (int k = 0; k < K; k++) {
          floats w = all_floats(weight[k * taps + j]);
          SR__PIN(w);
#pragma GCC unroll 3
          for (int t = 0; t < T; t++) sum[k][t] = fused(w, value[t], sum[k][t]);
        }
      } else {
        floats w[3];
#pragma GCC unroll 3
        for (int k = 0; k < K; k++) {
          w[k] = all_floats(weight[k * taps + j]);
          SR__PIN(w[k]);
        }
#pragma GCC unroll 8
        for (int t = 0; t < T; t++) {
          floats value = load_floats(tap + t * SR__SERIES_LANES);
          if (K > 1) SR__PIN(value);
#pragma GCC unroll 3
          for (int k = 0; k < K; k++) sum[k][t] = fused(w[k], value, sum[k][t]);
        }
      }
    }
  }
}

SR__INLINE void fold(const span *s, const float *x, int K, int T, int taps, floats *top,
                     ints *positive) {
  floats sum[MOST_FILTERS][MOST_VECTORS];
  convolve(s, x, K, T, taps, sum);
#pragma GCC unroll 4
  for (int k = 0; k < K; k++) {
    floats most = sum[k][0];
    ints count = sum[k][0] > 0.0f;
#pragma GCC unroll 8
    for (int t = 1; t < T; t++) {
      most = larger(sum[k][t], most);
      count += sum[k][t] > 0.0f;
    }
    top[k] = larger(most, top[k]);
    positive[k] -= count;
  }
}

/* T vectors from v on that not every lane takes part in. */
SR__INLINE void fold_masked(const span *s, int32_t v, int K, int T, int taps, ints vectors,
                            const float *x, floats *top, ints *positive) {
  floats sum[MOST_FILTERS][MOST_VECTORS];
  convolve(s, x + (int64_t)v * SR__SERIES_LANES, K, T, taps, sum);
#pragma GCC unroll 8
  for (int t = 0; t < T; t++) {
    ints inside = vectors > v + t, lowest = ~inside & (ints)all_floats(-INFINITY);
#pragma GCC unroll 4
    for (int k = 0; k < K; k++) {
      top[k] = larger((floats)((inside & (ints)sum[k][t]) | lowest), top[k]);
      positive[k] -= (sum[k][t] > 0.0f) & inside;
    }
  }
}

SR__INLINE void run(const span *s, int K, int T, int taps, lane_sums *out) {
  for (int lane = 0; lane < SR__SERIES_LANES; lane += FLOAT_LANES) {
    floats top[MOST_FILTERS];
    ints positive[MOST_FILTERS], vectors = load_ints(s->vectors + lane);
    const float *x = s->x + lane;
    int32_t v = 0;
    for (int k = 0; k < K; k++) {
      top[k] = all_floats(-INFINITY);
      positive[k] = (ints){0};
    }
    for (; v + T <= s->least; v += T)
      fold(s, x + (int64_t)v * SR__SERIES_LANES, K, T, taps, top, positive);
    /* What is left of a series runs together too: a vector alone would wait for its own sums. Where
     * sums are emulated they take longer than any waiting. */
    if ((int)FLOAT_LANES < (int)SR__SERIES_LANES)
      for (; v < s->least; v++)
        fold(s, x + (int64_t)v * SR__SERIES_LANES, K, 1, taps, top, positive);
    int tail = (int)FLOAT_LANES < (int)SR__SERIES_LANES ? 1 : T;
    for (; v < s->most; v += tail) fold_masked(s, v, K, tail, taps, vectors, x, top, positive);
    for (int k = 0; k < K; k++) {
      memcpy(&out->positive[k][lane], &positive[k], sizeof positive[k]);
      memcpy(&out->largest[k][lane], &top[k], sizeof top[k]);
    }
  }
}

#define RUN_OF(TAPS)                                                   \
  static void run_##TAPS(const span *s, int filters, lane_sums *out) { \
    switch (filters) {                                                 \
      case 4:                                                          \
        run(s, 4, 3, TAPS, out);                                       \
        break;                                                         \
      case 3:                                                          \
        run(s, 3, 4, TAPS, out);                                       \
        break;                                                         \
      case 2:                                                          \
        run(s, 2, 6, TAPS, out);                                       \
        break;                                                         \
      default:                                                         \
        run(s, 1, 8, TAPS, out);                                       \
    }                                                                  \
  }
RUN_OF(7)
RUN_OF(9)
RUN_OF(11)
static void run_short(const span *s, lane_sums *out) { run(s, 1, 8, s->taps, out); }

/* How many outputs a lane has; into s->vectors how many vectors that is. */
static void count_outputs(const sr__lane_input *input, int32_t padding, int64_t reach, span *s,
                          int32_t *outputs) {
  for (int i = 0; i < SR__SERIES_LANES; i++) {
    int64_t number = input->length[i] + 2 * (int64_t)padding - reach;
    outputs[i] = number < 1 ? 1 : (int32_t)number;
    s->vectors[i] =
        input->step == 1 ? (outputs[i] + SR__SERIES_LANES - 1 - i) / SR__SERIES_LANES : outputs[i];
    if (i == 0 || s->vectors[i] < s->least) s->least = s->vectors[i];
    if (i == 0 || s->vectors[i] > s->most) s->most = s->vectors[i];
  }
}

/* Adding 0 makes -0 to 0. */
static void store_lanes(const lane_sums *sums, int filters, const int32_t *outputs, float *out,
                        int64_t stride) {
  for (int k = 0; k < filters; k++)
    for (int i = 0; i < SR__SERIES_LANES; i++) {
      out[2 * k * stride + i] = (float)sums->positive[k][i] / (float)outputs[i];
      out[(2 * k + 1) * stride + i] = sums->largest[k][i] + 0.0f;
    }
}

static void store_one(const lane_sums *sums, int filters, int32_t outputs, float *out,
                      int64_t stride) {
  for (int k = 0; k < filters; k++) {
    int32_t positive = 0;
    float largest = sums->largest[k][0];
    for (int i = 0; i < SR__SERIES_LANES; i++) {
      positive += sums->positive[k][i];
      if (sums->largest[k][i] > largest) largest = sums->largest[k][i];
    }
    out[2 * k * stride] = (float)positive / (float)outputs;
    out[(2 * k + 1) * stride] = largest + 0.0f;
  }
}

/* Filters from k on that may run together. */
static int same_shape(const sr__rocket *r, int32_t k, int32_t end) {
  int number = 1;
  if (r->channel_begin[k + 1] - r->channel_begin[k] > 1 || r->taps[k] < 7) return 1;
  while (number < MOST_FILTERS && k + number < end) {
    int32_t q = k + number;
    if (r->taps[q] != r->taps[k] || r->dilation[q] != r->dilation[k] ||
        r->padding[q] != r->padding[k] || r->channel_begin[q + 1] - r->channel_begin[q] != 1 ||
        r->channel[r->channel_begin[q]] != r->channel[r->channel_begin[k]])
      break;
    number++;
  }
  return number;
}

static void run_filters(const span *s, int filters, lane_sums *sums) {
  switch (s->taps) {
    case 7:
      run_7(s, filters, sums);
      break;
    case 9:
      run_9(s, filters, sums);
      break;
    case 11:
      run_11(s, filters, sums);
      break;
    default:
      run_short(s, sums);
  }
}

/* Inputs innermost: the same loop lengths follow each other, and what is written to a row of
 * features is one stretch. A row is far from the next, so writing eight values to each in turn
 * keeps the stores waiting, which short series would feel. */
static void transform(const sr__rocket *r, const sr__rocket_task *task, float *out,
                      int64_t stride) {
  int32_t outputs[SR__ROCKET_INPUTS][SR__SERIES_LANES], number = 0,
                                                        end = task->first + task->filters;
  lane_sums sums;
  span spans[SR__ROCKET_INPUTS] = {0};
  for (int32_t k = task->first, before = -1; k < end; before = k, k += number) {
    bool fresh = before < 0 || r->taps[k] != r->taps[before] ||
                 r->dilation[k] != r->dilation[before] || r->padding[k] != r->padding[before];
    number = same_shape(r, k, end);
    for (int i = 0; i < task->inputs; i++) {
      const sr__lane_input *input = &task->input[i];
      span *s = &spans[i];
      if (fresh) {
        s->channel_stride = input->channel_stride;
        s->taps = r->taps[k];
        s->tap_step = r->dilation[k] * input->step;
        s->x = input->x - r->padding[k] * input->step;
        count_outputs(input, r->padding[k], (r->taps[k] - 1) * (int64_t)r->dilation[k], s,
                      outputs[i]);
      }
      s->channel = r->channel + r->channel_begin[k];
      s->channels = r->channel_begin[k + 1] - r->channel_begin[k];
      s->weight = r->weight + r->weight_begin[k];
      s->bias = r->bias + k;
      run_filters(s, number, &sums);
      float *to = out + 2 * (int64_t)(k - task->first) * stride + i * SR__SERIES_LANES;
      if (input->step == 1)
        store_one(&sums, number, outputs[i][0], to, stride);
      else
        store_lanes(&sums, number, outputs[i], to, stride);
    }
  }
}

const sr__rocket_kernel SR__KERNEL(sr__rocket_kernel) = {transform};
