/* What makes columns comparable: center and spread. Internal. */
#ifndef SR_DATA_COLUMN_MOMENTS_H
#define SR_DATA_COLUMN_MOMENTS_H

#include <stdint.h>

typedef struct sr__moments {
  int64_t finite;   /* values that are numbers; the others are left out */
  double mean;      /* 0 where there are none */
  double deviation; /* dividing by their number; exactly 0 where all are the same */
} sr__moments;

/* Two passes, so that a large mean does not drown the spread. */
sr__moments sr__column_moments(const float *x, int64_t rows);

#endif
