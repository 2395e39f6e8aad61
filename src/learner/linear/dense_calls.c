#include "dense_calls.h"

#include <cblas.h>
#include <lapacke.h>

void sr__gram_add_floats(int64_t n, int64_t k, const float *z, int64_t stride, double sign,
                         double *gram, float *panel) {
  for (int64_t j = 0; j < n; j += SR__GRAM_PANEL) {
    int64_t width = n - j < SR__GRAM_PANEL ? n - j : SR__GRAM_PANEL, height = j + width;
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)height, (int)width, (int)k, 1.0f, z,
                (int)stride, z + j, (int)stride, 0.0f, panel, (int)height);
    for (int64_t c = 0; c < width; c++)
      for (int64_t r = 0; r <= j + c; r++)
        gram[(j + c) * n + r] += sign * (double)panel[c * height + r];
  }
}

void sr__gram_add_doubles(int64_t n, int64_t k, const double *z, int64_t stride, double sign,
                          double *gram) {
  cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, (int)n, (int)k, sign, z, (int)stride, 1.0,
              gram, (int)n);
}

void sr__gram_project_floats(int64_t n, int64_t k, int64_t targets, const float *z, int64_t stride,
                             const float *c, float *out) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)targets, (int)n, 1.0f, z,
              (int)stride, c, (int)n, 0.0f, out, (int)targets);
}

void sr__gram_project_doubles(int64_t n, int64_t k, int64_t targets, const double *z,
                              int64_t stride, const double *c, double *out) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)k, (int)targets, (int)n, 1.0, z,
              (int)stride, c, (int)n, 0.0, out, (int)targets);
}

bool sr__factor_lower(int64_t n, double *a) {
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, a, (lapack_int)n) == 0;
}

void sr__factor_solve(int64_t n, int64_t columns, const double *factor, double *b) {
  for (int step = 0; step < 2; step++)
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, step ? CblasTrans : CblasNoTrans,
                CblasNonUnit, (int)n, (int)columns, 1.0, factor, (int)n, b, (int)n);
}

bool sr__factor_invert(int64_t n, double *factor) {
  return LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (lapack_int)n, factor, (lapack_int)n) == 0;
}

void sr__square_add(int64_t m, int64_t k, const double *b, int64_t stride, double *h) {
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)m, (int)k, 1.0, b, (int)stride, 1.0, h,
              (int)m);
}

void sr__lower_times(int64_t n, int64_t columns, const double *m, double *b) {
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n,
              (int)columns, 1.0, m, (int)n, b, (int)n);
}
