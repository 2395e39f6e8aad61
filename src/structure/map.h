/* What the coordinates of a table tell: places, units, regions and the range of residuals.
 * Internal.
 */
#ifndef SR_STRUCTURE_MAP_H
#define SR_STRUCTURE_MAP_H

#include "places.h"

enum { SR__MOST_MAP_FOLDS = 64 }; /* a bit each */

typedef struct sr__map {
  sr_allocator allocator;
  sr__places places;
  sr__ground ground;
  sr__range range;
  int32_t *unit; /* of each row: the groups that were named, else the units that were found; NULL:
                    neither */
  int32_t units;
  bool named;      /* the units are groups */
  int32_t *region; /* of each row: as the table names them, else as they were found; NULL: one */
  int32_t regions;
  double buffer; /* around areas: the reach of the residuals, at most a sixth of the extent */
} sr__map;

/* `group` (may be NULL) are the groups of the rows. Free with sr__map_free. Cost: O(n log n) and a
 * linear fit on at most 20,000 rows. */
SR_MUST_CHECK sr_status sr__map_new(sr_context *ctx, const sr_table *table, const int32_t *group,
                                    int32_t groups, uint64_t seed, sr__map **map);
void sr__map_free(sr__map **map);
/* Compact parts of the units (of the places where there are none), one per fold. */
SR_MUST_CHECK sr_status sr__map_areas(sr_context *ctx, const sr__map *map, int32_t folds,
                                      int32_t *fold, int32_t *made);
/* For folds by row: bit k of near[place] says that the place lies within `buffer` of fold k without
 * being of it, and `distance` (by row; may be NULL) how far a row is from the rows that train for
 * its fold; of a map of more than 50,000 places only some are asked, NaN for the others. */
SR_MUST_CHECK sr_status sr__map_margin(sr_context *ctx, const sr__map *map, const int32_t *fold,
                                       double buffer, uint64_t *near, double *distance);

#endif
