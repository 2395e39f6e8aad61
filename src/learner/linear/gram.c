#include "gram.h"

sr_status sr__gram_add_floats(sr_context *ctx, int64_t n, int64_t k, const float *z, int64_t stride,
                              double sign, double *gram, float *panel) {
  sr_status status = SR_OK;
  for (int64_t j = 0; j < n; j += SR__GRAM_PANEL) {
    int64_t width = n - j < SR__GRAM_PANEL ? n - j : SR__GRAM_PANEL, height = j + width;
    SR_TRY(sr__dense_multiply_floats(ctx, width, height, k, (sr__float_view){z + j, stride, true},
                                     (sr__float_view){z, stride, false}, panel, height));
    for (int64_t c = 0; c < width; c++)
      for (int64_t r = 0; r <= j + c; r++)
        gram[(j + c) * n + r] += sign * (double)panel[c * height + r];
  }
cleanup:
  return status;
}

sr_status sr__gram_add_doubles(sr_context *ctx, int64_t n, int64_t k, const double *z,
                               int64_t stride, double sign, double *gram) {
  return sr__dense_square(ctx, SR__LOWER, n, k, sign, (sr__factor_view){z, stride, true}, gram);
}

sr_status sr__gram_project_floats(sr_context *ctx, int64_t n, int64_t k, int64_t targets,
                                  const float *z, int64_t stride, const float *c, float *out) {
  return sr__dense_multiply_floats(ctx, k, targets, n, (sr__float_view){z, stride, false},
                                   (sr__float_view){c, n, true}, out, targets);
}

sr_status sr__gram_project_doubles(sr_context *ctx, int64_t n, int64_t k, int64_t targets,
                                   const double *z, int64_t stride, const double *c, double *out) {
  return sr__dense_multiply(ctx, k, targets, n, (sr__factor_view){z, stride, false},
                            (sr__factor_view){c, n, true}, 0.0, out, targets);
}

sr_status sr__gram_add_columns(sr_context *ctx, int64_t m, int64_t k, const double *b,
                               int64_t stride, double *h) {
  return sr__dense_square(ctx, SR__UPPER, m, k, 1.0, (sr__factor_view){b, stride, false}, h);
}
