/* The transform for one kind of element; minirocket_kernel.c includes this twice. It sets
 *   ELEMENT, VECTOR, WIDTH  a value, a register of them, how many that is
 *   MASK, MASK_ELEMENT      what a comparison of two VECTORs gives
 *   BLOCK                   lanes: series, or times of one series, that stand side by side
 *   LOAD, NAME, bias_vector, stage */

#define lane_counts NAME(lane_counts)
#define count_outputs NAME(count_outputs)
#define count_above NAME(count_above)
#define count_biases NAME(count_biases)
#define count_filter NAME(count_filter)
#define stage_all NAME(stage_all)
#define make_pair NAME(make_pair)
#define responses NAME(responses)
#define respond NAME(respond)
#define transform NAME(transform)
#define bias_vector NAME(bias_vector)
#define stage NAME(stage)

typedef struct lane_counts {
  int32_t outputs[BLOCK]; /* of each lane */
  float number[BLOCK];    /* the same as a float */
  int32_t vectors[BLOCK]; /* that each lane takes part in */
  int32_t least, most;    /* of these */
} lane_counts;

/* Outputs [skip, length - skip) of each lane; at least one. */
static void count_outputs(const sr__mini_input *in, int64_t skip, lane_counts *n) {
  for (int i = 0; i < BLOCK; i++) {
    int32_t length = in->length[i] < SR__MINI_TAPS ? SR__MINI_TAPS : in->length[i];
    int64_t outputs = length - 2 * skip;
    n->outputs[i] = outputs < 1 ? 1 : (int32_t)outputs;
    n->number[i] = (float)n->outputs[i];
    n->vectors[i] = in->step == 1 ? (n->outputs[i] + BLOCK - 1 - i) / BLOCK : n->outputs[i];
    if (i == 0 || n->vectors[i] < n->least) n->least = n->vectors[i];
    if (i == 0 || n->vectors[i] > n->most) n->most = n->vectors[i];
  }
}

/* The responses of a filter are pair + third. The first filter of a pair also makes it, as base +
 * first + second: one way through the memory instead of two. */
typedef struct responses {
  ELEMENT *pair;
  const ELEMENT *third, *base, *first, *second;
  const lane_counts *counts;
  const float *scale;
} responses;

SR__INLINE VECTOR respond(const responses *r, int64_t at, bool make) {
  if (!make) return LOAD(r->pair + at) + LOAD(r->third + at);
  VECTOR pair = LOAD(r->base + at) + LOAD(r->first + at) + LOAD(r->second + at);
  memcpy(r->pair + at, &pair, sizeof pair);
  return pair + LOAD(r->third + at);
}

/* How many of the responses exceed each of K biases, by lanes from `lane` on. */
SR__INLINE void count_above(const responses *r, bool make, int lane, const float *bias, int K,
                            int32_t above[TOGETHER][BLOCK]) {
  const lane_counts *n = r->counts;
  VECTOR limit[TOGETHER];
  MASK sum[TOGETHER], left = {0};
#pragma GCC unroll 6
  for (int k = 0; k < K; k++) limit[k] = bias_vector(bias[k], r->scale + lane);
  for (int32_t begin = 0; begin < n->most; begin += STRETCH) {
    int32_t end = n->most - begin > STRETCH ? begin + STRETCH : n->most;
    int32_t full = n->least < end ? n->least : end, v = begin;
#pragma GCC unroll 6
    for (int k = 0; k < K; k++) sum[k] = (MASK){0};
    for (; v < full; v++) {
      VECTOR response = respond(r, (int64_t)v * BLOCK + lane, make);
#pragma GCC unroll 6
      for (int k = 0; k < K; k++) sum[k] -= response > limit[k];
    }
    if (v < end)
      for (int i = 0; i < WIDTH; i++) {
        int32_t more = n->vectors[lane + i] - begin;
        left[i] = (MASK_ELEMENT)(more < 0 ? 0 : more > STRETCH ? STRETCH : more);
      }
    for (; v < end; v++) {
      VECTOR response = respond(r, (int64_t)v * BLOCK + lane, make);
      MASK inside = left > (MASK_ELEMENT)(v - begin);
#pragma GCC unroll 6
      for (int k = 0; k < K; k++) sum[k] -= (response > limit[k]) & inside;
    }
    for (int k = 0; k < K; k++) {
      MASK_ELEMENT part[WIDTH];
      memcpy(part, &sum[k], sizeof part);
      if (begin == 0)
        for (int i = 0; i < WIDTH; i++) above[k][lane + i] = part[i];
      else
        for (int i = 0; i < WIDTH; i++) above[k][lane + i] += part[i];
    }
  }
}

SR__INLINE void count_biases(const responses *r, bool make, const float *bias, int number,
                             int32_t above[TOGETHER][BLOCK]) {
  for (int lane = 0; lane < BLOCK; lane += WIDTH) switch (number) {
      case 6:
        count_above(r, make, lane, bias, 6, above);
        break;
      case 5:
        count_above(r, make, lane, bias, 5, above);
        break;
      case 4:
        count_above(r, make, lane, bias, 4, above);
        break;
      case 3:
        count_above(r, make, lane, bias, 3, above);
        break;
      case 2:
        count_above(r, make, lane, bias, 2, above);
        break;
      default:
        count_above(r, make, lane, bias, 1, above);
    }
}

