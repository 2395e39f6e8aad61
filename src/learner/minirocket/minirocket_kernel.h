/* The responses and counts of MiniRocket at every vector level. */
#ifndef SR_LEARNER_MINIROCKET_KERNEL_H
#define SR_LEARNER_MINIROCKET_KERNEL_H

#include "core/isa.h"
#include "minirocket.h"

enum { SR__MINI_LANES = 16 /* series, or times of one series, in a vector of whole numbers */ };

/* What one call looks at: floats of one block (eight series), of two blocks (whole numbers), or of
 * one series. x[i] holds value t of channel c at c * channel_stride[i] + t * step, for t <
 * steps[i]; a second block that is not there has no steps. */
typedef struct sr__mini_input {
  const float *x[2];
  int64_t channel_stride[2];
  int64_t steps[2];
  int64_t step;                   /* 8, or 1 where it is one series */
  int32_t length[SR__MINI_LANES]; /* of the first 8 or 16 lanes */
  float peak[SR__MINI_LANES];     /* see sr__series_blocks */
} sr__mini_input;

/* Scratch with `reach` zero steps on either side of x and triple. Elements are floats or whole
 * numbers of 16 bits. `steps` of them are filled in base and pair. */
typedef struct sr__mini_work {
  void *memory;
  void *x, *triple; /* at step 0 */
  void *base, *pair;
  int64_t steps;
} sr__mini_work;

typedef struct sr__minirocket_kernel {
  void (*transform)(const sr__minirocket *mini, const sr__mini_input *input,
                    sr__mini_filters filters, const sr__mini_work *work, float *out,
                    int64_t stride);
  void (*transform_whole)(const sr__minirocket *mini, const sr__mini_input *input,
                          sr__mini_filters filters, const sr__mini_work *work, float *out,
                          int64_t stride);
} sr__minirocket_kernel;
SR__KERNEL_LEVELS(sr__minirocket_kernel)

#endif
