/* Gaussian fields on a near-square lattice with n cells, with the separable exponential correlation
 * exp(-(|dr| + |dc|) / range). */
#include <math.h>

#include "core/maths.h"
#include "simulate.h"

typedef struct field {
  SR__WITNESS_FIELDS;
  double range;
} field;

static int64_t lattice_columns(const void *chosen) {
  int64_t side = (int64_t)ceil(sqrt((double)((const field *)chosen)->n));
  return side < 1 ? 1 : side;
}

/* Product of two AR(1): along each row, then across rows; correlation rho^(|dr| + |dc|). */
static sr_status fill(sr_context *ctx, const sr__draw *draw, double *out) {
  sr_status status = SR_OK;
  const field *o = draw->options;
  sr__random random = sr__draw_stream(draw);
  int64_t columns = lattice_columns(o);
  double rho = sr__exp_portable(-1.0 / o->range), step = sqrt((1.0 - rho) * (1.0 + rho));
  for (int64_t start = 0; start < o->n; start += columns) {
    int64_t width = o->n - start < columns ? o->n - start : columns;
    SR_TRY(sr__fill_ar1(ctx, &random, rho, width, out + start));
    if (start == 0) continue;
    for (int64_t c = 0; c < width; c++)
      out[start + c] = rho * out[start - columns + c] + step * out[start + c];
  }
cleanup:
  return status;
}

static const sr_option options[] = {SR__WITNESS_OPTIONS(field), SR__NOISE_OPTION(field),
                                    SR_REAL(field, range, "10", 1e-6, 1e12,
                                            "correlation exp(-distance / range), in cells"),
                                    SR_OPTIONS_END};
const sr__simulator sr__simulator_grid = {
    .about = {"grid", "a Gaussian field on a lattice in every feature", options, sizeof(field),
              NULL},
    .fill = fill,
    .lattice_columns = lattice_columns};
