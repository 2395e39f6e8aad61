/* The vector code of Lanczos. Internal to src/spectrum. */
#ifndef SR_SPECTRUM_LANCZOS_KERNEL_H
#define SR_SPECTRUM_LANCZOS_KERNEL_H

#include "core/isa.h"
#include "multilevel.h"

enum { SR__LANCZOS_STEPS = 64 };

typedef struct sr__lanczos {
  const sr__csr *graph;
  int64_t length; /* nodes, rounded up to whole lanes; the rest is zero */
  int64_t chunks;
  double *top; /* the deflated vector, unit length: D^(1/2) 1 times `unit` */
  double unit;
  double *scaled; /* D^(-1/2) v of the vector that is multiplied */
  double *basis[SR__LANCZOS_STEPS + 1];
  double *partial; /* sums of each chunk */
  double t[SR__LANCZOS_STEPS * SR__LANCZOS_STEPS], vectors[SR__LANCZOS_STEPS * SR__LANCZOS_STEPS],
      theta[SR__LANCZOS_STEPS];
  int steps, filled;   /* size of the basis, part of it in use */
  double beta;         /* length of what the last step left over */
  double theta_before; /* of the last wanted pair, a few steps ago */
  int64_t products;
} sr__lanczos;

typedef struct sr__lanczos_pass {
  sr__lanczos *z;
  double *to;
  const double *from;
  int count; /* basis vectors used */
  const double *coefficient;
} sr__lanczos_pass;

/* D^(-1/2) of a node. */
static inline double sr__lanczos_root(const sr__lanczos *z, int64_t i) {
  return z->unit / z->top[i];
}

/* Functions on one chunk of a vector; their data is a sr__lanczos_pass. */
typedef struct sr__lanczos_kernel {
  sr__item_fn scale;    /* scaled := D^(-1/2) from */
  sr__item_fn multiply; /* to := D^(-1/2) W scaled */
  sr__item_fn project;  /* sums to' basis_j for j < count, then to' top */
  sr__item_fn subtract; /* to -= its parts along basis and top; sums to' to */
  sr__item_fn
      rotate; /* the first `count` basis vectors := basis times the columns of `coefficient` */
} sr__lanczos_kernel;
SR__KERNEL_LEVELS(sr__lanczos_kernel)

#endif
