#include "sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE = 1 << 15 }; /* items between two looks for an interrupt */

int sr__compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int sr__compare_floats(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

enum { DIGIT_BITS = 11, DIGITS = 3, DIGIT_VALUES = 1 << DIGIT_BITS };

/* Unsigned numbers in the order of the floats: negative ones are flipped, others get the top bit.
 */
static uint32_t key_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
}

static uint32_t digit(uint32_t key, int d) { return key >> (d * DIGIT_BITS) & (DIGIT_VALUES - 1); }

sr__float_at *sr__sort_floats(sr__float_at *items, sr__float_at *spare, int64_t count) {
  static_assert(DIGITS * DIGIT_BITS >= 32, "all bits of a float");
  int64_t start[DIGITS][DIGIT_VALUES] = {0};
  for (int64_t i = 0; i < count; i++)
    for (int d = 0; d < DIGITS; d++) start[d][digit(key_of(items[i].value), d)]++;
  for (int d = 0; d < DIGITS; d++) {
    int64_t before = 0;
    for (int v = 0; v < DIGIT_VALUES; v++) {
      int64_t here = start[d][v];
      start[d][v] = before;
      before += here;
    }
    for (int64_t i = 0; i < count; i++)
      spare[start[d][digit(key_of(items[i].value), d)]++] = items[i];
    sr__float_at *sorted = spare;
    spare = items;
    items = sorted;
  }
  return items;
}

/* from[first .. middle) and from[middle .. end), both in order, become to[first .. end). */
static sr_status merge(sr_context *ctx, const char *from, char *to, const int64_t bounds[3],
                       size_t size, sr__order order) {
  sr_status status = SR_OK;
  int64_t left = bounds[0], right = bounds[1];
  for (int64_t at = bounds[0]; at < bounds[2]; at++) {
    if (at % SLICE == 0) SR_TRY(sr__check_interrupt(ctx));
    bool second = left == bounds[1] || (right < bounds[2] && order(from + (size_t)right * size,
                                                                   from + (size_t)left * size) < 0);
    int64_t next = second ? right++ : left++;
    memcpy(to + (size_t)at * size, from + (size_t)next * size, size);
  }
cleanup:
  return status;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Slices by qsort, then merged to and fro. */
sr_status sr__sort(sr_context *ctx, void *items, int64_t count, size_t size, sr__order order) {
  sr_status status = SR_OK;
  char *spare = NULL, *from = items, *to;
  for (int64_t at = 0; at < count; at += SLICE) {
    SR_TRY(sr__check_interrupt(ctx));
    qsort(from + (size_t)at * size, (size_t)least(count - at, SLICE), size, order);
  }
  if (count <= SLICE) return SR_OK;
  spare = to = sr__alloc(ctx, count, size);
  if (!spare) SR_TRY(sr_context_error(ctx).status);
  for (int64_t length = SLICE; length < count; length *= 2) {
    for (int64_t at = 0; at < count; at += 2 * length) {
      const int64_t bounds[3] = {at, least(at + length, count), least(at + 2 * length, count)};
      SR_TRY(merge(ctx, from, to, bounds, size, order));
    }
    char *merged = to;
    to = from;
    from = merged;
  }
  if (from == spare) memcpy(items, spare, (size_t)count * size);
cleanup:
  sr__free(ctx, spare);
  return status;
}
