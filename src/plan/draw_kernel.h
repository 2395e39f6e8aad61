/* The loops of plans over random bits and counts, once per vector level. Internal.
 *
 * Word i of a key is a hash (splitmix64) of key + i: words do not wait for each other. */
#ifndef SR_PLAN_DRAW_KERNEL_H
#define SR_PLAN_DRAW_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

enum { SR__DRAW_CELLS = 256 };

/* Random bits that were not used yet. */
typedef struct sr__bit_source {
  uint64_t key, next;
} sr__bit_source;

/* Where entries are written: rows of one of two widths, the other is NULL. */
typedef struct sr__entries {
  int32_t *rows;
  int64_t *wide;
  int32_t *counts;
} sr__entries;

typedef struct sr__draw_kernel {
  /* Hands `draws` to blocks [0, blocks) by fair coins; gives how many fell on blocks behind them,
   * up to the next power of two. */
  int64_t (*deal_draws)(sr__bit_source *source, int64_t draws, int64_t blocks,
                        int32_t *block_count);
  /* Counts of the cells of one block after `draws` draws of 8 bits each. */
  void (*draw_cells)(sr__bit_source *source, int64_t draws, int32_t *cell);
  /* The items from `first` on of `blocks` blocks, each after its own draws, kept as below. */
  int64_t (*draw_blocks)(sr__bit_source *source, const int32_t *draws, int64_t blocks,
                         int32_t first, const int32_t *list, sr__entries to);
  /* Items [first, first + width) whose count is not 0, as list[item], or item where list is NULL,
   * with their counts, which become 0. `width` places are written; gives how many count. */
  int64_t (*keep_counted)(int32_t *count, int32_t first, int64_t width, const int32_t *list,
                          sr__entries to);
  /* The same of items whose counts are *level plus the sums of `step` up to them; steps become 0.
   */
  int64_t (*keep_levels)(int32_t *step, int32_t *level, int32_t first, int64_t width,
                         sr__entries to);
  /* Items 64 w + k for each bit k of word w of [first, first + words), and as many ones. Gives how
   * many; 64 places per word are written. */
  int64_t (*keep_bits)(const uint64_t *word, int64_t first, int64_t words, sr__entries to);
  void (*widen)(const int32_t *from, int64_t count, int64_t *to);
} sr__draw_kernel;

SR__KERNEL_LEVELS(sr__draw_kernel)

#endif
