/* Losses of held-out rows by their distance, matched to the distances of use. Internal. */
#ifndef SR_EVALUATE_MAP_USE_H
#define SR_EVALUATE_MAP_USE_H

#include "core/core.h"

enum { SR__USE_BINS = 8 };

/* Held-out rows of every design. */
typedef struct sr__use_pool {
  int64_t count;
  double *loss, *distance; /* to the nearest row that trained for it */
  int32_t *group;          /* compact part of the map, in [0, groups) */
  int32_t groups;
  int64_t loss_capacity, distance_capacity, group_capacity;
} sr__use_pool;

typedef struct sr__use_answer {
  double estimate, low, high; /* NaN where nothing was held out */
  double distance;            /* median distance of use */
  double beyond; /* share of the places of use that lie farther than anything held out */
  double within; /* share that lies nearer than anything held out */
  int32_t groups;
} sr__use_answer;

/* Distances are cut into 8 bins at the quantiles of the `uses` distances of use; bins that fewer
 * than 30 rows or 3 groups were held out in join a neighbor; mean losses of the bins are weighted
 * with the shares of use. The interval is that of groups, variance times 1.5. */
SR_MUST_CHECK sr_status sr__match_distances(sr_context *ctx, const sr__use_pool *pool,
                                            const double *use, int64_t uses, double level,
                                            sr__use_answer *answer);

#endif
