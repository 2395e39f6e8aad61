/* The spectrum object, for the files that make one. */
#ifndef SR_SPECTRUM_OBJECT_H
#define SR_SPECTRUM_OBJECT_H

#include "spectrum.h"

struct sr_spectrum {
  sr_spectrum_view view;
  double *value;
  double *vector;
  sr_allocator allocator;
};

/* A spectrum with room for the values, all zero; its vectors come from whoever makes them. */
SR_MUST_CHECK sr_status sr__spectrum_new(sr_context *ctx, int64_t nodes, int32_t pairs,
                                         sr_spectrum **spectrum);

#endif
