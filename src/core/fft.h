/* The fast Fourier transform of complex numbers whose count is a power of two. Internal.
 *
 * Both directions are x_k = sum_j x_j exp(-2 pi i j k / size), in place and without a factor.
 * Forward leaves its result in the order of reversed bits, backward begins with that order: nothing
 * is moved for a product of transforms. */
#ifndef SR_CORE_FFT_H
#define SR_CORE_FFT_H

#include "core.h"

/* Roots of unity for one length; read only while it is used, so threads may share it. */
typedef struct sr__fft {
  int64_t size;
  double *cosine, *sine; /* exp(-pi i j / h) at [h - 1 + j], j < h; h = 1, 2, 4, ... size / 2 */
} sr__fft;

/* The least power of two that is `least` or more. */
int64_t sr__fft_size(int64_t least);
/* `size` is a power of two. Free with sr__fft_free, also after a failure. */
SR_MUST_CHECK sr_status sr__fft_new(sr_context *ctx, int64_t size, sr__fft *fft);
void sr__fft_free(sr_context *ctx, sr__fft *fft);
void sr__fft_forward(const sr__fft *fft, double *real, double *imaginary);
void sr__fft_backward(const sr__fft *fft, double *real, double *imaginary);
/* The forward transform of x + i y becomes |X|^2 + i |Y|^2, X and Y the transforms of the real
 * series x and y, in the same order. */
void sr__fft_powers(const sr__fft *fft, double *real, double *imaginary);

#endif
