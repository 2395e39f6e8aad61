/* Time Series Forest's inner loops on rows side by side, one table of them per vector level.
 * Internal to src/learner/tsf. */
#ifndef SR_LEARNER_TSF_TSF_KERNEL_H
#define SR_LEARNER_TSF_TSF_KERNEL_H

#include "core/isa.h"
#include "tsf.h"

typedef struct sr__tsf_kernel {
  /* length x 8 values to eight columns of (length + 1) x 3 x width sums and of `center`. */
  void (*sums)(const float *series, int32_t length, int64_t width, double *sum, double *center);
  /* feature[8 eights k ..] for the k that are asked for, from columns of tiles that are `width`
   * wide; +inf where the series has no point. */
  void (*features)(const double *sum, const double *center, int64_t width, int64_t eights,
                   sr__tsf_asked asked, float *feature);
  /* leaf[j] of the lanes j whose bit is set: what stands in the leaf that the tree sends them to.
   * Feature k of lane j is feature[8 eights k + j]. */
  void (*leaves)(const sr__tsf_node *node, const float *feature, int64_t eights, uint64_t lanes,
                 uint32_t leaf[SR__TSF_TILE]);
} sr__tsf_kernel;

SR__KERNEL_LEVELS(sr__tsf_kernel)

#endif
