/* Plans: which rows each member of an ensemble learns from. */
#ifndef SPECROUTE_PLAN_H
#define SPECROUTE_PLAN_H

#include <specroute/structure.h>

#ifdef __cplusplus
extern "C" {
#endif

/* m bags as a recipe: each bag is made when asked for, from its own random stream. */
typedef struct sr_plan sr_plan;

typedef struct sr_plan_parameter {
  const char *name;
  double value;
} sr_plan_parameter;

typedef struct sr_plan_view {
  const char *name; /* of the scheme */
  const char *text; /* name and options as sr_plan_new takes them */
  int32_t members;
  int64_t rows;
  int64_t capacity;        /* no bag has more distinct rows */
  int32_t parameter_count; /* what the scheme worked with: block, lag, parts, ... */
  const sr_plan_parameter *parameters;
} sr_plan_view;

/* A plan of the scheme that `text` names (NAME[:KEY=VALUE,...], see sr_plan_method) with `members`
 * bags. It copies what it needs, so the structure may be freed; free with sr_plan_free. Errors:
 * SR_ERROR_ARGUMENT, SR_ERROR_NOT_FOUND (no such scheme or option), SR_ERROR_DATA (nothing left to
 * learn from), SR_ERROR_IO and SR_ERROR_FORMAT (bags from a file), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_plan_new(sr_context *ctx, const sr_structure *structure,
                                           const char *text, int32_t members, uint64_t seed,
                                           sr_plan **plan);
/* A plan of bags in memory: bag j holds row[offset[j] .. offset[j + 1]), each `count` times (NULL =
 * once), in any order; offset has members + 1 entries. Everything is copied. Free with
 * sr_plan_free. Errors: SR_ERROR_ARGUMENT (an empty bag, a row or count out of range),
 * SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_plan_from_bags(sr_context *ctx, int64_t rows, int32_t members,
                                                 const int64_t *offset, const int64_t *row,
                                                 const int32_t *count, sr_plan **plan);
SR_API void sr_plan_free(sr_plan **plan);
/* Every bag of the plan as bytes for another process, about two per row and bag; *bytes is freed
 * with sr_bytes_free. Errors: SR_ERROR_MEMORY. Cost: all bags are made. */
SR_API SR_MUST_CHECK sr_status sr_plan_to_bytes(sr_context *ctx, const sr_plan *plan, void **bytes,
                                                int64_t *count);
/* A plan of the same bags; its text is that of the plan that was written. Free with sr_plan_free.
 * Errors: SR_ERROR_FORMAT for anything that is not a whole plan, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_plan_from_bytes(sr_context *ctx, const void *bytes, int64_t count,
                                                  sr_plan **plan);
/* Valid as long as the plan. */
SR_API sr_plan_view sr_plan_get(const sr_plan *plan);
/* Distinct rows of one bag, increasing, with how often each occurs (>= 1). `rows` and `counts` hold
 * `capacity` entries; *length of them are filled. Safe from several threads with a context each.
 * Errors: SR_ERROR_ARGUMENT (no such member), SR_ERROR_MEMORY. Cost: about one pass over the rows
 * that the scheme draws from. */
SR_API SR_MUST_CHECK sr_status sr_plan_bag(sr_context *ctx, const sr_plan *plan, int32_t member,
                                           int64_t *rows, int32_t *counts, int64_t *length);

/* Rows of a bag with repeats. */
typedef struct sr_plan_sizes {
  int64_t smallest, largest;
  double mean;
} sr_plan_sizes;
/* Writes every bag for another trainer: .npy is a members x rows matrix of counts in the smallest
 * unsigned type that holds them, .csv lines "member,row,count" counted from 0, rows as
 * they stood in the file of the table. `sizes` may be NULL.
 * Errors: SR_ERROR_OUTPUT, SR_ERROR_UNSUPPORTED (another ending), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_plan_write(sr_context *ctx, const sr_plan *plan, const char *path,
                                             sr_plan_sizes *sizes);

/* Algorithm 1's number of parts for a graph of lambda2: ceil(c / lambda2), at most `members` and
 * `rows`, at least 1. */
SR_API int32_t sr_plan_spectral_parts(double c, double lambda2, int32_t members, int64_t rows);

/* The registry: schemes in a fixed order; NULL past the end. */
SR_API const sr_method *sr_plan_method(int index);

#ifdef __cplusplus
}
#endif
#endif
