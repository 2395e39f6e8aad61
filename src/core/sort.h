/* Orders of numbers, and long arrays sorted with an eye on interrupts. Internal. */
#ifndef SR_CORE_SORT_H
#define SR_CORE_SORT_H

#include "core.h"

typedef int (*sr__order)(const void *a, const void *b);

/* Orders for sr__sort and qsort, the lower first. */
int sr__compare_doubles(const void *a, const void *b);
int sr__compare_floats(const void *a, const void *b);

/* A number and where it stands. */
typedef struct sr__float_at {
  float value;
  int32_t place;
} sr__float_at;
/* Sorts by value, -0 before 0, stable, in three passes over the bits; no NaN. `spare` holds as
 * many; gives the one of both arrays that holds the result. */
sr__float_at *sr__sort_floats(sr__float_at *items, sr__float_at *spare, int64_t count);

/* As qsort, stable, and left within milliseconds when an interrupt comes: then, and where memory
 * runs out, the items stand in any order and some may be lost. */
SR_MUST_CHECK sr_status sr__sort(sr_context *ctx, void *items, int64_t count, size_t size,
                                 sr__order order);

#endif
