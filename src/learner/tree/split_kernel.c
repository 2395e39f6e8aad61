#include "split_kernel.h"

#include "cut_any.h"
#include "cut_scores.h"

enum { BINS = 256, TOGETHER = 4 /* candidates that are counted in one reading of the rows */ };

static double score_to_beat(const sr__split *split) {
  return split->feature < 0 ? -INFINITY : split->score;
}

/* The cut after `place`, between it and the next bin that is not empty, which is at `upper`. */
static void take_cut(const cut *best, int32_t feature, int shift, bool missing, int32_t upper,
                     sr__split *split) {
  *split = (sr__split){.score = best->score,
                       .feature = feature,
                       .threshold = sr__threshold_between(best->place, upper, shift),
                       .shift = (uint8_t)shift,
                       .missing_seen = missing,
                       .left_weight = best->left};
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Nothing is looped over inside the loop over rows: the number of candidates is a constant. Small
 * nodes lie in the cache; of larger ones the rows are fetched ahead. */
enum { AHEAD = 12 };

SR__INLINE const uint8_t *bins_of_row(const sr__split_rows *rows, int64_t i, bool fetch) {
  if (fetch) {
    int64_t ahead = i + AHEAD < rows->count ? i + AHEAD : i;
    __builtin_prefetch(rows->bins + (int64_t)rows->entry[ahead].row * rows->features);
  }
  return rows->bins + (int64_t)rows->entry[i].row * rows->features;
}

SR__INLINE void count_narrow(const sr__split_rows *rows, int32_t first, int candidates,
                             uint32_t *histogram) {
  int64_t column[TOGETHER];
  for (int k = 0; k < candidates; k++) column[k] = rows->feature[first + k];
  for (int64_t i = 0; i < rows->count; i++) {
    const uint8_t *row = bins_of_row(rows, i, false);
    uint32_t load = rows->entry[i].load, weight = load >> SR__LOAD_CLASS;
    uint32_t added = weight << 16 | (weight & -(load & 1));
    for (int k = 0; k < candidates; k++) histogram[BINS * k + row[column[k]]] += added;
  }
}

SR__INLINE void count_packed(const sr__split_rows *rows, int32_t first, int candidates,
                             uint64_t *histogram) {
  int64_t column[TOGETHER];
  for (int k = 0; k < candidates; k++) column[k] = rows->feature[first + k];
  for (int64_t i = 0; i < rows->count; i++) {
    const uint8_t *row = bins_of_row(rows, i, true);
    uint64_t weight = sr__entry_weight(rows->entry[i]);
    uint64_t added = weight << 32 | (weight & -(uint64_t)(rows->entry[i].load & 1));
    for (int k = 0; k < candidates; k++) histogram[BINS * k + row[column[k]]] += added;
  }
}

typedef int64_t pair __attribute__((vector_size(16)));

SR__INLINE void count_pairs(const sr__split_rows *rows, int32_t first, int candidates,
                            int64_t *histogram) {
  int64_t column[TOGETHER];
  for (int k = 0; k < candidates; k++) column[k] = rows->feature[first + k];
  for (int64_t i = 0; i < rows->count; i++) {
    const uint8_t *row = bins_of_row(rows, i, true);
    int64_t weight = sr__entry_weight(rows->entry[i]);
    pair added = {weight, weight & -(int64_t)(rows->entry[i].load & 1)};
    for (int k = 0; k < candidates; k++) {
      int64_t *to = histogram + 2 * (BINS * k + row[column[k]]);
      pair here;
      memcpy(&here, to, sizeof here);
      here += added;
      memcpy(to, &here, sizeof here);
    }
  }
}

SR__INLINE void count_classes(const sr__split_rows *rows, const sr__node_classes *node,
                              int32_t first, int candidates, int32_t *histogram) {
  int64_t column[TOGETHER], step = (int64_t)BINS * node->present;
  for (int k = 0; k < candidates; k++) column[k] = rows->feature[first + k];
  for (int64_t i = 0; i < rows->count; i++) {
    const uint8_t *row = bins_of_row(rows, i, true);
    int32_t *to = histogram + (int64_t)BINS * node->class_slot[sr__entry_class(rows->entry[i])];
    int32_t weight = (int32_t)sr__entry_weight(rows->entry[i]);
    for (int k = 0; k < candidates; k++) to[step * k + row[column[k]]] += weight;
  }
}

SR__INLINE void count_slots(const sr__split_rows *rows, const sr__node_classes *node, int32_t first,
                            int candidates, int16_t *histogram) {
  int64_t column[TOGETHER], stride = sr__slot_stride(node->present);
  for (int k = 0; k < candidates; k++) column[k] = rows->feature[first + k];
  for (int64_t i = 0; i < rows->count; i++) {
    const uint8_t *row = bins_of_row(rows, i, true);
    int16_t *to = histogram + node->class_slot[sr__entry_class(rows->entry[i])];
    int16_t weight = (int16_t)sr__entry_weight(rows->entry[i]);
    for (int k = 0; k < candidates; k++) {
      int16_t *here = to + stride * (BINS * k + row[column[k]]);
      *here = (int16_t)(*here + weight);
    }
  }
}

/* Calls count(first, number) for up to TOGETHER candidates at a time, each number a constant. */
#define IN_GROUPS(candidates, count)                                    \
  for (int32_t first_ = 0; first_ < (candidates); first_ += TOGETHER) { \
    switch ((candidates)-first_) {                                      \
      case 1:                                                           \
        count(first_, 1);                                               \
        break;                                                          \
      case 2:                                                           \
        count(first_, 2);                                               \
        break;                                                          \
      case 3:                                                           \
        count(first_, 3);                                               \
        break;                                                          \
      default:                                                          \
        count(first_, TOGETHER);                                        \
    }                                                                   \
  }

static void add_narrow(const sr__split_rows *rows, uint32_t *histogram) {
#define COUNT(first, number) count_narrow(rows, first, number, histogram + BINS * (first))
  IN_GROUPS(rows->candidates, COUNT)
#undef COUNT
}

static void add_packed(const sr__split_rows *rows, uint64_t *histogram) {
#define COUNT(first, number) count_packed(rows, first, number, histogram + BINS * (first))
  IN_GROUPS(rows->candidates, COUNT)
#undef COUNT
}

static void add_pairs(const sr__split_rows *rows, int64_t *histogram) {
#define COUNT(first, number) count_pairs(rows, first, number, histogram + 2 * BINS * (first))
  IN_GROUPS(rows->candidates, COUNT)
#undef COUNT
}

static void add_classes(const sr__split_rows *rows, const sr__node_classes *node,
                        int32_t *histogram) {
#define COUNT(first, number) \
  count_classes(rows, node, first, number, histogram + (int64_t)BINS * node->present * (first))
  IN_GROUPS(rows->candidates, COUNT)
#undef COUNT
}

static void add_slots(const sr__split_rows *rows, const sr__node_classes *node,
                      int16_t *histogram) {
  const int64_t room = sr__slot_stride(node->present) * BINS;
#define COUNT(first, number) count_slots(rows, node, first, number, histogram + room * (first))
  IN_GROUPS(rows->candidates, COUNT)
#undef COUNT
}

/* ---- two classes ----------------------------------------------------------------------------- */

/* sum[b] of the places 0 to b, where place p holds bin (uint8_t)(p - shift); at places past the
 * last one, up to a multiple of LANES, stands what leaves nothing on the right. */
SR__INLINE void sum_narrow(const uint32_t *histogram, int32_t used, int shift, int32_t total,
                           int32_t *sum) {
  ints so_far = {0};
  if (shift) {
    sum[0] = (int32_t)histogram[SR__BIN_MISSING];
    memcpy(sum + 1, histogram, (size_t)(used > 0 ? used - 1 : 0) * sizeof *sum);
    histogram = (const uint32_t *)sum;
  }
  for (int32_t start = 0; start < used; start += LANES) {
    ints here = add_ints(running_sum(load_ints((const int32_t *)histogram + start)), so_far);
    memcpy(sum + start, &here, sizeof here);
    so_far = spread_last(here);
  }
  for (int32_t b = used; b % LANES; b++) sum[b] = total << 16;
}

/* An empty bin is the cut before it and cannot beat it. */
SR__INLINE cut cut_narrow_gini(const sr__tree_rules *rules, const sr__node_classes *node,
                               const int32_t *sum, int32_t used, double to_beat) {
  int32_t bits[BINS + LANES];
  cut best = {.score = to_beat, .place = -1};
  int64_t least = rules->min_weight < node->total ? rules->min_weight : node->total;
  two_classes c = {(float)node->total, (float)node->slot_count[1], (float)least};
  ints most = (ints){0} - 1;
  for (int32_t start = 0; start < used; start += LANES) {
    ints here = load_ints(sum + start);
    here = bits_of_two(&c, __builtin_convertvector(here >> 16, floats),
                       __builtin_convertvector(here & 0xffff, floats));
    memcpy(bits + start, &here, sizeof here);
    most = higher_ints(here, most);
  }
  int32_t top = highest_int(most);
  if (!may_beat(top, to_beat)) return best;
  int32_t enough = as_bits(as_float(top) * NEARLY), last = 0;
  for (int32_t start = 0; start < used; start += LANES) {
    for (uint32_t rest = lanes_from(load_ints(bits + start), enough); rest; rest &= rest - 1) {
      int32_t b = start + __builtin_ctz(rest);
      if (sum[b] == last) continue;
      last = sum[b];
      double score =
          score_two(last & 0xffff, last >> 16, (double)node->slot_count[1], (double)node->total);
      if (score > best.score) best = (cut){score, b, last >> 16};
    }
  }
  return best;
}

/* Empty bins are left out first: each cut costs six look-ups. */
static cut cut_narrow_entropy(const sr__tree_rules *rules, const sr__node_classes *node,
                              const int32_t *sum, int32_t used, double to_beat) {
  const double *x_log_x = rules->x_log_x;
  int32_t place[BINS], cuts = 0, last = 0, total = (int32_t)node->total;
  int32_t firsts = (int32_t)node->slot_count[0], seconds = (int32_t)node->slot_count[1];
  cut best = {.score = to_beat, .place = -1};
  for (int32_t b = 0; b < used; b++) {
    place[cuts] = b;
    cuts += sum[b] != last;
    last = sum[b];
  }
  for (int32_t c = 0; c < cuts; c++) {
    int32_t left = sum[place[c]] >> 16, second = sum[place[c]] & 0xffff, first = left - second;
    if (left < rules->min_weight || total - left < rules->min_weight) continue;
    double score = -x_log_x[left] - x_log_x[total - left];
    score += x_log_x[first] + x_log_x[firsts - first];
    score += x_log_x[second] + x_log_x[seconds - second];
    if (score > best.score) best = (cut){score, place[c], left};
  }
  return best;
}

static void cut_narrow(const sr__tree_rules *rules, const sr__node_classes *node,
                       const uint32_t *histogram, int32_t feature, sr__split *split) {
  int32_t sum[BINS + LANES], used = rules->binning->feature[feature].bins;
  bool missing = histogram[SR__BIN_MISSING] != 0;
  for (int shift = 0; shift <= (missing ? 1 : 0); shift++) {
    sum_narrow(histogram, used, shift, (int32_t)node->total, sum);
    cut best = rules->entropy ? cut_narrow_entropy(rules, node, sum, used, score_to_beat(split))
                              : cut_narrow_gini(rules, node, sum, used, score_to_beat(split));
    if (best.place < 0) continue;
    int32_t upper = best.place + 1;
    while (histogram[(uint8_t)(upper - shift)] == 0) upper++;
    take_cut(&best, feature, shift, missing, upper, split);
  }
}

static void cut_packed(const sr__tree_rules *rules, const sr__node_classes *node,
                       const uint64_t *histogram, int32_t feature, sr__split *split) {
  int32_t left[2 * (BINS + LANES)], *second = left + BINS + LANES, total[BINS + LANES];
  int32_t used = rules->binning->feature[feature].bins;
  bool missing = histogram[SR__BIN_MISSING] != 0;
  for (int shift = 0; shift <= (missing ? 1 : 0); shift++) {
    uint64_t so_far = 0;
    for (int32_t b = 0; b < used; b++) {
      so_far += histogram[(uint8_t)(b - shift)];
      total[b] = (int32_t)(so_far >> 32);
      second[b] = (int32_t)so_far;
      left[b] = total[b] - second[b];
    }
    for (int32_t b = used; b % LANES; b++) {
      total[b] = (int32_t)node->total;
      left[b] = second[b] = 0;
    }
    cut_list cuts = {left, total, BINS + LANES, NULL, used};
    cut best = best_of_classes(rules, node, &cuts, score_to_beat(split));
    if (best.place < 0) continue;
    int32_t upper = best.place + 1;
    while (histogram[(uint8_t)(upper - shift)] == 0) upper++;
    take_cut(&best, feature, shift, missing, upper, split);
  }
}

/* Few nodes are so heavy: one cut after the other. */
static void cut_pairs(const sr__tree_rules *rules, const sr__node_classes *node,
                      const int64_t *histogram, int32_t feature, sr__split *split) {
  int32_t used = rules->binning->feature[feature].bins;
  bool missing = histogram[2 * SR__BIN_MISSING] != 0;
  double all_second = (double)node->slot_count[1], total = (double)node->total;
  for (int shift = 0; shift <= (missing ? 1 : 0); shift++) {
    cut best = {.score = score_to_beat(split), .place = -1};
    int64_t left = 0, second = 0;
    for (int32_t b = 0; b < used; b++) {
      const int64_t *here = histogram + 2 * (uint8_t)(b - shift);
      left += here[0];
      second += here[1];
      if (left < rules->min_weight || node->total - left < rules->min_weight) continue;
      double score = score_two((double)second, (double)left, all_second, total);
      if (score > best.score) best = (cut){score, b, left};
    }
    if (best.place < 0) continue;
    int32_t upper = best.place + 1;
    while (histogram[2 * (uint8_t)(upper - shift)] == 0) upper++;
    take_cut(&best, feature, shift, missing, upper, split);
  }
}

/* ---- a histogram per class --------------------------------------------------------------------
 */

/* The cuts after bins that are not empty. */
typedef struct class_cuts {
  int32_t count;
  uint8_t at[BINS];    /* the cut that a place belongs to */
  uint8_t place[BINS]; /* of a cut */
  int32_t total[BINS + LANES];
} class_cuts;

/* Place p holds bin (uint8_t)(p - shift). An empty place is overwritten by the next. */
static void list_class_cuts(const sr__node_classes *node, const int32_t *weight, int32_t used,
                            int shift, class_cuts *cuts) {
  int32_t total = 0, count = 0;
  for (int32_t p = 0; p < used; p++) {
    int32_t here = weight[(uint8_t)(p - shift)];
    total += here;
    cuts->place[count] = (uint8_t)p;
    cuts->at[p] = (uint8_t)count;
    cuts->total[count] = total;
    count += here != 0;
  }
  cuts->count = count;
  for (int32_t c = count; c < count + LANES; c++) cuts->total[c] = (int32_t)node->total;
}

/* left[s * BINS + c] = weight of slot s on the left of cut c. */
static void sum_classes(const sr__node_classes *node, const int32_t *histogram, int32_t used,
                        int shift, const class_cuts *cuts, int32_t *left) {
  for (int32_t s = 0; s < node->present; s++) {
    const int32_t *from = histogram + (int64_t)s * BINS;
    int32_t *to = left + (int64_t)s * BINS, sum = 0;
    for (int32_t p = 0; p < used; p++) to[cuts->at[p]] = sum += from[(uint8_t)(p - shift)];
    for (int32_t c = cuts->count; c % LANES; c++) to[c] = 0;
  }
}

/* Under gini in nodes up to EXACT_WEIGHT: sums, squares and scores in one go. `carry` has a vector
 * per slot. */
SR__INLINE cut cut_squares(const sr__tree_rules *rules, const sr__node_classes *node,
                           const int32_t *histogram, int32_t used, int shift, int32_t *carry,
                           double to_beat) {
  square_sums sums;
  ints most = (ints){0} - 1;
  memset(carry, 0, (size_t)node->present * sizeof(ints));
  for (int32_t start = 0; start < used; start += LANES) {
    floats left_square = {0}, right_square = {0}, left = {0};
    for (int32_t s = 0; s < node->present; s++) {
      const int32_t *from = histogram + (int64_t)s * BINS;
      ints here;
      if (shift && start == 0) {
        int32_t turned[LANES];
        turned[0] = from[SR__BIN_MISSING];
        memcpy(turned + 1, from, sizeof turned - sizeof *turned);
        here = load_ints(turned);
      } else {
        here = load_ints(from + start - shift);
      }
      here = add_ints(running_sum(here), load_ints(carry + s * LANES));
      ints last = spread_last(here);
      memcpy(carry + s * LANES, &last, sizeof last);
      add_squares(__builtin_convertvector(here, floats), (float)node->slot_count[s], &left_square,
                  &right_square, &left);
    }
    most = higher_ints(store_squares(rules, node, start, left_square, right_square, left, &sums),
                       most);
  }
  /* Places past the last bin are no cuts. */
  for (int32_t b = used; b % LANES; b++) sums.bits[b] = -1;
  return best_of_squares(node, &sums, used, NULL, highest_int(most), to_beat);
}

static bool bin_is_used(const sr__node_classes *node, const int32_t *histogram, uint8_t bin) {
  int32_t some = 0;
  for (int32_t s = 0; s < node->present; s++) some |= histogram[(int64_t)s * BINS + bin];
  return some != 0;
}

static void cut_classes(const sr__tree_rules *rules, const sr__node_classes *node,
                        const int32_t *histogram, int32_t *left, int32_t feature,
                        sr__split *split) {
  int32_t weight[BINS], used = rules->binning->feature[feature].bins;
  bool squares = !rules->entropy && node->total <= EXACT_WEIGHT;
  bool missing = bin_is_used(node, histogram, SR__BIN_MISSING);
  class_cuts cuts;
  if (!squares) {
    memset(weight, 0, sizeof weight);
    for (int32_t s = 0; s < node->present; s++)
      for (int32_t b = 0; b < BINS; b++) weight[b] += histogram[(int64_t)s * BINS + b];
  }
  for (int shift = 0; shift <= (missing ? 1 : 0); shift++) {
    cut best;
    if (squares) {
      best = cut_squares(rules, node, histogram, used, shift, left, score_to_beat(split));
    } else {
      list_class_cuts(node, weight, used, shift, &cuts);
      sum_classes(node, histogram, used, shift, &cuts, left);
      cut_list list = {left, cuts.total, BINS, NULL, cuts.count};
      best = best_of_classes(rules, node, &list, score_to_beat(split));
      if (best.place >= 0) best.place = cuts.place[best.place];
    }
    if (best.place < 0) continue;
    int32_t upper = best.place + 1;
    while (!bin_is_used(node, histogram, (uint8_t)(upper - shift))) upper++;
    take_cut(&best, feature, shift, missing, upper, split);
  }
}

/* ---- all classes of a bin side by side ------------------------------------------------------- */

SR__INLINE bool has_weight(const int16_t *histogram, int32_t bin, int stride) {
  uint64_t some = 0;
  for (int k = 0; k < stride; k += 4) {
    uint64_t word;
    memcpy(&word, histogram + bin * stride + k, sizeof word);
    some |= word;
  }
  return some != 0;
}

/* Weights of the slots, of which no more than `stride` are in use, and sums over the slots of a * b
 * at a few places: products of pairs, then sums of places side by side. */
enum { PLACES = 8 };

#if defined(__AVX2__)
typedef __m256i slots;
typedef __m256i products;
SR__INLINE slots load_slots(const int16_t *from, int stride) {
  return stride == SR__MOST_SLOTS ? _mm256_loadu_si256((const void *)from)
                                  : _mm256_zextsi128_si256(_mm_loadu_si128((const void *)from));
}
SR__INLINE slots sum_of(slots a, slots b) { return _mm256_add_epi16(a, b); }
SR__INLINE products multiply(slots a, slots b) { return _mm256_madd_epi16(a, b); }
SR__INLINE void store_sums(const products *a, int32_t *sum) {
  __m256i low = _mm256_hadd_epi32(_mm256_hadd_epi32(a[0], a[1]), _mm256_hadd_epi32(a[2], a[3]));
  __m256i high = _mm256_hadd_epi32(_mm256_hadd_epi32(a[4], a[5]), _mm256_hadd_epi32(a[6], a[7]));
  __m256i all = _mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                                 _mm256_permute2x128_si256(low, high, 0x31));
  _mm256_storeu_si256((void *)sum, all);
}
#elif defined(__SSE2__)
typedef struct slots {
  __m128i low, high;
} slots;
typedef __m128i products;
SR__INLINE slots load_slots(const int16_t *from, int stride) {
  return (slots){_mm_loadu_si128((const void *)from),
                 stride == SR__MOST_SLOTS ? _mm_loadu_si128((const void *)(from + 8))
                                          : _mm_setzero_si128()};
}
SR__INLINE slots sum_of(slots a, slots b) {
  return (slots){_mm_add_epi16(a.low, b.low), _mm_add_epi16(a.high, b.high)};
}
SR__INLINE products multiply(slots a, slots b) {
  return _mm_add_epi32(_mm_madd_epi16(a.low, b.low), _mm_madd_epi16(a.high, b.high));
}
SR__INLINE __m128i sum_pairs(__m128i a, __m128i b) {
  return _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
}
SR__INLINE void store_sums(const products *a, int32_t *sum) {
  for (int k = 0; k < PLACES; k += 4) {
    __m128i one = sum_pairs(a[k], a[k + 1]), two = sum_pairs(a[k + 2], a[k + 3]);
    __m128i all = _mm_add_epi32(_mm_unpacklo_epi64(one, two), _mm_unpackhi_epi64(one, two));
    _mm_storeu_si128((void *)(sum + k), all);
  }
}
#else
typedef int16_t slots __attribute__((vector_size(2 * SR__MOST_SLOTS)));
typedef int32_t products;
SR__INLINE slots load_slots(const int16_t *from, int stride) {
  slots here = {0};
  for (int k = 0; k < stride; k++) here[k] = from[k];
  return here;
}
SR__INLINE slots sum_of(slots a, slots b) { return a + b; }
SR__INLINE products multiply(slots a, slots b) {
  int32_t sum = 0;
  for (int k = 0; k < SR__MOST_SLOTS; k++) sum += a[k] * b[k];
  return sum;
}
SR__INLINE void store_sums(const products *a, int32_t *sum) {
  memcpy(sum, a, PLACES * sizeof *sum);
}
#endif

