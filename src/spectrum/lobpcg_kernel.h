/* The vector code of block LOBPCG. Internal to src/spectrum. */
#ifndef SR_SPECTRUM_LOBPCG_KERNEL_H
#define SR_SPECTRUM_LOBPCG_KERNEL_H

#include "core/isa.h"
#include "multilevel.h"

enum { SR__BASIS_MAX = 3 * SR__BLOCK_MAX };

typedef struct sr__block_pass {
  const sr__level *level;
  double *const *x;
  float *const *p;
  float *const *z;
  int size, with_p, frozen;
  int own;         /* the vector the pass is about */
  double value;    /* its eigenvalue */
  const float *in; /* its preconditioned residual */
  float *r;
  const double *shift; /* what makes z orthogonal to constants */
  const double *mix;   /* basis x size coefficients */
} sr__block_pass;

/* Functions on one chunk of a level; their data is a sr__block_pass. */
typedef struct sr__lobpcg_kernel {
  sr__item_fn start_gram;    /* sums x_own' L x_j and x_own' D x_j for j <= own, then 1' D x_own */
  sr__item_fn residual;      /* r := L x - value D x of vector own; sums x' L x and x' D x */
  sr__item_fn gram;          /* dot products of L z and D z with the basis */
  sr__item_fn update;        /* p and x := their new mixtures */
  sr__item_fn to_single;     /* r := x_own in single precision */
  sr__item_fn smooth_first;  /* y := a sweep on r */
  sr__item_fn smooth_second; /* x_own := a sweep on y */
  sr__item_fn mix_start;     /* x := (x - shift) mix */
} sr__lobpcg_kernel;
SR__KERNEL_LEVELS(sr__lobpcg_kernel)

#endif
