#include "fft.h"

#include <math.h>

#include "fft_kernel.h"
#include "maths.h"

int64_t sr__fft_size(int64_t least) {
  int64_t size = 1;
  while (size < least) size *= 2;
  return size;
}

sr_status sr__fft_new(sr_context *ctx, int64_t size, sr__fft *fft) {
  sr_status status = SR_OK;
  *fft = (sr__fft){.size = size};
  SR_NEW(ctx, fft->cosine, size);
  SR_NEW(ctx, fft->sine, size);
  for (int64_t half = 1; half < size; half *= 2) {
    for (int64_t j = 0; j < half; j++) {
      double angle = -3.14159265358979323846 * (double)j / (double)half;
      fft->cosine[half - 1 + j] = sr__cos_portable(angle);
      fft->sine[half - 1 + j] = sr__sin_portable(angle);
    }
  }
cleanup:
  return status;
}

void sr__fft_free(sr_context *ctx, sr__fft *fft) {
  sr__free(ctx, fft->cosine);
  sr__free(ctx, fft->sine);
  *fft = (sr__fft){0};
}

void sr__fft_forward(const sr__fft *fft, double *real, double *imaginary) {
  sr__fft_roots roots = {fft->cosine, fft->sine};
  sr__fft_kernel_now()->forward(roots, fft->size, real, imaginary);
}

void sr__fft_backward(const sr__fft *fft, double *real, double *imaginary) {
  sr__fft_roots roots = {fft->cosine, fft->sine};
  sr__fft_kernel_now()->backward(roots, fft->size, real, imaginary);
}

/* Negating a number keeps its lowest set bit and what lies below, and flips all above: in the order
 * of reversed bits, the highest set bit stays and all below flip. So the numbers of a block
 * [2^m, 2^(m+1)) are each other's opposites, from the outside in; 0 is its own. */
void sr__fft_powers(const sr__fft *fft, double *real, double *imaginary) {
  real[0] *= real[0];
  imaginary[0] *= imaginary[0];
  for (int64_t low = 1; low < fft->size; low *= 2) {
    for (int64_t p = low; 2 * p <= 3 * low - 1; p++) {
      int64_t back = 3 * low - 1 - p;
      double a = real[p] + real[back], b = imaginary[p] - imaginary[back];
      double c = imaginary[p] + imaginary[back], d = real[back] - real[p];
      real[p] = real[back] = 0.25 * (a * a + b * b);
      imaginary[p] = imaginary[back] = 0.25 * (c * c + d * d);
    }
  }
}
