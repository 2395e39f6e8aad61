#include "core/dense_kernel.h"

static void add_rows(int64_t n, int64_t k, const double *restrict a, int64_t a_step,
                     const double *restrict b, int64_t b_row, double *restrict c) {
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    const double *b0 = b + i * b_row, *b1 = b0 + b_row, *b2 = b1 + b_row, *b3 = b2 + b_row;
    double a0 = a[i * a_step], a1 = a[(i + 1) * a_step], a2 = a[(i + 2) * a_step],
           a3 = a[(i + 3) * a_step];
    for (int64_t j = 0; j < n; j++) {
      double sum = c[j] + a0 * b0[j];
      sum += a1 * b1[j];
      sum += a2 * b2[j];
      c[j] = sum + a3 * b3[j];
    }
  }
  for (; i < k; i++) {
    const double *row = b + i * b_row;
    double factor = a[i * a_step];
    for (int64_t j = 0; j < n; j++) c[j] += factor * row[j];
  }
}

static double dot(int64_t n, const double *restrict x, const double *restrict y) {
  double sum[8] = {0};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int lane = 0; lane < 8; lane++) sum[lane] += x[i + lane] * y[i + lane];
  for (int lane = 0; i < n; i++, lane++) sum[lane] += x[i] * y[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* Lanes and stretches fix the order of the additions, whatever the vector width. */
static double dot_floats(int64_t n, const float *restrict x, const float *restrict y) {
  enum { LANES = 16, STRETCH = 512 };
  double total = 0.0;
  int64_t i = 0;
  while (i + LANES <= n) {
    float lane[LANES] = {0};
    int64_t end = n - i < STRETCH ? n - LANES : i + STRETCH - LANES;
    for (; i <= end; i += LANES)
      for (int l = 0; l < LANES; l++) lane[l] += x[i + l] * y[i + l];
    for (int l = 0; l < LANES; l++) total += (double)lane[l];
  }
  for (; i < n; i++) total += (double)x[i] * (double)y[i];
  return total;
}

static void add(int64_t n, double factor, const double *restrict x, double *restrict y) {
  for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}

static void rotate(int64_t n, double c, double s, double *restrict x, double *restrict y) {
  for (int64_t i = 0; i < n; i++) {
    double first = x[i], second = y[i];
    x[i] = c * first - s * second;
    y[i] = s * first + c * second;
  }
}

static void rank_two(int64_t n, double v_here, const double *restrict w, double w_here,
                     const double *restrict v, double *restrict a) {
  for (int64_t j = 0; j < n; j++) a[j] -= v_here * w[j] + w_here * v[j];
}

const sr__dense_kernel SR__KERNEL(sr__dense_kernel) = {add_rows, dot,    dot_floats,
                                                       add,      rotate, rank_two};
