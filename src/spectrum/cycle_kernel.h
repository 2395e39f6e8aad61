/* The vector code of one K-cycle. Internal to src/spectrum. */
#ifndef SR_SPECTRUM_CYCLE_KERNEL_H
#define SR_SPECTRUM_CYCLE_KERNEL_H

#include "core/isa.h"
#include "multilevel.h"

/* Functions on one chunk of a level; their data is a sr__pass. */
typedef struct sr__cycle_kernel {
  sr__item_fn relax_forward;     /* y := one forward sweep from zero */
  sr__item_fn restrict_residual; /* b of the next level, which is zero, += P' (b - L y) */
  sr__item_fn prolong;           /* y += P z of the next level, made longer */
  sr__item_fn relax_backward;    /* z := one backward sweep from y */
  sr__item_fn first_step;        /* p := z, q := L z; sums z'q, z'b, b'b */
  sr__item_fn subtract;          /* b -= factor[0] q; sums b'b */
  sr__item_fn second_step;       /* sums z'Lz, z'b, z'q of the second direction */
  sr__item_fn combine;           /* z := factor[0] p + factor[1] z */
  /* out := matrix' in, row after row; `size` of both. */
  void (*multiply_dense)(const float *matrix, int32_t size, const float *in, float *out);
} sr__cycle_kernel;
SR__KERNEL_LEVELS(sr__cycle_kernel)

#endif
