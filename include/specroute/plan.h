/* Plans: which rows each member of an ensemble learns from. */
#ifndef SPECROUTE_PLAN_H
#define SPECROUTE_PLAN_H

#include <specroute/partition.h>

#ifdef __cplusplus
extern "C" {
#endif

/* m bags as a recipe: each bag is made when asked for, from its own random stream. */
typedef struct sr_plan sr_plan;

/* What a scheme may look at. Fields that a scheme needs and does not get are an SR_ERROR_ARGUMENT. */
typedef struct sr_plan_input {
  int64_t rows;
  const int32_t *group;     /* NULL: one group; rows of a group are in order */
  int32_t groups;
  const sr_parts *parts;    /* spectral, routed */
  double tmix;              /* thinning, burn-in, oracle-block, routed */
  double block;             /* Politis-White length for auto-block */
} sr_plan_input;

typedef struct sr_plan_options {
  const char *name;         /* uniform, uniform-nm, lag-thin, tmix-thin, stationary, circular, moving, burn-in, oracle-block, auto-block, spectral, routed, bags */
  int32_t members;          /* 100 */
  uint64_t seed;
  double block;             /* block schemes: 0 = n^(1/3) */
  int64_t lag;              /* lag-thin: 5 */
  double part_share;        /* routed: share f of the parts a member draws */
  double row_share;         /* routed: share g of the rows of each */
  const char *bags_path;    /* bags: csv "member,row[,count]" or npy (members x rows, counts) */
} sr_plan_options;

typedef struct sr_plan_info {
  const char *name;
  int32_t members;
  int64_t rows;
  int64_t capacity;         /* no bag has more distinct rows */
  int leaves_parts_out;     /* 1 where every bag misses at least one whole part */
} sr_plan_info;

SR_API void sr_plan_options_init(sr_plan_options *options);
/* Copies what it needs of the input, so that the parts may be freed. */
SR_API SR_MUST_CHECK sr_status sr_plan_new(sr_context *ctx, const sr_plan_input *input,
                                           const sr_plan_options *options, sr_plan **plan);
SR_API void sr_plan_free(sr_plan **plan);
SR_API sr_plan_info sr_plan_get(const sr_plan *plan);
/* Distinct rows of one bag, increasing, with how often each occurs (>= 1). `rows` and `counts` hold
 * `capacity` entries. Safe from several threads with a context each. */
SR_API SR_MUST_CHECK sr_status sr_plan_bag(sr_context *ctx, const sr_plan *plan, int32_t member,
                                           int32_t *rows, int32_t *counts, int64_t *length);
SR_API const sr_method_info *sr_plan_scheme(int index);

#ifdef __cplusplus
}
#endif
#endif
