#include "union_kernel.h"

#include <assert.h>

#include "core/vectors.h"

enum { SHORT = 16 };

/* Whether `place` stands in a list of k. */
SR__INLINE bool list_has(const int32_t *list, int32_t k, int32_t place) {
  int32_t t = 0;
#if defined(__AVX2__)
  if (k == 8) {
    __m256i eight = _mm256_loadu_si256((const void *)list);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(eight, _mm256_set1_epi32(place))) != 0;
  }
#endif
#if defined(__SSE2__)
  __m128i wanted = _mm_set1_epi32(place), found = _mm_setzero_si128();
  for (; t + 4 <= k; t += 4)
    found = _mm_or_si128(found, _mm_cmpeq_epi32(_mm_loadu_si128((const void *)(list + t)), wanted));
  if (_mm_movemask_epi8(found)) return true;
#endif
  int32_t rest = 0;
  for (; t < k; t++) rest |= list[t] == place;
  return rest;
}

SR__INLINE void mark_places(const sr__knn *knn, int32_t k, int64_t begin, int64_t end,
                            uint8_t *alone) {
  int64_t bytes = sr__union_bytes(k);
  for (int64_t p = begin; p < end; p++) {
    for (int64_t b = 0; b < bytes; b++) alone[p * bytes + b] = 0;
    for (int32_t s = 0; s < k; s++) {
      int32_t q = knn->neighbor[p * k + s];
      assert(q >= 0 && q < knn->count && q != p); /* lists are full */
      bool mutual = list_has(knn->neighbor + (int64_t)q * k, k, (int32_t)p);
      alone[p * bytes + s / 8] |= (uint8_t)(!mutual << s % 8);
    }
  }
}

static void mark(const sr__knn *knn, int64_t begin, int64_t end, uint8_t *alone) {
  if (knn->k == 8)
    mark_places(knn, 8, begin, end, alone);
  else
    mark_places(knn, knn->k, begin, end, alone);
}

SR__INLINE int32_t name_of(const sr__knn *knn, int32_t place) {
  return knn->row ? knn->row[place] : place;
}

/* Rows of places that come next lie anywhere in memory; asking for them early hides the wait. */
SR__INLINE void prefetch_row(const sr__union_lists *lists, int64_t place, int64_t end) {
  enum { OFFSETS_AHEAD = 16, ROWS_AHEAD = 8 };
  if (!lists->knn->row || place + OFFSETS_AHEAD >= end) return;
  const int32_t *row = lists->knn->row + place;
  __builtin_prefetch(lists->offset + row[OFFSETS_AHEAD]);
  const int32_t *first = lists->neighbor + lists->offset[row[ROWS_AHEAD]];
  __builtin_prefetch(first, 1);
  __builtin_prefetch(first + 9, 1); /* most rows reach into the next line */
}

/* Each name is compared with all others at once; as many as are less stand before it. */
SR__INLINE void sort_short(const int32_t name[SHORT], int64_t degree, int32_t *sorted) {
  int32_t rank[SHORT] = {0};
  for (int64_t i = 0; i < degree; i++)
    for (int j = 0; j < SHORT; j++) rank[j] += name[i] < name[j];
  for (int64_t i = 0; i < degree; i++) sorted[rank[i]] = name[i];
}

/* Short rows are sorted before they go to memory that is not at hand yet. */
static void fill(const sr__union_lists *lists, int64_t begin, int64_t end) {
  const sr__knn *knn = lists->knn;
  for (int64_t p = begin; p < end; p++) {
    prefetch_row(lists, p, end);
    int64_t row = name_of(knn, (int32_t)p), first = lists->offset[row];
    int64_t degree = lists->offset[row + 1] - first;
    int32_t shelf[SHORT] = {0}, *sorted = lists->neighbor + first;
    int32_t *name = degree <= SHORT ? shelf : sorted, *next = name;
    for (int32_t s = 0; s < knn->k; s++) *next++ = name_of(knn, knn->neighbor[p * knn->k + s]);
    for (int64_t e = p ? lists->extra_end[p - 1] : 0; e < lists->extra_end[p]; e++)
      *next++ = name_of(knn, lists->extra[e]);
    if (name == shelf)
      sort_short(shelf, degree, sorted);
    else
      sr__graph_sort_row(sorted, NULL, degree);
  }
}

const sr__union_kernel SR__KERNEL(sr__union_kernel) = {mark, fill};
