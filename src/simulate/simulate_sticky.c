/* A chain that stays: with probability 1/tmix a fresh row and class, else those of the row before.
 * It is reversible with a spectral gap of exactly 1/tmix, and every function of a row mixes alike.
 */
#include "simulate.h"

typedef struct sticky {
  SR__WITNESS_FIELDS;
  double tmix;
} sticky;

/* When the chain moves is the same for all features and for the noise. */
static sr_status fill(sr_context *ctx, const sr__draw *draw, double *out) {
  sr_status status = SR_OK;
  const sticky *o = draw->options;
  sr__random random = sr__draw_stream(draw), moves;
  sr__random_init(&moves, draw->seed, SR_PURPOSE_SIMULATE_MOVES, draw->replicate, 0);
  out[0] = sr__random_normal(&random);
  for (int64_t t = 1; t < o->n; t++) {
    if (t % SR__SIMULATED_AT_ONCE == 0) SR_TRY(sr__check_interrupt(ctx));
    bool fresh = sr__random_uniform(&moves) * o->tmix < 1.0;
    out[t] = fresh ? sr__random_normal(&random) : out[t - 1];
  }
cleanup:
  return status;
}

static const sr_option options[] = {SR__WITNESS_OPTIONS(sticky),
                                    SR_REAL(sticky, tmix, "10", 1, 1e12,
                                            "a row is repeated tmix times on average"),
                                    SR_OPTIONS_END};
const sr__simulator sr__simulator_sticky = {
    .about = {"sticky", "a chain that repeats its row and class until it jumps", options,
              sizeof(sticky), NULL},
    .fill = fill,
    .noise_is_dependent = true};
