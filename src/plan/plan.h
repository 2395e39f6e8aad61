/* Schemes behind the plans. A scheme is one file with an operations table and a line in registry.c.
 * Internal.
 *
 * Schemes that know groups work on positions: the rows sorted by group, in order inside each. Where
 * the groups already stand one after another, position and row are the same. */
#ifndef SR_PLAN_PLAN_H
#define SR_PLAN_PLAN_H

#include <specroute/plan.h>

#include "core/core.h"
#include "core/random.h"

enum { SR_PLAN_PARAMETERS = 4 };

/* What a scheme needs of the input. */
enum {
  SR_PLAN_NEEDS_PARTS = 1,
  SR_PLAN_NEEDS_TMIX = 2,
  SR_PLAN_NEEDS_BLOCK = 4,
  SR_PLAN_KNOWS_GROUPS = 8
};

/* Takes a piece of a bag; pieces come in increasing order of their rows. */
typedef sr_status (*sr__bag_take)(void *data, const int32_t *rows, const int32_t *counts,
                                  int64_t length);

/* A bag that is being made. It holds the plan's `capacity`, or less where `take` empties it. */
typedef struct sr__bag_buffer {
  int32_t *rows, *counts;
  int64_t length, capacity;
  sr__bag_take take; /* NULL: the bag stays here */
  void *data;
} sr__bag_buffer;

/* Room for `count` entries more. */
SR_MUST_CHECK static inline sr_status sr__bag_room(sr__bag_buffer *bag, int64_t count) {
  if (!bag->take || bag->length + count <= bag->capacity) return SR_OK;
  int64_t length = bag->length;
  bag->length = 0;
  return bag->take(bag->data, bag->rows, bag->counts, length);
}

typedef struct sr__scheme {
  sr_method_info info;
  unsigned needs;
  bool in_pieces; /* asks for room, so that its bags need not be whole in memory */
  /* Sets capacity and the scheme's own numbers below. */
  sr_status (*prepare)(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                       const sr_plan_options *options);
  /* Positions (or rows, for schemes that do not know groups), increasing, with counts. */
  sr_status (*bag)(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                   sr__bag_buffer *bag);
} sr__scheme;

struct sr_plan {
  sr_allocator allocator;
  const sr__scheme *scheme;
  uint64_t seed;
  int32_t members;
  int64_t rows;
  int64_t capacity;
  bool leaves_parts_out;
  int32_t parameter_count;
  sr_plan_parameter parameters[SR_PLAN_PARAMETERS];
  /* group g holds positions [group_offset[g], group_offset[g + 1]) */
  int64_t groups;
  int64_t *group_offset;
  int32_t *order; /* row of each position; NULL = the same */
  /* part p holds part_row[part_offset[p] .. part_offset[p + 1]), increasing */
  int32_t parts;
  int64_t *part_offset;
  int32_t *part_row;
  /* numbers of the schemes */
  int64_t block, lag, skip, draws;
  double restart; /* stationary: probability that a block ends */
  int32_t drawn_parts;
  double row_share;
  /* bags from a file: bag j is bag_row[bag_offset[j] .. bag_offset[j + 1]) */
  int64_t *bag_offset;
  int32_t *bag_row, *bag_count;
};

extern const sr__scheme sr__scheme_uniform, sr__scheme_uniform_nm, sr__scheme_lag_thin,
    sr__scheme_tmix_thin, sr__scheme_stationary, sr__scheme_circular, sr__scheme_moving,
    sr__scheme_burn_in, sr__scheme_oracle_block, sr__scheme_auto_block, sr__scheme_spectral,
    sr__scheme_routed, sr__scheme_bags;

/* Makes bag `member` and hands it to `take`, in pieces where the scheme can: then no more than a
 * piece is in memory. */
SR_MUST_CHECK sr_status sr__plan_read_bag(sr_context *ctx, const sr_plan *plan, int32_t member,
                                          sr__bag_take take, void *data);

const sr__scheme *sr__scheme_at(int index);
SR_MUST_CHECK sr_status sr__scheme_find(sr_context *ctx, const char *name,
                                        const sr__scheme **scheme);

void sr__plan_parameter(sr_plan *plan, const char *name, double value);
/* A length in rows from an option or an estimate: at least 1, at most `limit`. */
int64_t sr__plan_length(double value, int64_t limit);

/* ---- shared by schemes -------------------------------------------------------------------- */

/* `draws` draws with replacement from `items` items; item i is row list[i], or i where list is
 * NULL. `list` may be bag->rows. */
SR_MUST_CHECK sr_status sr__bootstrap_list(sr_context *ctx, sr__random *random, int64_t items,
                                           int64_t draws, const int32_t *list, sr__bag_buffer *bag);
/* Adds items [first, first + width) whose count is not 0; item i is row list[i], or i where list is
 * NULL. Count and list may stand in the bag's own arrays, not before what is written. */
void sr__bag_add_counts(sr__bag_buffer *bag, const int32_t *count, int64_t first, int64_t width,
                        const int32_t *list);

/* Counts of positions as differences: add_range marks [low, high), finish sums and compacts. */
void sr__ranges_start(const sr_plan *plan, sr__bag_buffer *bag);
void sr__ranges_add(const sr_plan *plan, sr__bag_buffer *bag, int64_t low, int64_t high);
void sr__ranges_finish(const sr_plan *plan, sr__bag_buffer *bag);
/* The group that holds a position. */
int64_t sr__plan_group_of(const sr_plan *plan, int64_t position);
/* Marks `length` positions from `start` on, round and round in the group of `start`. */
void sr__ranges_add_circular(const sr_plan *plan, sr__bag_buffer *bag, int64_t start,
                             int64_t length);
/* Every lag-th position of each group from a random offset, then a bootstrap of those. */
SR_MUST_CHECK sr_status sr__bag_thinned(sr_context *ctx, const sr_plan *plan, int32_t member,
                                        sr__random *random, sr__bag_buffer *bag);
/* Circular blocks of plan->block positions, exactly plan->rows in all. */
SR_MUST_CHECK sr_status sr__bag_circular(sr_context *ctx, const sr_plan *plan, int32_t member,
                                         sr__random *random, sr__bag_buffer *bag);
/* plan->capacity for thinning by plan->lag. */
int64_t sr__thinned_capacity(const sr_plan *plan);

/* Reads bags from a csv or npy file into the plan; members come from the file. */
SR_MUST_CHECK sr_status sr__plan_read_bags(sr_context *ctx, const char *path, sr_plan *plan);

#endif
