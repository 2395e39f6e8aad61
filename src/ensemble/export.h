/* Forests for other programs. Internal to this room. */
#ifndef SR_ENSEMBLE_EXPORT_H
#define SR_ENSEMBLE_EXPORT_H

#include "ensemble.h"

/* What the member's vote weighs; the weights sum to 1. */
double sr__export_weight(const sr_ensemble *ensemble, int32_t member);
SR_MUST_CHECK sr_status sr__export_json(sr_context *ctx, const sr_ensemble *ensemble,
                                        sr__writer *out);
SR_MUST_CHECK sr_status sr__export_onnx(sr_context *ctx, const sr_ensemble *ensemble,
                                        sr__writer *out);

#endif
