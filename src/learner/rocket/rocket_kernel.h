/* The convolutions of ROCKET at every vector level. */
#ifndef SR_LEARNER_ROCKET_KERNEL_H
#define SR_LEARNER_ROCKET_KERNEL_H

#include "core/isa.h"
#include "rocket.h"

enum { SR__ROCKET_LATE = 7 /* vectors past the last output that are read and not used */ };

typedef struct sr__rocket_kernel {
  /* Features of filters [first, first + filters). Eight series: out[feature * stride + lane]; one
   * series: out[feature * stride]. */
  void (*transform)(const sr__rocket *rocket, const sr__lane_input *input, int32_t first,
                    int32_t filters, float *out, int64_t stride);
} sr__rocket_kernel;
SR__KERNEL_LEVELS(sr__rocket_kernel)

#endif
