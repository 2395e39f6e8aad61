/* The convolutions of ROCKET at every vector level. */
#ifndef SR_LEARNER_ROCKET_KERNEL_H
#define SR_LEARNER_ROCKET_KERNEL_H

#include "core/isa.h"
#include "rocket.h"

enum {
  SR__ROCKET_LATE = 7,  /* vectors past the last output that are read and not used */
  SR__ROCKET_INPUTS = 8 /* that may run together */
};

/* Filters [first, first + filters) over up to SR__ROCKET_INPUTS inputs. */
typedef struct sr__rocket_task {
  const sr__lane_input *input;
  int32_t inputs, first, filters;
} sr__rocket_task;

typedef struct sr__rocket_kernel {
  /* Eight series an input: out[feature * stride + 8 input + lane]; one series and one input:
   * out[feature * stride]. */
  void (*transform)(const sr__rocket *rocket, const sr__rocket_task *task, float *out,
                    int64_t stride);
} sr__rocket_kernel;
SR__KERNEL_LEVELS(sr__rocket_kernel)

#endif
