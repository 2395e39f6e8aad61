/* The rows of large nodes in about two bytes each. A row is the step from the row before it in the
 * node (from 0 for the first) and its weight and class in one number, both in groups of seven bits,
 * the lowest first, with the eighth bit set where a group follows. */
#include "tree.h"

enum { PREFETCH_AHEAD = 12, LONGEST = 10 /* bytes of a row */ };

/* ---- reading ------------------------------------------------------------------------------ */

static inline uint32_t get_number(const uint8_t **at) {
  uint32_t number = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *(*at)++;
    number |= (uint32_t)(byte & 127) << shift;
    if (byte < 128) return number;
  }
}

static inline sr__entry entry_of(const sr__grower *g, uint32_t row, uint32_t load) {
  uint32_t class = load & ((1u << g->class_bits) - 1);
  return (sr__entry){row, load >> g->class_bits << SR__LOAD_CLASS | class};
}

/* Rows of two bytes each, four at a time, up to the first longer one. */
static int64_t read_short_rows(const sr__grower *g, const uint8_t **at, const uint8_t *end,
                               uint32_t *row, sr__entry *entry, int64_t limit) {
  const uint8_t *here = *at;
  uint32_t last = *row;
  int64_t count = 0;
  for (; count + 4 <= limit && end - here >= 8; count += 4, here += 8) {
    uint64_t word;
    memcpy(&word, here, sizeof word);
    if (word & 0x8080808080808080u) break;
    uint32_t first = last + here[0], second = first + here[2];
    uint32_t third = second + here[4];
    last = third + here[6];
    entry[count] = entry_of(g, first, here[1]);
    entry[count + 1] = entry_of(g, second, here[3]);
    entry[count + 2] = entry_of(g, third, here[5]);
    entry[count + 3] = entry_of(g, last, here[7]);
  }
  *at = here;
  *row = last;
  return count;
}

int64_t sr__read_rows(const sr__grower *g, sr__coded_rows *rows, sr__entry *entry, int64_t limit) {
  const uint8_t *at = g->code + rows->begin, *end = g->code + rows->end;
  uint32_t row = rows->before;
  int64_t count = 0;
  while (count < limit && at < end) {
    count += read_short_rows(g, &at, end, &row, entry + count, limit - count);
    for (int k = 0; k < 4 && count < limit && at < end; k++) {
      row += get_number(&at);
      entry[count++] = entry_of(g, row, get_number(&at));
    }
  }
  rows->begin = at - g->code;
  rows->before = row;
  return count;
}

/* ---- writing ------------------------------------------------------------------------------ */

static inline uint8_t *put_number(uint8_t *at, uint32_t number) {
  for (; number >= 128; number >>= 7) *at++ = (uint8_t)(number | 128);
  *at++ = (uint8_t)number;
  return at;
}

static inline uint32_t coded_load(const sr__grower *g, sr__entry entry) {
  return sr__entry_weight(entry) << g->class_bits | sr__entry_class(entry);
}

/* An eighth more than asked for: the bytes of a node's children may be a few more than its own. */
static sr_status reserve_code(sr__grower *g, int64_t bytes) {
  if (bytes <= g->code_capacity) return SR_OK;
  void *block = sr__resize(g->ctx, g->code, bytes + bytes / 8, 1);
  if (!block) return sr_context_error(g->ctx).status;
  g->code = block;
  g->code_capacity = bytes + bytes / 8;
  return SR_OK;
}

sr_status sr__add_rows(sr__grower *g, sr__coded_rows *rows, const sr__entry *entry, int64_t count) {
  sr_status status = SR_OK;
  SR_TRY(reserve_code(g, rows->end + count * LONGEST));
  uint8_t *at = g->code + rows->end;
  for (int64_t i = 0; i < count; i++) {
    at = put_number(put_number(at, entry[i].row - rows->before), coded_load(g, entry[i]));
    rows->before = entry[i].row;
  }
  rows->end = at - g->code;
cleanup:
  return status;
}

/* ---- splitting a node --------------------------------------------------------------------- */

/* Where the rows of one side go. */
typedef struct side {
  uint8_t *at;
  uint32_t before;
} side;

static inline void put_row(side *to, uint32_t row, uint32_t load) {
  to->at = put_number(put_number(to->at, row - to->before), load);
  to->before = row;
}

/* A side's bytes are never more than the bytes read so far: its steps are sums of steps. Short
 * steps are written to both sides and kept on one, without a branch. Gives the rows that go left.
 */
static int64_t deal_rows(const sr__grower *g, const uint8_t *bins, const sr__split *split,
                         const sr__entry *entry, int64_t count, side *left, side *right) {
  const uint8_t *column = bins + split->feature;
  int64_t gone_left = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t ahead = i + PREFETCH_AHEAD < count ? i + PREFETCH_AHEAD : i;
    __builtin_prefetch(column + (int64_t)entry[ahead].row * g->features);
    uint32_t row = entry[i].row, load = coded_load(g, entry[i]);
    bool goes_left = sr__goes_left(split, column[(int64_t)row * g->features]);
    uint32_t left_step = row - left->before, right_step = row - right->before;
    gone_left += goes_left;
    if ((left_step | right_step | load) >= 128) {
      put_row(goes_left ? left : right, row, load);
      continue;
    }
    left->at[0] = (uint8_t)left_step;
    right->at[0] = (uint8_t)right_step;
    left->at[1] = right->at[1] = (uint8_t)load;
    left->at += goes_left ? 2 : 0;
    right->at += goes_left ? 0 : 2;
    left->before = goes_left ? row : left->before;
    right->before = goes_left ? right->before : row;
  }
  return gone_left;
}

/* The lighter side is written elsewhere and then put to its place: the right side first, so that
 * the left one, grown before it, lies at the end. */
sr_status sr__split_code(sr__grower *g, const uint8_t *bins, const sr__split *split,
                         sr__coded_rows rows, sr__coded_rows *left, sr__coded_rows *right,
                         int64_t *left_count) {
  sr_status status = SR_OK;
  int64_t begin = rows.begin, count, aside = 0, in_place = 0;
  bool left_aside = 2 * split->left_weight < g->total;
  side there = {0}, here = {0};
  sr__entry tile[SR__TILE];
  *left_count = 0;
  while ((count = sr__read_rows(g, &rows, tile, SR__TILE)) > 0) {
    SR_GROW(g->ctx, g->work, g->work_capacity, aside + count * LONGEST);
    there.at = g->work + aside;
    here.at = g->code + begin + in_place;
    *left_count += left_aside ? deal_rows(g, bins, split, tile, count, &there, &here)
                              : deal_rows(g, bins, split, tile, count, &here, &there);
    aside = there.at - g->work;
    in_place = here.at - (g->code + begin);
  }
  SR_TRY(reserve_code(g, begin + in_place + aside));
  uint8_t *code = g->code + begin;
  if (left_aside) {
    memcpy(code + in_place, g->work, (size_t)aside);
  } else {
    memmove(code + aside, code, (size_t)in_place);
    memcpy(code, g->work, (size_t)aside);
  }
  int64_t middle = begin + (left_aside ? in_place : aside);
  *right = (sr__coded_rows){.begin = begin, .end = middle};
  *left = (sr__coded_rows){.begin = middle, .end = begin + in_place + aside};
cleanup:
  return status;
}
