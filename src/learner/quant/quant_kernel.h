/* The inner loops of QUANT, one table of them per vector level. Floats come as [item][8], doubles
 * as [item][8]: eight series or columns side by side, 64-byte aligned. Internal to
 * src/learner/quant. */
#ifndef SR_LEARNER_QUANT_QUANT_KERNEL_H
#define SR_LEARNER_QUANT_QUANT_KERNEL_H

#include "core/isa.h"
#include "quant.h"

/* Random numbers of a tree: an add and a mix a draw (splitmix64). */
typedef struct sr__quant_draw {
  uint64_t state;
} sr__quant_draw;

static inline uint64_t sr__quant_draw_bits(sr__quant_draw *draw) {
  uint64_t x = draw->state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
static inline uint32_t sr__quant_draw_below(sr__quant_draw *draw, uint32_t bound) {
  return (uint32_t)((sr__quant_draw_bits(draw) >> 32) * bound >> 32);
}

/* The rows of a node, class after class. */
typedef struct sr__quant_search {
  const uint8_t *bin; /* tiles x rows x 32 */
  int64_t rows;
  int32_t tiles;
  int32_t *order; /* of the tiles: a permutation, in which those drawn are put in front */
  const uint32_t *row;
  int32_t count;
  int32_t present;        /* classes */
  const int32_t *end;     /* a class: one behind its last row */
  const int32_t *entropy; /* k log2 k in whole units, k <= count */
  int32_t wanted;         /* tiles; more where none of them splits */
  sr__quant_draw draw;
} sr__quant_search;

/* Rows with bin <= `bin` of `place` go left; place -1: no feature splits the rows. */
typedef struct sr__quant_cut {
  int32_t place;
  int32_t bin;
} sr__quant_cut;

typedef struct sr__quant_kernel {
  /* Forward transform of length points x (four real parts, four imaginary parts): four complex
   * series side by side. `spare` as in sr__quant_scratch. */
  void (*fourier)(const sr__quant_fourier *fourier, const double *in, double *out,
                  double *const spare[2]);
  /* scratch->series to features x 8. */
  void (*features)(const sr__quant_shape *shape, sr__quant_scratch *scratch, float *out);
  /* Sorts eight columns; `spare` as long as they are. Columns must be free of NaN. */
  void (*sort)(const float *from, int64_t count, float *spare, float *to);
  /* The numbers of edges below blocks x features x 8 values: of feature f they stand in the eight
   * bytes of coded at block * places + place_of[f]. */
  void (*bins)(const float *value, int64_t blocks, int64_t features, const float *edge,
               const int32_t *place_of, int64_t places, uint8_t *coded);
  /* The best of the cuts looked at, one random bin per feature; of equal ones the first. */
  sr__quant_cut (*search)(sr__quant_search *search);
} sr__quant_kernel;

SR__KERNEL_LEVELS(sr__quant_kernel)

#endif
