/* Loops over the rows of larger nodes, once per vector level. Internal to the tree.
 *
 * The rows of large nodes stand in about two bytes each. A row is the step from the row before it
 * in the node (from 0 for the first) and its weight and class in one number, both in groups of
 * seven bits, the lowest first, with the eighth bit set where a group follows. */
#ifndef SR_LEARNER_TREE_ROWS_KERNEL_H
#define SR_LEARNER_TREE_ROWS_KERNEL_H

#include "core/isa.h"
#include "cuts.h"

enum { SR__CODE_BYTES = 10 /* the most that a row takes */ };

/* Where rows are read or written, and the row before. */
typedef struct sr__row_cursor {
  uint8_t *at;
  uint32_t before;
} sr__row_cursor;

typedef struct sr__rows_kernel {
  /* Reads up to `limit` rows in front of `end`; gives how many there were. */
  int64_t (*read)(int class_bits, sr__row_cursor *from, const uint8_t *end, sr__entry *entry,
                  int64_t limit);
  void (*write)(int class_bits, sr__row_cursor *to, const sr__entry *entry, int64_t count);
  /* Writes each row to its side; a side's bytes are never more than the bytes of the rows. Gives
   * how many go left. */
  int64_t (*deal)(int class_bits, const uint8_t *bins, int64_t features, const sr__split *split,
                  const sr__entry *entry, int64_t count, sr__row_cursor *left,
                  sr__row_cursor *right);
  /* Puts the rows that go left in front, both sides in order; `spare` has room for all. Gives how
   * many go left. */
  int64_t (*partition)(const uint8_t *bins, int64_t features, const sr__split *split,
                       sr__entry *entry, int64_t count, sr__entry *spare);
  /* Adds the rows' weight to that of their class. */
  void (*weigh)(int32_t classes, const sr__entry *entry, int64_t count, int64_t *class_count);
  /* Copies the rows' bins side by side and lets the entries say so. */
  void (*gather)(const uint8_t *from, int64_t features, sr__entry *entry, int64_t count,
                 uint8_t *to);
} sr__rows_kernel;

SR__KERNEL_LEVELS(sr__rows_kernel)

#endif
