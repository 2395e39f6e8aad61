/* The weighted median by quickselect. (value, node) is a strict order, so the result is unique. */
#include "partition.h"

static inline bool before(const sr__valued_node *a, const sr__valued_node *b) {
  return a->value != b->value ? a->value < b->value : a->node < b->node;
}

static inline void swap_entries(sr__valued_node *a, sr__valued_node *b) {
  sr__valued_node keep = *a;
  *a = *b;
  *b = keep;
}

/* Moves a pivot, the median of three places that depend on the length and `turn` alone, into its
 * final place in [first, last] and gives that place. Changing places keep patterns from making
 * every pivot bad. */
static int64_t partition_range(sr__valued_node *entry, int64_t first, int64_t last, uint64_t turn) {
  uint64_t length = (uint64_t)(last - first + 1);
  int64_t pick[3];
  for (int i = 0; i < 3; i++)
    pick[i] =
        first + (int64_t)(((turn * 3 + (uint64_t)i + 1) * 0x9E3779B97F4A7C15u >> 20) % length);
  if (before(&entry[pick[1]], &entry[pick[0]])) {
    int64_t t = pick[0];
    pick[0] = pick[1];
    pick[1] = t;
  }
  if (before(&entry[pick[2]], &entry[pick[1]]))
    pick[1] = before(&entry[pick[2]], &entry[pick[0]]) ? pick[0] : pick[2];
  swap_entries(&entry[pick[1]], &entry[last]);
  int64_t place = first;
  for (int64_t i = first; i < last; i++) {
    if (before(&entry[i], &entry[last])) swap_entries(&entry[i], &entry[place++]);
  }
  swap_entries(&entry[place], &entry[last]);
  return place;
}

static int64_t rows_between(const sr__working_graph *working, const sr__valued_node *entry,
                            int64_t first, int64_t end) {
  if (!working->size) return end - first;
  int64_t rows = 0;
  for (int64_t i = first; i < end; i++) rows += working->size[entry[i].node];
  return rows;
}

int64_t sr__select_rows(const sr__working_graph *working, sr__valued_node *entry, int64_t count,
                        int64_t rows) {
  int64_t first = 0, last = count - 1;
  /* Entries before `first` belong to the front, entries after `last` do not. */
  for (uint64_t turn = 0; first <= last; turn++) {
    int64_t place = partition_range(entry, first, last, turn);
    int64_t front = rows_between(working, entry, first, place);
    if (front > rows) {
      last = place - 1;
      continue;
    }
    rows -= front;
    /* The pivot itself goes to the front where more than half of it fits. */
    int64_t own = sr__node_size(working, entry[place].node);
    if (own > 2 * rows) return place;
    rows -= own;
    first = place + 1;
    if (rows <= 0) return first;
  }
  return first;
}
