/* Where rows lie: places, the units and regions that they form, and how far residuals reach.
 * Internal.
 *
 * Distances are meters where the coordinates are degrees, else in the unit of the coordinates. */
#ifndef SR_STRUCTURE_PLACES_H
#define SR_STRUCTURE_PLACES_H

#include <specroute/data.h>

#include "place_tree.h"

/* Rows with equal coordinates share a place. Free with sr__places_free. */
typedef struct sr__places {
  int64_t rows, count;
  int32_t dimension;     /* of `at`: that of the coordinates, or 3 on the sphere */
  sr_distance_unit unit; /* of distances */
  bool sphere;    /* coordinates were degrees; `at` lies on the sphere, distances are chords */
  double *at;     /* dimension columns of `count` */
  int32_t *place; /* of each row */
  int64_t *size;  /* rows of each place */
  double extent;  /* longest side of all places */
  sr__place_tree tree;
} sr__places;

/* Longitudes and latitudes of a projection "GEOG..." are degrees. SR_ERROR_DATA where a coordinate
 * is missing or there are fewer than two. O(n log n). */
SR_MUST_CHECK sr_status sr__places_new(sr_context *ctx, const sr_table_view *table,
                                       sr__places *places);
void sr__places_free(const sr_allocator *allocator, sr__places *places);
/* Points of another table as places know them: dimension columns of `count`, freed with sr__free.
 */
SR_MUST_CHECK sr_status sr__places_project(sr_context *ctx, const sr__places *places,
                                           const sr_table_view *table, double **at);
/* A distance through the sphere as one along it, and back. */
double sr__arc_of_chord(const sr__places *places, double chord);
double sr__chord_of_arc(const sr__places *places, double arc);

/* ---- units and regions -------------------------------------------------------------------- */

/* What the coordinates show: each NULL where nothing was found. By place. Free with
 * sr__ground_free. */
typedef struct sr__ground {
  int32_t *unit, *region;
  int32_t units, regions;
  bool shared_places; /* a unit is a place that rows share; else a patch between gaps */
  double gap;         /* patches: wider than this */
  double region_gap;  /* least distance between two regions */
} sr__ground;

SR_MUST_CHECK sr_status sr__ground_find(sr_context *ctx, const sr__places *places,
                                        sr__ground *ground);
void sr__ground_free(const sr_allocator *allocator, sr__ground *ground);

typedef struct sr__weighed_points {
  int64_t count;
  int32_t dimension;
  const double *at; /* a column per dimension */
  const int64_t *weight;
} sr__weighed_points;

/* Compact parts: the heaviest is halved across its longest axis until there are `parts`, or none
 * can be halved. label[i] in [0, *made) for each point. */
SR_MUST_CHECK sr_status sr__compact_parts(sr_context *ctx, const sr__weighed_points *points,
                                          int32_t parts, int32_t *label, int32_t *made);

/* ---- range -------------------------------------------------------------------------------- */

/* Correlation of the residuals: share * exp(-h / length) at distance h. */
enum { SR__RANGE_BINS = 14 };
typedef struct sr__range {
  double share, length; /* 0, 0 where the curve explains little */
  double reach;         /* the distance where it has fallen to .05; 0 where it never is above */
  int bins;             /* correlations that were seen, by distance */
  double distance[SR__RANGE_BINS], correlation[SR__RANGE_BINS];
  double patches; /* independent areas that the rows are worth; NaN where not told */
} sr__range;

/* Of the class indicators, or the value, after a linear fit on the features. Pairs of one `apart`
 * (by row; NULL: none) are left out. */
SR_MUST_CHECK sr_status sr__range_estimate(sr_context *ctx, const sr_table *table,
                                           const sr__places *places, const int32_t *apart,
                                           uint64_t seed, sr__range *range);

#endif
