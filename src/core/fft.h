/* The fast Fourier transform of complex numbers whose count is a power of two. Internal. */
#ifndef SR_CORE_FFT_H
#define SR_CORE_FFT_H

#include "core.h"

/* Roots of unity and places for one length; read only while it is used, so threads may share it. */
typedef struct sr__fft {
  int64_t size;
  double *cosine, *sine; /* of stage h at [h - 1, 2 h - 1), h = 1, 2, 4, ... size / 2 */
  int32_t *place;        /* of each number in the order that the stages want */
} sr__fft;

/* The least power of two that is `least` or more. */
int64_t sr__fft_size(int64_t least);
/* `size` is a power of two. Free with sr__fft_free, also after a failure. */
SR_MUST_CHECK sr_status sr__fft_new(sr_context *ctx, int64_t size, sr__fft *fft);
void sr__fft_free(sr_context *ctx, sr__fft *fft);
/* Forward, in place, without a factor: x_k = sum_j x_j exp(-2 pi i j k / size). */
void sr__fft_run(const sr__fft *fft, double *real, double *imaginary);

#endif