SR__INLINE void multiply_all(const slots *a, slots b, int32_t *sum) {
  products here[PLACES];
  for (int k = 0; k < PLACES; k++) here[k] = multiply(a[k], b);
  store_sums(here, sum);
}

SR__INLINE void square_all(const slots *a, int32_t *sum) {
  products here[PLACES];
  for (int k = 0; k < PLACES; k++) here[k] = multiply(a[k], a[k]);
  store_sums(here, sum);
}

/* Per place: weight on the left, the sum of its squares over the slots, and of its products with
 * the slots' weights. */
typedef struct slot_sums {
  int32_t left[BINS + LANES], square[BINS + LANES], cross[BINS + LANES];
} slot_sums;

SR__INLINE void sum_slots(const int16_t *histogram, int32_t used, int shift, int stride, slots all,
                          slot_sums *sums) {
  static const int16_t each[SR__MOST_SLOTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  static const int16_t none[SR__MOST_SLOTS] = {0};
  slots so_far = load_slots(none, stride), ones = load_slots(each, stride);
  int32_t end = (used + LANES - 1) / LANES * LANES; /* bins that are not in use are empty */
  for (int32_t start = 0; start < end; start += PLACES) {
    slots left[PLACES];
    int32_t from = start - shift, first = from < 0 ? SR__BIN_MISSING : from;
    left[0] = so_far = sum_of(so_far, load_slots(histogram + first * stride, stride));
    for (int k = 1; k < PLACES; k++)
      left[k] = so_far = sum_of(so_far, load_slots(histogram + (from + k) * stride, stride));
    multiply_all(left, ones, sums->left + start);
    multiply_all(left, all, sums->cross + start);
    square_all(left, sums->square + start);
  }
}

SR__INLINE floats floats_of(ints a) { return __builtin_convertvector(a, floats); }

/* Of a slot with weight a, of which l is on the left, r = a - l is on the right, and r^2 = (a^2 - a
 * l)
 * - (a l - l^2). All sums are whole numbers up to SR__NARROW_WEIGHT^2. */
SR__INLINE void cut_slots_of(const sr__tree_rules *rules, const sr__node_classes *node,
                             const int16_t *histogram, int stride, int32_t feature,
                             sr__split *split) {
  int32_t used = rules->binning->feature[feature].bins, all_square = 0;
  bool missing = has_weight(histogram, SR__BIN_MISSING, stride);
  int16_t weight[SR__MOST_SLOTS] = {0};
  slot_sums here;
  square_sums sums;
  for (int32_t s = 0; s < node->present; s++) {
    weight[s] = (int16_t)node->slot_count[s];
    all_square += (int32_t)(node->slot_count[s] * node->slot_count[s]);
  }
  for (int shift = 0; shift <= (missing ? 1 : 0); shift++) {
    ints most = (ints){0} - 1;
    sum_slots(histogram, used, shift, stride, load_slots(weight, stride), &here);
    for (int32_t start = 0; start < used; start += LANES) {
      ints square = load_ints(here.square + start), cross = load_ints(here.cross + start);
      ints right = (all_square - cross) - (cross - square);
      ints bits = store_squares(rules, node, start, floats_of(square), floats_of(right),
                                floats_of(load_ints(here.left + start)), &sums);
      most = higher_ints(bits, most);
    }
    /* Places past the last bin are no cuts. */
    for (int32_t b = used; b % LANES; b++) sums.bits[b] = -1;
    cut best = best_of_squares(node, &sums, used, NULL, highest_int(most), score_to_beat(split));
    if (best.place < 0) continue;
    int32_t upper = best.place + 1;
    while (!has_weight(histogram, (uint8_t)(upper - shift), stride)) upper++;
    take_cut(&best, feature, shift, missing, upper, split);
  }
}

static void cut_slots(const sr__tree_rules *rules, const sr__node_classes *node,
                      const int16_t *histogram, int32_t feature, sr__split *split) {
  if (sr__slot_stride(node->present) == SR__MOST_SLOTS / 2)
    cut_slots_of(rules, node, histogram, SR__MOST_SLOTS / 2, feature, split);
  else
    cut_slots_of(rules, node, histogram, SR__MOST_SLOTS, feature, split);
}

/* ---- any ------------------------------------------------------------------------------------- */

static void clear_any_histogram(const sr__tree_rules *rules, const sr__node_classes *node,
                                int32_t feature, int64_t *histogram) {
  any_node a = {rules, node, histogram, NULL, rules->binning->feature[feature].bins};
  clear_any(&a, histogram);
}

static void add_any(const sr__split_rows *rows, const sr__node_classes *node, int64_t *histogram) {
  for (int64_t i = 0; i < rows->count; i++) {
    int64_t bin = bins_of_row(rows, i, true)[rows->feature[0]];
    histogram[bin * node->present + node->class_slot[sr__entry_class(rows->entry[i])]] +=
        sr__entry_weight(rows->entry[i]);
  }
}

static void cut_any_numeric(const any_node *a, int32_t feature, sr__split *split) {
  uint8_t sequence[256];
  bool missing = bin_weight(a, SR__BIN_MISSING) > 0;
  for (int shift = 0; shift <= (missing ? 1 : 0); shift++) {
    for (int32_t b = 0; b <= a->used; b++) sequence[b] = (uint8_t)(b - shift);
    if (shift == 0) sequence[a->used] = SR__BIN_MISSING;
    int32_t taken = cut_sequence(a, sequence, a->used + missing, split);
    if (taken == 0) continue;
    split->feature = feature;
    split->categorical = false;
    split->missing_seen = missing;
    split->shift = (uint8_t)shift;
    int32_t next = taken;
    while (bin_weight(a, sequence[next]) == 0) next++;
    int32_t upper = (uint8_t)(sequence[next] + shift);
    split->threshold = sr__threshold_between(taken - 1, upper, shift);
  }
}

static void cut_any(const sr__tree_rules *rules, const sr__node_classes *node,
                    const int64_t *histogram, int64_t *left, int32_t feature, sr__split *split) {
  any_node a = {rules, node, histogram, left, rules->binning->feature[feature].bins};
  if (sr__has_categories(rules, feature))
    cut_any_categories(&a, feature, split);
  else
    cut_any_numeric(&a, feature, split);
}

static void fill_logs(int32_t count, double *table) {
  for (int32_t x = 0; x < count; x += HALF_LANES) {
    doubles here;
    for (int k = 0; k < HALF_LANES; k++) here[k] = x + k;
    here = x_log_x_lanes(here);
    memcpy(table + x, &here,
           sizeof here < (size_t)(count - x) * sizeof *table ? sizeof here
                                                             : (size_t)(count - x) * sizeof *table);
  }
}

const sr__split_kernel SR__KERNEL(sr__split_kernel) = {
    .add_narrow = add_narrow,
    .cut_narrow = cut_narrow,
    .add_packed = add_packed,
    .cut_packed = cut_packed,
    .add_pairs = add_pairs,
    .cut_pairs = cut_pairs,
    .add_classes = add_classes,
    .cut_classes = cut_classes,
    .add_slots = add_slots,
    .cut_slots = cut_slots,
    .clear_any = clear_any_histogram,
    .add_any = add_any,
    .cut_any = cut_any,
    .fill_logs = fill_logs,
};
