/* The loops of draw.c over random bits and counts, once per vector level. Internal.
 *
 * Word i of a key is a hash (splitmix64) of key + i: words do not wait for each other. */
#ifndef SR_PLAN_DRAW_KERNEL_H
#define SR_PLAN_DRAW_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

enum { SR__DRAW_CELLS = 256 };

typedef struct sr__draw_kernel {
  /* Set bits among the first `coins` bits of the words from `next` on; the last word gives its
   * upper bits. */
  int64_t (*count_heads)(uint64_t key, uint64_t next, int64_t coins);
  /* Counts of SR__DRAW_CELLS cells after `draws` draws of 8 bits each. */
  void (*draw_cells)(uint64_t key, uint64_t next, int64_t draws, int32_t *cell);
  /* Items [first, first + width) whose count is not 0, as list[item], or item where list is NULL,
   * with their counts. `count` and `list` may overlap what is written, not before it. `width`
   * places are written; gives how many count. */
  int64_t (*keep_counted)(const int32_t *count, int32_t first, int64_t width, const int32_t *list,
                          int32_t *rows, int32_t *counts);
} sr__draw_kernel;

SR__KERNEL_LEVELS(sr__draw_kernel)

#endif
