#include "rows_kernel.h"

#include <string.h>

enum { AHEAD = 12 /* rows whose bins are on their way from memory */ };

static inline void fetch(const uint8_t *column, int64_t features, const sr__entry *entry, int64_t i,
                         int64_t count) {
  __builtin_prefetch(column + (int64_t)entry[i + AHEAD < count ? i + AHEAD : i].row * features);
}

/* ---- reading --------------------------------------------------------------------------------- */

static inline uint32_t get_number(const uint8_t **at) {
  uint32_t number = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *(*at)++;
    number |= (uint32_t)(byte & 127) << shift;
    if (byte < 128) return number;
  }
}

static inline sr__entry entry_of(int class_bits, uint32_t row, uint32_t load) {
  uint32_t class = load & ((1u << class_bits) - 1);
  return (sr__entry){row, load >> class_bits << SR__LOAD_CLASS | class};
}

/* Rows of two bytes each, four at a time, up to the first longer one. */
static inline int64_t read_short(int class_bits, const uint8_t **at, const uint8_t *end,
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
    entry[count] = entry_of(class_bits, first, here[1]);
    entry[count + 1] = entry_of(class_bits, second, here[3]);
    entry[count + 2] = entry_of(class_bits, third, here[5]);
    entry[count + 3] = entry_of(class_bits, last, here[7]);
  }
  *at = here;
  *row = last;
  return count;
}

static int64_t read_rows(int class_bits, sr__row_cursor *from, const uint8_t *end, sr__entry *entry,
                         int64_t limit) {
  const uint8_t *at = from->at;
  uint32_t row = from->before;
  int64_t count = 0;
  while (count < limit && at < end) {
    count += read_short(class_bits, &at, end, &row, entry + count, limit - count);
    for (int k = 0; k < 4 && count < limit && at < end; k++) {
      row += get_number(&at);
      entry[count++] = entry_of(class_bits, row, get_number(&at));
    }
  }
  from->at += at - from->at;
  from->before = row;
  return count;
}

/* ---- writing --------------------------------------------------------------------------------- */

static inline uint8_t *put_number(uint8_t *at, uint32_t number) {
  for (; number >= 128; number >>= 7) *at++ = (uint8_t)(number | 128);
  *at++ = (uint8_t)number;
  return at;
}

static inline void put_row(sr__row_cursor *to, uint32_t row, uint32_t load) {
  to->at = put_number(put_number(to->at, row - to->before), load);
  to->before = row;
}

static inline uint32_t coded_load(int class_bits, sr__entry entry) {
  return sr__entry_weight(entry) << class_bits | sr__entry_class(entry);
}

static void write_rows(int class_bits, sr__row_cursor *to, const sr__entry *entry, int64_t count) {
  for (int64_t i = 0; i < count; i++) put_row(to, entry[i].row, coded_load(class_bits, entry[i]));
}

/* Short steps are written to both sides and kept on one, without a branch. */
static int64_t deal(int class_bits, const uint8_t *bins, int64_t features, const sr__split *split,
                    const sr__entry *entry, int64_t count, sr__row_cursor *to_left,
                    sr__row_cursor *to_right) {
  const uint8_t *column = bins + split->feature;
  sr__row_cursor left = *to_left, right = *to_right;
  int64_t gone_left = 0;
  for (int64_t i = 0; i < count; i++) {
    fetch(column, features, entry, i, count);
    uint32_t row = entry[i].row, load = coded_load(class_bits, entry[i]);
    bool goes_left = sr__goes_left(split, column[(int64_t)row * features]);
    uint32_t left_step = row - left.before, right_step = row - right.before;
    gone_left += goes_left;
    if ((left_step | right_step | load) >= 128) {
      put_row(goes_left ? &left : &right, row, load);
      continue;
    }
    left.at[0] = (uint8_t)left_step;
    right.at[0] = (uint8_t)right_step;
    left.at[1] = right.at[1] = (uint8_t)load;
    left.at += goes_left ? 2 : 0;
    right.at += goes_left ? 0 : 2;
    left.before = goes_left ? row : left.before;
    right.before = goes_left ? right.before : row;
  }
  *to_left = left;
  *to_right = right;
  return gone_left;
}

/* ---- entries --------------------------------------------------------------------------------- */

static int64_t partition(const uint8_t *bins, int64_t features, const sr__split *split,
                         sr__entry *entry, int64_t count, sr__entry *spare) {
  const uint8_t *column = bins + split->feature;
  int64_t left = 0, right = 0;
  for (int64_t i = 0; i < count; i++) {
    fetch(column, features, entry, i, count);
    uint64_t moved; /* both halves in one register */
    bool goes_left = sr__goes_left(split, column[(int64_t)entry[i].row * features]);
    memcpy(&moved, entry + i, sizeof moved);
    memcpy(entry + left, &moved, sizeof moved);
    memcpy(spare + right, &moved, sizeof moved);
    left += goes_left;
    right += !goes_left;
  }
  memcpy(entry + left, spare, (size_t)right * sizeof *entry);
  return left;
}

static void weigh(int32_t classes, const sr__entry *entry, int64_t count, int64_t *class_count) {
  if (classes == 2) {
    int64_t total = 0, second = 0;
    for (int64_t i = 0; i < count; i++) {
      int64_t weight = sr__entry_weight(entry[i]);
      total += weight;
      second += entry[i].load & 1 ? weight : 0;
    }
    class_count[0] += total - second;
    class_count[1] += second;
    return;
  }
  for (int64_t i = 0; i < count; i++)
    class_count[sr__entry_class(entry[i])] += sr__entry_weight(entry[i]);
}

static void gather(const uint8_t *from, int64_t features, sr__entry *entry, int64_t count,
                   uint8_t *to) {
  for (int64_t i = 0; i < count; i++) {
    fetch(from, features, entry, i, count);
    memcpy(to + i * features, from + (int64_t)entry[i].row * features, (size_t)features);
    entry[i].row = (uint32_t)i;
  }
}

const sr__rows_kernel SR__KERNEL(sr__rows_kernel) = {
    .read = read_rows,
    .write = write_rows,
    .deal = deal,
    .partition = partition,
    .weigh = weigh,
    .gather = gather,
};
