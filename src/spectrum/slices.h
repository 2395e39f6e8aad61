/* For kernel files alone: what the columns of a level's slices point to. Every function takes
 * `narrow`, which says how the columns are stored; where it is a constant the other way is compiled
 * out. */
#ifndef SR_SPECTRUM_SLICES_H
#define SR_SPECTRUM_SLICES_H

#include "simd.h"

/* Gives a kernel's body the storage of its level as a constant. */
#define SR__BY_WIDTH(body, pass, chunk) \
  ((pass)->level->step ? body((pass), (chunk), true) : body((pass), (chunk), false))

/* The slots that group g of the slice at slot s points to; padding points to the slice itself
 * (narrow) or to the zeros at the end. */
static inline sr__i8 sr__group_slots(const sr__level *level, const bool narrow, int32_t s,
                                     size_t g) {
  if (!narrow) return sr__i8_load(level->column + g * SR__SLICE);
  return sr__i8_from(level->step + g * SR__SLICE) + s + (sr__i8){0, 1, 2, 3, 4, 5, 6, 7};
}

/* All ones where the group has a column, 0 where it is padded. */
static inline sr__i8 sr__group_mask(const sr__level *level, const bool narrow, size_t g) {
  if (narrow) return sr__i8_from(level->step + g * SR__SLICE) != 0;
  return sr__i8_load(level->column + g * SR__SLICE) != level->slots;
}

/* What v holds there. */
static inline sr__f8 sr__group_values(const sr__level *level, const bool narrow, const float *v,
                                      int32_t s, size_t g) {
  return narrow ? sr__f8_gather_near(v + s, level->step + g * SR__SLICE)
                : sr__f8_gather_at(v, level->column + g * SR__SLICE);
}

/* sum + the weighted values of the groups [from, to). */
static inline sr__f8 sr__add_groups(const sr__level *level, const bool narrow, const float *v,
                                    int32_t s, sr__f8 sum, uint32_t from, uint32_t to) {
  for (size_t g = from; g < to; g++) {
    sr__f8 other = sr__group_values(level, narrow, v, s, g);
    if (level->value)
      sum += sr__f8_load(level->value + g * SR__SLICE) * other;
    else
      sum += narrow ? sr__f8_mask(other, sr__group_mask(level, narrow, g)) : other;
  }
  return sum;
}

/* L v of one slice, from differences: nothing cancels. */
static inline sr__f8 sr__slice_product(const sr__level *level, const bool narrow, const float *v,
                                       int32_t s) {
  uint32_t slice = (uint32_t)s / SR__SLICE;
  sr__f8 own = sr__f8_load(v + s), sum = {0};
  for (size_t g = level->first[slice]; g < level->first[slice + 1]; g++) {
    sr__f8 step = own - sr__group_values(level, narrow, v, s, g);
    if (level->value)
      sum += sr__f8_load(level->value + g * SR__SLICE) * step;
    else
      sum += narrow ? step : sr__f8_mask(step, sr__group_mask(level, narrow, g));
  }
  return sum;
}

/* The same in double. */
static inline sr__d8 sr__slice_product_double(const sr__level *level, const bool narrow,
                                              const double *x, int32_t s) {
  uint32_t slice = (uint32_t)s / SR__SLICE;
  sr__d8 own = sr__d8_load(x + s), sum = {{0}, {0}};
  for (size_t g = level->first[slice]; g < level->first[slice + 1]; g++) {
    sr__d8 other = sr__d8_gather(x, sr__group_slots(level, narrow, s, g));
    sr__d8 step = {own.low - other.low, own.high - other.high};
    if (level->value) {
      sr__d8 w = sr__d8_from(sr__f8_load(level->value + g * SR__SLICE));
      step.low *= w.low;
      step.high *= w.high;
    } else if (!narrow) {
      step = sr__d8_mask(step, sr__group_mask(level, narrow, g));
    }
    sum.low += step.low;
    sum.high += step.high;
  }
  return sum;
}

/* sum / degree of one slice; 0 where it holds no node. */
static inline sr__f8 sr__by_degree(const sr__level *level, sr__f8 sum, int32_t s) {
  sr__f8 degree = sr__f8_load(level->degree + s);
  return sum / (degree + sr__f8_mask(sr__f8_all(1), degree == 0));
}

#endif
