#include "gram.h"

sr_status sr__gram_add_floats(sr_context *ctx, int64_t n, sr__float_rows z, double sign,
                              double *gram, float *panel) {
  sr_status status = SR_OK;
  for (int64_t j = 0; j < n; j += SR__GRAM_PANEL) {
    int64_t width = n - j < SR__GRAM_PANEL ? n - j : SR__GRAM_PANEL, height = j + width;
    SR_TRY(sr__dense_multiply_floats(ctx, (sr__product_shape){width, height, z.count},
                                     (sr__float_view){z.at + j, z.stride, true},
                                     (sr__float_view){z.at, z.stride, false}, panel));
    for (int64_t c = 0; c < width; c++)
      for (int64_t r = 0; r <= j + c; r++)
        gram[(j + c) * n + r] += sign * (double)panel[c * height + r];
  }
cleanup:
  return status;
}

sr_status sr__gram_add_doubles(sr_context *ctx, int64_t n, sr__double_rows z, double sign,
                               double *gram) {
  return sr__dense_square(ctx, sign, (sr__factor_view){z.at, z.stride, true}, z.count,
                          (sr__triangle_view){SR__LOWER, n, gram});
}

sr_status sr__gram_project_floats(sr_context *ctx, int64_t n, int64_t targets, sr__float_rows z,
                                  const float *c, float *out) {
  return sr__dense_multiply_floats(ctx, (sr__product_shape){z.count, targets, n},
                                   (sr__float_view){z.at, z.stride, false},
                                   (sr__float_view){c, n, true}, out);
}

sr_status sr__gram_project_doubles(sr_context *ctx, int64_t n, int64_t targets, sr__double_rows z,
                                   const double *c, double *out) {
  return sr__dense_multiply(ctx, (sr__product_shape){z.count, targets, n},
                            (sr__factor_view){z.at, z.stride, false}, (sr__factor_view){c, n, true},
                            (sr__product_view){out, targets, false});
}

sr_status sr__gram_add_columns(sr_context *ctx, int64_t m, int64_t k, const double *b,
                               int64_t stride, double *h) {
  return sr__dense_square(ctx, 1.0, (sr__factor_view){b, stride, false}, k,
                          (sr__triangle_view){SR__UPPER, m, h});
}
