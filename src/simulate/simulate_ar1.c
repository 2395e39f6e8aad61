/* A stationary Gaussian AR(1) with lambda = 1 - 1/tmix in each feature. */
#include "simulate.h"

typedef struct ar1 {
  SR__WITNESS_FIELDS;
  double tmix;
} ar1;

static sr_status fill(sr_context *ctx, const sr__draw *draw, double *out) {
  const ar1 *o = draw->options;
  sr__random random = sr__draw_stream(draw);
  return sr__fill_ar1(ctx, &random, 1.0 - 1.0 / o->tmix, o->n, out);
}

static const sr_option options[] = {SR__WITNESS_OPTIONS(ar1), SR__NOISE_OPTION(ar1),
                                    SR_REAL(ar1, tmix, "10", 1, 1e12,
                                            "mixing time: lambda = 1 - 1/tmix"),
                                    SR_OPTIONS_END};
const sr__simulator sr__simulator_ar1 = {.about = {"ar1", "a Gaussian AR(1) chain in every feature",
                                                   options, sizeof(ar1), NULL},
                                         .fill = fill};
