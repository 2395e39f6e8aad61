/* Equal rows are found by hashing their bits and comparing. */
#include "equal_rows.h"

/* Open addressing: what a slot holds is a kind and the upper half of its hash. */
typedef struct kind_slot {
  int32_t kind; /* -1: free */
  uint32_t tag;
} kind_slot;

static uint64_t hash_row(const float *x, int32_t dimension) {
  uint64_t hash = 0x9E3779B97F4A7C15u;
  for (int32_t j = 0; j < dimension; j++) {
    float value = x[j] + 0.0f; /* -0 is 0 */
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  return hash;
}

static bool rows_are_equal(const float *a, const float *b, int32_t dimension) {
  for (int32_t j = 0; j < dimension; j++)
    if (a[j] != b[j]) return false;
  return true;
}

/* Gives each row its kind. `example`: a row of each kind. */
static void number_kinds(const float *x, int32_t dimension, kind_slot *slot, uint64_t mask,
                         int32_t *example, sr__equal_rows *equal) {
  for (uint64_t s = 0; s <= mask; s++) slot[s].kind = -1;
  for (int64_t i = 0; i < equal->rows; i++) {
    const float *row = x + i * dimension;
    uint64_t hash = hash_row(row, dimension), at = hash & mask;
    uint32_t tag = (uint32_t)(hash >> 32);
    for (; slot[at].kind >= 0; at = (at + 1) & mask)
      if (slot[at].tag == tag &&
          rows_are_equal(x + (int64_t)example[slot[at].kind] * dimension, row, dimension))
        break;
    if (slot[at].kind < 0) {
      example[equal->kinds] = (int32_t)i;
      slot[at] = (kind_slot){(int32_t)equal->kinds++, tag};
    }
    equal->kind[i] = slot[at].kind;
  }
}

static void gather_members(sr__equal_rows *equal, int32_t *next) {
  memset(equal->first, 0, (size_t)(equal->kinds + 1) * sizeof *equal->first);
  for (int64_t i = 0; i < equal->rows; i++) equal->first[equal->kind[i] + 1]++;
  for (int64_t c = 0; c < equal->kinds; c++) {
    equal->first[c + 1] += equal->first[c];
    next[c] = equal->first[c];
  }
  for (int64_t i = 0; i < equal->rows; i++) equal->member[next[equal->kind[i]]++] = (int32_t)i;
}

sr_status sr__equal_rows_find(sr_context *ctx, const float *x, int64_t rows, int32_t dimension,
                              sr__equal_rows *equal) {
  sr_status status = SR_OK;
  kind_slot *slot = NULL;
  int32_t *scratch = NULL;
  int64_t slots = 64;
  while (slots < 2 * rows) slots *= 2;
  *equal = (sr__equal_rows){.rows = rows};
  SR_NEW(ctx, equal->kind, rows);
  SR_NEW(ctx, equal->member, rows);
  SR_NEW(ctx, scratch, rows);
  SR_NEW(ctx, slot, slots);
  number_kinds(x, dimension, slot, (uint64_t)slots - 1, scratch, equal);
  SR_NEW(ctx, equal->first, equal->kinds + 1);
  gather_members(equal, scratch);
cleanup:
  sr__free(ctx, slot);
  sr__free(ctx, scratch);
  if (status != SR_OK) sr__equal_rows_free(ctx, equal);
  return status;
}

void sr__equal_rows_free(sr_context *ctx, sr__equal_rows *equal) {
  sr__free(ctx, equal->kind);
  sr__free(ctx, equal->first);
  sr__free(ctx, equal->member);
  *equal = (sr__equal_rows){0};
}
