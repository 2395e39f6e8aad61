/* What the statistics share. Internal. */
#ifndef SR_STATS_STATS_H
#define SR_STATS_STATS_H

#include <specroute/stats.h>

#include "core/core.h"

/* Sorts doubles, smallest first. */
void sr__sort_doubles(double *value, int64_t count);
/* Average ranks of `value` into `rank`, with `order` as scratch; gives the sum of t^3 - t over the
 * groups of t equal values. */
double sr__average_ranks(int64_t count, const double *value, int64_t *order, double *rank);

#endif
