/* The stages of the Fourier transform at each vector level. Internal to src/core. */
#ifndef SR_CORE_FFT_KERNEL_H
#define SR_CORE_FFT_KERNEL_H

#include <stdint.h>

#include "core/isa.h"

/* Roots exp(-pi i j / h), j < h, at [h - 1 + j]: for h = 1, 2, 4, ... size / 2. */
typedef struct sr__fft_roots {
  const double *cosine, *sine;
} sr__fft_roots;

typedef struct sr__fft_kernel {
  /* Numbers in order become a transform in the order of reversed bits; `size` a power of two. */
  void (*forward)(sr__fft_roots roots, int64_t size, double *re, double *im);
  /* Numbers in the order of reversed bits become a transform in order. */
  void (*backward)(sr__fft_roots roots, int64_t size, double *re, double *im);
} sr__fft_kernel;
SR__KERNEL_LEVELS(sr__fft_kernel)

#endif
