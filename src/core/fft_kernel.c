#include "core/fft_kernel.h"

#include "core/vectors.h"

/* Two stages at a time. Blocks are finished one after the other, so that all but the first stages
 * (or the last ones, backward) of a long transform run in the cache. */

/* A quarter of a block. */
typedef struct quarter {
  double *re, *im;
} quarter;

SR__INLINE quarter quarter_of(double *re, double *im, int64_t q, int k) {
  return (quarter){re + k * q, im + k * q};
}

/* A block of 4 q numbers becomes four of q: a, b, c, d at j, j + q, j + 2 q, j + 3 q with
 * w = exp(-2 pi i j / 4 q) become a + b + c + d, (a - b + c - d) w^2, (a - c - i (b - d)) w and
 * (a - c + i (b - d)) w^3. */
SR__INLINE void split(sr__fft_roots roots, int64_t q, quarter x, quarter y, quarter z, quarter u) {
  double *restrict xr = x.re, *restrict xi = x.im, *restrict yr = y.re, *restrict yi = y.im;
  double *restrict zr = z.re, *restrict zi = z.im, *restrict ur = u.re, *restrict ui = u.im;
  const double *restrict c1 = roots.cosine + 2 * q - 1, *restrict s1 = roots.sine + 2 * q - 1;
  const double *restrict c2 = roots.cosine + q - 1, *restrict s2 = roots.sine + q - 1;
  for (int64_t j = 0; j < q; j++) {
    double even_re = xr[j] + zr[j], even_im = xi[j] + zi[j];
    double gap_re = xr[j] - zr[j], gap_im = xi[j] - zi[j];
    double odd_re = yr[j] + ur[j], odd_im = yi[j] + ui[j];
    double turn_re = yi[j] - ui[j], turn_im = ur[j] - yr[j]; /* -i (b - d) */
    double c3 = c1[j] * c2[j] - s1[j] * s2[j], s3 = c1[j] * s2[j] + s1[j] * c2[j];
    double second_re = even_re - odd_re, second_im = even_im - odd_im;
    double third_re = gap_re + turn_re, third_im = gap_im + turn_im;
    double last_re = gap_re - turn_re, last_im = gap_im - turn_im;
    xr[j] = even_re + odd_re;
    xi[j] = even_im + odd_im;
    yr[j] = second_re * c2[j] - second_im * s2[j];
    yi[j] = second_re * s2[j] + second_im * c2[j];
    zr[j] = third_re * c1[j] - third_im * s1[j];
    zi[j] = third_re * s1[j] + third_im * c1[j];
    ur[j] = last_re * c3 - last_im * s3;
    ui[j] = last_re * s3 + last_im * c3;
  }
}

/* The way back: four transforms of q numbers become one of 4 q. */
SR__INLINE void join(sr__fft_roots roots, int64_t q, quarter x, quarter y, quarter z, quarter u) {
  double *restrict xr = x.re, *restrict xi = x.im, *restrict yr = y.re, *restrict yi = y.im;
  double *restrict zr = z.re, *restrict zi = z.im, *restrict ur = u.re, *restrict ui = u.im;
  const double *restrict c1 = roots.cosine + 2 * q - 1, *restrict s1 = roots.sine + 2 * q - 1;
  const double *restrict c2 = roots.cosine + q - 1, *restrict s2 = roots.sine + q - 1;
  for (int64_t j = 0; j < q; j++) {
    double c3 = c1[j] * c2[j] - s1[j] * s2[j], s3 = c1[j] * s2[j] + s1[j] * c2[j];
    double y_re = yr[j] * c2[j] - yi[j] * s2[j], y_im = yr[j] * s2[j] + yi[j] * c2[j];
    double z_re = zr[j] * c1[j] - zi[j] * s1[j], z_im = zr[j] * s1[j] + zi[j] * c1[j];
    double u_re = ur[j] * c3 - ui[j] * s3, u_im = ur[j] * s3 + ui[j] * c3;
    double low_re = xr[j] + y_re, low_im = xi[j] + y_im;
    double high_re = xr[j] - y_re, high_im = xi[j] - y_im;
    double sum_re = z_re + u_re, sum_im = z_im + u_im;
    double turn_re = z_im - u_im, turn_im = u_re - z_re; /* -i (z - u) */
    xr[j] = low_re + sum_re;
    xi[j] = low_im + sum_im;
    yr[j] = high_re + turn_re;
    yi[j] = high_im + turn_im;
    zr[j] = low_re - sum_re;
    zi[j] = low_im - sum_im;
    ur[j] = high_re - turn_re;
    ui[j] = high_im - turn_im;
  }
}

SR__INLINE void split_block(sr__fft_roots roots, int64_t q, double *re, double *im) {
  split(roots, q, quarter_of(re, im, q, 0), quarter_of(re, im, q, 1), quarter_of(re, im, q, 2),
        quarter_of(re, im, q, 3));
}

SR__INLINE void join_block(sr__fft_roots roots, int64_t q, double *re, double *im) {
  join(roots, q, quarter_of(re, im, q, 0), quarter_of(re, im, q, 1), quarter_of(re, im, q, 2),
       quarter_of(re, im, q, 3));
}

/* Both directions. */
SR__INLINE void exchange_two(double *re, double *im) {
  double second_re = re[1], second_im = im[1];
  re[1] = re[0] - second_re;
  im[1] = im[0] - second_im;
  re[0] += second_re;
  im[0] += second_im;
}

static void forward(sr__fft_roots roots, int64_t size, double *re, double *im) {
  int64_t q = size / 4;
  if (size == 2) exchange_two(re, im);
  if (size == 4) split_block(roots, 1, re, im);
  if (size == 8) split_block(roots, 2, re, im);
  if (size == 16) split_block(roots, 4, re, im);
  if (size > 16) split_block(roots, q, re, im);
  if (size == 8)
    for (int k = 0; k < 4; k++) exchange_two(re + 2 * k, im + 2 * k);
  if (size == 16)
    for (int k = 0; k < 4; k++) split_block(roots, 1, re + 4 * k, im + 4 * k);
  for (int k = 0; size > 16 && k < 4; k++) forward(roots, q, re + k * q, im + k * q);
}

static void backward(sr__fft_roots roots, int64_t size, double *re, double *im) {
  int64_t q = size / 4;
  for (int k = 0; size > 16 && k < 4; k++) backward(roots, q, re + k * q, im + k * q);
  if (size == 16)
    for (int k = 0; k < 4; k++) join_block(roots, 1, re + 4 * k, im + 4 * k);
  if (size == 8)
    for (int k = 0; k < 4; k++) exchange_two(re + 2 * k, im + 2 * k);
  if (size > 16) join_block(roots, q, re, im);
  if (size == 16) join_block(roots, 4, re, im);
  if (size == 8) join_block(roots, 2, re, im);
  if (size == 4) join_block(roots, 1, re, im);
  if (size == 2) exchange_two(re, im);
}

const sr__fft_kernel SR__KERNEL(sr__fft_kernel) = {forward, backward};
