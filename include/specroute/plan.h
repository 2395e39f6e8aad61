/* Plans: which rows each member of an ensemble learns from. */
#ifndef SPECROUTE_PLAN_H
#define SPECROUTE_PLAN_H

#include <specroute/partition.h>

#ifdef __cplusplus
extern "C" {
#endif

/* m bags as a recipe: each bag is made when asked for, from its own random stream. */
typedef struct sr_plan sr_plan;

/* What a scheme may look at. Fields that a scheme needs and does not get are an SR_ERROR_ARGUMENT.
 */
typedef struct sr_plan_input {
  int64_t rows;
  const int32_t *group; /* NULL: one group; rows of a group are in order */
  int32_t groups;
  const sr_parts *parts; /* spectral, routed */
  double tmix;           /* tmix-thin, burn-in, oracle-block */
  double block;          /* Politis-White length for auto-block */
} sr_plan_input;

typedef struct sr_plan_options {
  const char *name;  /* see sr_plan_scheme */
  int32_t members;   /* 100 */
  uint64_t seed;     /* 1 */
  double block;      /* stationary, circular, moving: 0 = n^(1/3) */
  int64_t lag;       /* lag-thin: 5 */
  double draw_share; /* uniform-nm: rows drawn over rows there are; 0 = 1 / members */
  double part_share; /* routed: share f of the parts a member draws; 0.5 */
  double row_share;  /* routed: share g of the rows of each; 1 */
  const char
      *bags_path; /* bags: csv "member,row[,count]" (from 0) or npy (members x rows, counts) */
} sr_plan_options;

typedef struct sr_plan_parameter {
  const char *name;
  double value;
} sr_plan_parameter;

typedef struct sr_plan_info {
  const char *name;
  int32_t members;
  int64_t rows;
  int64_t capacity;        /* no bag has more distinct rows */
  int leaves_parts_out;    /* 1 where every bag misses at least one whole part */
  int32_t parameter_count; /* what the scheme worked with: block, lag, parts, ... */
  const sr_plan_parameter *parameters;
} sr_plan_info;

SR_API void sr_plan_options_init(sr_plan_options *options);
/* Copies what it needs of the input, so that the parts may be freed. Errors: SR_ERROR_ARGUMENT,
 * SR_ERROR_NOT_FOUND (no such scheme), SR_ERROR_DATA (nothing left to learn from), SR_ERROR_IO and
 * SR_ERROR_FORMAT (bags from a file), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_plan_new(sr_context *ctx, const sr_plan_input *input,
                                           const sr_plan_options *options, sr_plan **plan);
SR_API void sr_plan_free(sr_plan **plan);
/* Valid as long as the plan. */
SR_API sr_plan_info sr_plan_get(const sr_plan *plan);
/* Distinct rows of one bag, increasing, with how often each occurs (>= 1). `rows` and `counts` hold
 * `capacity` entries. Safe from several threads with a context each. */
SR_API SR_MUST_CHECK sr_status sr_plan_bag(sr_context *ctx, const sr_plan *plan, int32_t member,
                                           int32_t *rows, int32_t *counts, int64_t *length);

/* Rows of a bag with repeats. */
typedef struct sr_plan_sizes {
  int64_t smallest, largest;
  double mean;
} sr_plan_sizes;
/* Writes every bag for another trainer: .npy is a members x rows matrix of counts in the smallest
 * unsigned type that holds them, .csv lines "member,row,count" counted from 0. `sizes` may be NULL.
 */
SR_API SR_MUST_CHECK sr_status sr_plan_write(sr_context *ctx, const sr_plan *plan, const char *path,
                                             sr_plan_sizes *sizes);

/* Algorithm 1's number of parts: ceil(c / lambda_2), at most `members` and `rows`, at least 1. */
SR_API int32_t sr_plan_spectral_parts(double c, double lambda2, int32_t members, int64_t rows);

/* The registry: schemes in a fixed order; NULL past the end. */
SR_API const sr_method_info *sr_plan_scheme(int index);

#ifdef __cplusplus
}
#endif
#endif
