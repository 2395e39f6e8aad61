/* A feature of an interval from running sums: the one definition for growing and for predicting.
 * Internal to src/learner/tsf. */
#ifndef SR_LEARNER_TSF_TSF_FEATURES_H
#define SR_LEARNER_TSF_TSF_FEATURES_H

#include <math.h>

#include "tsf.h"

/* +inf where the series has no point: it then goes right. */
static inline float tsf_present(double value) { return value == value ? (float)value : INFINITY; }

/* w points from `start` of a channel whose sums begin at `sum`. With a the sum of x over them, the
 * slope on u = 0 .. w - 1 is (sum u x - (w - 1) / 2 a) 12 / (w (w^2 - 1)). */
static inline float tsf_feature(const sr__tsf_sum *sum, double center, int32_t start, int32_t end,
                                int kind) {
  const sr__tsf_sum *from = sum + start, *to = sum + end;
  double w = end - start, total = to->value - from->value, mean = total / w;
  if (kind == 0) return tsf_present(mean + center);
  if (kind == 1) {
    double variance = (to->square - from->square) / w - mean * mean;
    return tsf_present(variance < 0.0 ? 0.0 : sqrt(variance));
  }
  if (end - start < 2) return tsf_present(0.0 * total);
  double moment = to->moment - from->moment - (start + 0.5 * (w - 1.0)) * total;
  return tsf_present(moment * (12.0 / (w * (w * w - 1.0))));
}

#endif
