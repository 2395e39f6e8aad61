/* All that is known of how the rows of a table depend on each other: what plans, folds and honest
 * errors are made from. */
#ifndef SPECROUTE_STRUCTURE_H
#define SPECROUTE_STRUCTURE_H

#include <specroute/dependence.h>
#include <specroute/method.h>
#include <specroute/partition.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Graph, dependence, parts, groups and T. It owns what it holds; the table may be freed. */
typedef struct sr_structure sr_structure;

/* What is held out together. */
typedef enum sr_unit {
  SR_UNIT_ROW,
  SR_UNIT_BLOCK,
  SR_UNIT_PART,
  SR_UNIT_GROUP,
  SR_UNIT_FIELD, /* maps: places that rows share, or patches between gaps */
  SR_UNIT_AREA   /* maps: compact ground */
} sr_unit;
/* A unit as "row", "block", "part", "group", "field" or "area": a constant. */
SR_API const char *sr_unit_name(sr_unit unit);

typedef struct sr_structure_options {
  const char *graph; /* NAME[:KEY=VALUE,...] of sr_graph_method; NULL or "": by the table */
  double tmix;       /* rows (graphs: nodes) until a row is new; 0 = estimate */
  int64_t parts;     /* 0: the groups where the table has any, else about 4 tmix rows per part */
  double level;      /* of the interval of tmix: 0.9 */
} sr_structure_options;

typedef struct sr_structure_view {
  int64_t rows;
  const char *graph; /* as it was named */
  double tmix, tmix_low,
      tmix_high;           /* NaN where it cannot be told; bounds also where it was given */
  double tmix_careful;     /* rather too long than too short; tmix where it was given */
  const char *tmix_method; /* "given" or the estimator's name */
  int64_t overlap;         /* rows behind a row that share values with it */
  double block_rows;       /* Politis-White, circular form; NaN where it cannot be told */
  sr_unit unit;            /* what the parts are: parts of the graph, or groups */
  const sr_parts *parts;
  int independent;                  /* 1: the rows are as good as independent */
  const char *recommend;            /* name of a plan */
  const sr_dependence *dependence;  /* NULL where the structure was given */
  const sr_graph *dependency_graph; /* NULL where the rows are one series: every cut is a range */
  double seconds;                   /* that making it took */
  sr_distance_unit distance_unit;   /* maps: of reach and buffer; SR_DISTANCE_NONE elsewhere */
  int32_t fields, regions;          /* maps: found by the coordinates, or as named; 0: none */
  double
      reach; /* maps: distance that residuals are alike up to; NaN: not known, 0: none was seen */
  double buffer_distance; /* maps: what folds of areas keep free around them; NaN: not known */
} sr_structure_view;

/* The options with their defaults and ranges, a constant list that ends with a key of NULL. */
SR_API const sr_option *sr_structure_option_list(void);
SR_API void sr_structure_options_init(sr_structure_options *options);
/* Builds the graph, estimates T and cuts the parts, each once. `options` may be NULL. Free with
 * sr_structure_free. Errors: SR_ERROR_ARGUMENT, SR_ERROR_NOT_FOUND (no such graph), SR_ERROR_DATA
 * (the graph needs what the table lacks), SR_ERROR_MEMORY. Cost: that of the graph, O(n d^2 + n d
 * log n) for T.
 */
SR_API SR_MUST_CHECK sr_status sr_structure_estimate(sr_context *ctx, const sr_table *table,
                                                     const sr_structure_options *options,
                                                     uint64_t seed, sr_structure **structure);

/* What is known already. Everything is copied. */
typedef struct sr_structure_input {
  int64_t rows;
  const sr_graph *graph; /* NULL: the rows are one series in order */
  const int32_t *part;   /* of each row, from 0 without gaps; NULL: cut from the graph */
  int32_t parts;         /* how many, or how many to cut; 0: about 4 tmix rows per part */
  const int32_t *group;  /* of each row; NULL: one group */
  int32_t groups;
  double tmix;       /* 1 or more rows until a row is new; NaN: it cannot be told */
  double block_rows; /* Politis-White length; 0: not known */
} sr_structure_input;

/* A structure of one's own graph, parts, groups and T. Free with sr_structure_free. Errors:
 * SR_ERROR_ARGUMENT (a size or number out of range), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_structure_new(sr_context *ctx, const sr_structure_input *input,
                                                sr_structure **structure);
SR_API void sr_structure_free(sr_structure **structure);
/* The structure as bytes for another process, without what was estimated on the way
 * (`dependence`); *bytes is freed with sr_bytes_free. Errors: SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_structure_to_bytes(sr_context *ctx, const sr_structure *structure,
                                                     void **bytes, int64_t *count);
/* Free with sr_structure_free. Errors: SR_ERROR_FORMAT for anything that is not a whole structure,
 * SR_ERROR_ARGUMENT (a graph or parts that do not hold together), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_structure_from_bytes(sr_context *ctx, const void *bytes,
                                                       int64_t count, sr_structure **structure);
/* Valid as long as the structure. */
SR_API const sr_structure_view *sr_structure_get(const sr_structure *structure);
/* Cuts the rows into `count` parts; `part` gets the part of each row. Cheap up to the number of
 * parts that the structure holds (their hierarchy is kept), a new cut of the graph beyond. Errors:
 * SR_ERROR_ARGUMENT (count below 1 or above the rows), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_structure_cut(sr_context *ctx, const sr_structure *structure,
                                                int32_t count, int32_t *part);
#ifdef __cplusplus
}
#endif
#endif
