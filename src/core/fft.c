/* Radix two, decimation in time: the numbers are put in bit-reversed order, then joined in stages
 * whose roots lie side by side. */
#include "fft.h"

#include <math.h>
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
  SR_NEW(ctx, fft->place, size);
  for (int64_t half = 1; half < size; half *= 2) {
    for (int64_t j = 0; j < half; j++) {
      double angle = -3.14159265358979323846 * (double)j / (double)half;
      fft->cosine[half - 1 + j] = sr__cos_portable(angle);
      fft->sine[half - 1 + j] = sr__sin_portable(angle);
    }
  }
  fft->place[0] = 0;
  for (int64_t i = 1; i < size; i++)
    fft->place[i] = (int32_t)(fft->place[i / 2] / 2 + (i % 2 ? size / 2 : 0));
cleanup:
  return status;
}

void sr__fft_free(sr_context *ctx, sr__fft *fft) {
  sr__free(ctx, fft->cosine);
  sr__free(ctx, fft->sine);
  sr__free(ctx, fft->place);
  *fft = (sr__fft){0};
}

static void exchange(double *x, int64_t i, int64_t j) {
  double kept = x[i];
  x[i] = x[j];
  x[j] = kept;
}

/* Joins transforms of `half` numbers to transforms of twice as many. */
static inline void join(int64_t half, const double *restrict cosine, const double *restrict sine,
                        double *restrict re_low, double *restrict im_low, double *restrict re_high,
                        double *restrict im_high) {
  for (int64_t j = 0; j < half; j++) {
    double re = re_high[j] * cosine[j] - im_high[j] * sine[j];
    double im = re_high[j] * sine[j] + im_high[j] * cosine[j];
    re_high[j] = re_low[j] - re;
    im_high[j] = im_low[j] - im;
    re_low[j] += re;
    im_low[j] += im;
  }
}

/* The first two stages: the same sums without loops of one and two. */
static void join_four(const sr__fft *fft, double *re, double *im) {
  join(1, fft->cosine, fft->sine, re, im, re + 1, im + 1);
  join(1, fft->cosine, fft->sine, re + 2, im + 2, re + 3, im + 3);
  join(2, fft->cosine + 1, fft->sine + 1, re, im, re + 2, im + 2);
}

void sr__fft_run(const sr__fft *fft, double *real, double *imaginary) {
  for (int64_t i = 0; i < fft->size; i++) {
    if (fft->place[i] <= i) continue;
    exchange(real, i, fft->place[i]);
    exchange(imaginary, i, fft->place[i]);
  }
  for (int64_t at = 0; at + 4 <= fft->size; at += 4) join_four(fft, real + at, imaginary + at);
  for (int64_t half = fft->size < 4 ? 1 : 4; half < fft->size; half *= 2)
    for (int64_t at = 0; at < fft->size; at += 2 * half)
      join(half, fft->cosine + half - 1, fft->sine + half - 1, real + at, imaginary + at,
           real + at + half, imaginary + at + half);
}
