/* The AR(1) witness whose means move: drift * t / n is added to every feature of row t. */
#include "simulate.h"

typedef struct moving {
  SR__WITNESS_FIELDS;
  double tmix;
  double drift; /* nu of the paper's appendix */
} moving;

static sr_status fill(sr_context *ctx, const sr__draw *draw, double *out) {
  const moving *o = draw->options;
  sr__random random = sr__draw_stream(draw);
  return sr__fill_ar1(ctx, &random, 1.0 - 1.0 / o->tmix, o->n, out);
}

static double drift_of(const void *chosen) { return ((const moving *)chosen)->drift; }

static const sr_option options[] = {SR__WITNESS_OPTIONS(moving), SR__NOISE_OPTION(moving),
                                    SR_REAL(moving, tmix, "10", 1, 1e12,
                                            "mixing time: lambda = 1 - 1/tmix"),
                                    SR_REAL(moving, drift, "1", -1e6, 1e6,
                                            "total shift of every mean over the n rows"),
                                    SR_OPTIONS_END};
const sr__simulator sr__simulator_drift = {
    .about = {"drift", "an AR(1) chain with a linear shift of the mean", options, sizeof(moving),
              NULL},
    .fill = fill,
    .drift = drift_of};
