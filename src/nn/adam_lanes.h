/* A step of Adam for eight parameters. Internal to *_kernel.c. */
#ifndef SR_NN_ADAM_LANES_H
#define SR_NN_ADAM_LANES_H

#include "nn/lanes.h"
#include "nn/nn.h"

typedef struct sr__adam_lanes {
  sr__wide first, second, value;
} sr__adam_lanes;

/* m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
 * value = shrink value - step m / (sqrt(second_factor v) + epsilon). */
SR__INLINE void sr__adam_lanes_step(const sr__adam_update *how, sr__wide g, sr__adam_lanes *at) {
  g *= sr__all(how->gradient_factor);
  at->first = sr__fused(sr__all(how->beta1), at->first, g * sr__all(1.0f - how->beta1));
  at->second = sr__fused(sr__all(how->beta2), at->second, g * g * sr__all(1.0f - how->beta2));
  sr__wide size = sr__root(at->second * sr__all(how->second_factor)) + sr__all(how->epsilon);
  at->value = at->value * sr__all(how->shrink) - at->first * sr__all(how->step) / size;
}

#endif