/* Shares of one filter for all of its biases. */
static void count_filter(const responses *r, bool make, const sr__mini_input *in, const float *bias,
                         int32_t biases, float *out, int64_t stride) {
  int32_t above[TOGETHER][BLOCK];
  int lanes = in->steps[1] > 0 || BLOCK == SR__SERIES_LANES ? BLOCK : SR__SERIES_LANES;
  for (int32_t b = 0; b < biases; b += TOGETHER) {
    int number = biases - b < TOGETHER ? biases - b : TOGETHER;
    if (make && b == 0)
      count_biases(r, true, bias, number, above);
    else
      count_biases(r, false, bias + b, number, above);
    for (int k = 0; k < number; k++) {
      float *to = out + (b + k) * stride;
      if (in->step == 1) {
        int32_t sum = 0;
        for (int i = 0; i < BLOCK; i++) sum += above[k][i];
        to[0] = (float)sum / r->counts->number[0];
      } else {
        store_shares(above[k], r->counts->number, lanes, to);
      }
    }
  }
}

/* x, 3 x and minus the sum of the nine taps; zeros up to the end of the scratch. */
static void stage_all(const sr__mini_input *in, const int32_t *channel, int32_t channels,
                      const float *scale, int64_t dilation, int64_t vectors,
                      const sr__mini_work *work) {
  ELEMENT *x = work->x, *triple = work->triple, *base = work->base;
  int64_t most = in->steps[0] > in->steps[1] ? in->steps[0] : in->steps[1];
  int64_t step = in->step == 1 ? 1 : BLOCK, given = most * step, all = work->steps * step;
  stage(in, channel, channels, scale, x);
  memset(x + given, 0, (size_t)(all - given) * sizeof *x);
  for (int64_t i = 0; i < all; i++) triple[i] = (ELEMENT)(x[i] + x[i] + x[i]);
  int64_t d = dilation * step;
  for (int64_t i = 0; i < vectors * BLOCK; i += WIDTH) {
    const ELEMENT *q = x + i;
    VECTOR sum = -LOAD(q) - LOAD(q - 4 * d) - LOAD(q - 3 * d) - LOAD(q - 2 * d) - LOAD(q - d) -
                 LOAD(q + d) - LOAD(q + 2 * d) - LOAD(q + 3 * d) - LOAD(q + 4 * d);
    memcpy(base + i, &sum, sizeof sum);
  }
}

/* Elements [begin, end) of a pair, and some before them. */
static void make_pair(const responses *r, int64_t begin, int64_t end) {
  for (int64_t i = begin / WIDTH * WIDTH; i < end; i += WIDTH) {
    VECTOR sum = LOAD(r->base + i) + LOAD(r->first + i) + LOAD(r->second + i);
    memcpy(r->pair + i, &sum, sizeof sum);
  }
}

static void transform(const sr__minirocket *mini, const sr__mini_input *in,
                      sr__mini_filters filters, const sr__mini_work *work, float *out,
                      int64_t stride) {
  int32_t d = filters.dilation, end = filters.first + filters.count;
  int64_t step = in->step == 1 ? 1 : BLOCK, dilation = mini->dilation[d], skip = 4 * dilation;
  lane_counts counts[2]; /* all outputs; those that see no zeros */
  float scale[SR__MINI_LANES];
  int32_t biases = mini->biases[d], k = 0;
  bool staged = false;
  find_scales(in->peak, mini->most_bias, scale);
  count_outputs(in, 0, &counts[0]);
  count_outputs(in, skip, &counts[1]);
  int64_t needed = 2 * skip + 1, vectors = 0; /* steps; the vectors that hold them */
  for (int i = 0; i < BLOCK; i++)
    if (in->length[i] > needed) needed = in->length[i];
  vectors = in->step == 1 ? (needed + BLOCK - 1) / BLOCK + 1 : needed;
  for (int a = 0; a < SR__MINI_TAPS; a++)
    for (int b = a + 1; b < SR__MINI_TAPS; b++) {
      bool paired = false;
      for (int c = b + 1; c < SR__MINI_TAPS; c++, k++) {
        if (k < filters.first || k >= end) continue;
        const ELEMENT *triple = work->triple;
        const int32_t *begin = mini->channel_begin + d * SR__MINI_FILTERS + k;
        if (!staged || mini->channels > 1) {
          stage_all(in, mini->channel + begin[0], begin[1] - begin[0], scale, dilation, vectors,
                    work);
          paired = false;
        }
        staged = true;
        int inner = (d + k) % 2;
        int64_t at = inner ? skip * step : 0;
        responses r = {.pair = work->pair,
                       .third = triple + (c - 4) * dilation * step,
                       .base = work->base,
                       .first = triple + (a - 4) * dilation * step,
                       .second = triple + (b - 4) * dilation * step,
                       .counts = &counts[inner],
                       .scale = scale};
        if (!paired) { /* what this filter does not look at and the next may */
          make_pair(&r, 0, at);
          make_pair(&r, at + (int64_t)counts[inner].most * BLOCK, vectors * BLOCK);
        }
        r.pair += at;
        r.third += at;
        r.base += at;
        r.first += at;
        r.second += at;
        count_filter(&r, !paired, in, mini->bias + mini->first[d] + (int64_t)k * biases, biases,
                     out + (int64_t)(k - filters.first) * biases * stride, stride);
        paired = true;
      }
    }
}

#undef lane_counts
#undef count_outputs
#undef count_above
#undef count_biases
#undef count_filter
#undef stage_all
#undef make_pair
#undef responses
#undef respond
#undef transform
#undef bias_vector
#undef stage
#undef ELEMENT
#undef VECTOR
#undef MASK
#undef MASK_ELEMENT
#undef WIDTH
#undef BLOCK
#undef LOAD
#undef NAME
