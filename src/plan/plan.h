/* Schemes behind the plans. A scheme is one file with an operations table and a line in
 * methods.def. Internal.
 *
 * Schemes that know groups work on positions: the rows sorted by group, in order inside each. Where
 * the groups already stand one after another, position and row are the same. */
#ifndef SR_PLAN_PLAN_H
#define SR_PLAN_PLAN_H

#include <specroute/plan.h>

#include "core/core.h"
#include "core/options.h"
#include "core/random.h"
#include "data/bag.h"
#include "draw_kernel.h"
#include "structure/structure.h"

enum { SR_PLAN_PARAMETERS = 4 };

/* What others must know of a scheme. */
enum {
  SR_PLAN_KNOWS_GROUPS = 1, /* works on positions */
  SR_PLAN_OWN_BAGS = 2      /* bags name rows of this table, so no fold of it can be fitted alone */
};

typedef struct sr__bag_reader sr__bag_reader;

enum { SR__BAG_PIECE = 2048 }; /* entries that are handed over together */

/* A bag that is being made: the entries that its reader did not get yet. */
typedef struct sr__bag_buffer {
  sr__entries to;
  int64_t length, capacity;
  int32_t *rows, *counts; /* a piece: where entries go that are not written to the reader's place */
  sr__bag_reader *reader;
} sr__bag_buffer;

/* Gives the entries so far to whoever reads the bag; there is room for a piece then. */
SR_MUST_CHECK sr_status sr__bag_hand_over(sr__bag_buffer *bag);
/* Room for `count` entries more, at most SR__BAG_PIECE. */
SR_MUST_CHECK static inline sr_status sr__bag_room(sr__bag_buffer *bag, int64_t count) {
  return bag->length + count <= bag->capacity ? SR_OK : sr__bag_hand_over(bag);
}
/* Where the next entry goes. */
static inline sr__entries sr__bag_end(const sr__bag_buffer *bag) {
  return (sr__entries){.rows = bag->to.rows ? bag->to.rows + bag->length : NULL,
                       .wide = bag->to.wide ? bag->to.wide + bag->length : NULL,
                       .counts = bag->to.counts + bag->length};
}
/* One entry more. */
SR_MUST_CHECK static inline sr_status sr__bag_add(sr__bag_buffer *bag, int64_t row, int32_t count) {
  sr_status status = sr__bag_room(bag, 1);
  sr__entries end = sr__bag_end(bag);
  if (end.wide)
    *end.wide = row;
  else
    *end.rows = (int32_t)row;
  *end.counts = count;
  bag->length += status == SR_OK;
  return status;
}

/* The rows that a plan is made for, and all that is known of them. Row i of the plan is row
 * subset[i] of the structure; NULL: all rows. */
typedef struct sr__plan_scope {
  const sr_structure *structure;
  const int32_t *subset;
  int64_t rows;
} sr__plan_scope;

typedef struct sr__scheme {
  sr_method about;
  unsigned flags;
  /* What a bag is, in words: "3 % of the rows of every part"; NULL: the help says it. */
  void (*say)(const void *options, char *words, size_t size);
  const char *search; /* values that a search tries, "KEY=A|B,..."; NULL: none */
  /* Sets plan->capacity (it is the number of rows) and, where it needs any, *state. `options` is
   * the parsed struct of `about`; what is kept of it is copied. */
  sr_status (*prepare)(sr_context *ctx, const sr__plan_scope *scope, const void *options,
                       sr_plan *plan, void **state);
  /* Positions (or rows, for schemes that do not know groups), increasing, with counts. It asks for
   * room before it writes, so that no bag is whole in memory. */
  sr_status (*bag)(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                   sr__bag_buffer *bag);
  void (*free_state)(const sr_allocator *allocator, void *state); /* NULL: one block */
} sr__scheme;

struct sr_plan {
  sr_allocator allocator;
  const sr__scheme *scheme;
  char *text; /* name and options that are not at their default */
  uint64_t seed;
  int32_t members;
  int64_t rows;
  int64_t capacity;
  int32_t parameter_count;
  sr_plan_parameter parameters[SR_PLAN_PARAMETERS];
  /* group g holds positions [group_offset[g], group_offset[g + 1]) */
  int64_t groups;
  int64_t *group_offset;
  int32_t *order; /* row of each position; NULL = the same */
  void *state;    /* the scheme's own */
  /* where rows stand in a file of so many rows, for bags in files; NULL: as here */
  int64_t *source_row, source_rows;
};

/* A plan on some rows of a structure. The configuration is read, not kept. */
SR_MUST_CHECK sr_status sr__plan_new(sr_context *ctx, const sr__plan_scope *scope,
                                     const sr__configuration *scheme, int32_t members,
                                     uint64_t seed, sr_plan **plan);
/* Bag `member` for a learner to read. */
sr__bag sr__bag_open(const sr_plan *plan, int32_t member);

/* Shown in reports as what the scheme worked with. */
void sr__plan_parameter(sr_plan *plan, const char *name, double value);
/* A length in rows from an option or an estimate: at least 1, at most `limit`. */
int64_t sr__plan_length(double value, int64_t limit);

/* ---- shared by schemes -------------------------------------------------------------------- */

/* Part p holds row[offset[p] .. offset[p + 1]), increasing. */
typedef struct sr__part_rows {
  int32_t parts;
  int64_t *offset;
  int32_t *row;
} sr__part_rows;
/* The structure's own parts as far as the scope holds them (count 0), or a cut into `count`. */
SR_MUST_CHECK sr_status sr__scope_parts(sr_context *ctx, const sr__plan_scope *scope, int32_t count,
                                        sr__part_rows *parts);
void sr__part_rows_free(const sr_allocator *allocator, sr__part_rows *parts);

/* `draws` draws with replacement from `items` items; item i is row list[i], or i where list is
 * NULL. */
SR_MUST_CHECK sr_status sr__bootstrap_list(sr_context *ctx, sr__random *random, int64_t items,
                                           int64_t draws, const int32_t *list, sr__bag_buffer *bag);
/* Adds the items [0, items) whose count is not 0; the counts become 0. */
SR_MUST_CHECK sr_status sr__bag_add_counts(sr__bag_buffer *bag, int32_t *count, int64_t items);

/* How long a block from position `start` of a group is; 0: another start is drawn. */
typedef int64_t (*sr__block_length)(const sr_plan *plan, sr__random *random, int64_t start,
                                    int64_t group);
/* Blocks from uniform starts, plan->rows positions in all: the last one is cut off. They go round
 * and round in the group of their start. */
SR_MUST_CHECK sr_status sr__bag_blocks(sr_context *ctx, const sr_plan *plan, sr__random *random,
                                       sr__block_length length_of, sr__bag_buffer *bag);
/* Blocks and lags are one whole number of rows: the state of the schemes below. */
SR_MUST_CHECK sr_status sr__rows_state(sr_context *ctx, double rows, const char *parameter,
                                       sr_plan *plan, void **state);
/* Every lag-th position of each group from a random offset, then a bootstrap of those; the lag is
 * the state. */
SR_MUST_CHECK sr_status sr__bag_thinned(sr_context *ctx, const sr_plan *plan, int32_t member,
                                        sr__random *random, sr__bag_buffer *bag);
/* plan->capacity for thinning by its lag. */
int64_t sr__thinned_capacity(const sr_plan *plan, int64_t lag);
/* Circular blocks, exactly plan->rows positions in all; the block length is the state. */
SR_MUST_CHECK sr_status sr__bag_circular(sr_context *ctx, const sr_plan *plan, int32_t member,
                                         sr__random *random, sr__bag_buffer *bag);
/* n^(1/3) where no block length is given. */
double sr__default_block(double given, int64_t rows);

/* Bags as a list: bag j is row[offset[j] .. offset[j + 1]). */
typedef struct sr__bag_list {
  int32_t members;
  int64_t *offset;
  int32_t *row, *count;
} sr__bag_list;
/* Reads bags from a csv or npy file that counts rows as the plan's file does; draws of rows that
 * the plan does not have are passed over. */
SR_MUST_CHECK sr_status sr__bag_list_read(sr_context *ctx, const char *path, const sr_plan *plan,
                                          sr__bag_list *list);
void sr__bag_list_free(const sr_allocator *allocator, sr__bag_list *list);

/* A plan NAME[:KEY=VALUE,...] as a person would say it, cut to `size` bytes with the end mark; the
 * text itself where it names no scheme. Errors: SR_ERROR_MEMORY. */
SR_MUST_CHECK sr_status sr__plan_words(sr_context *ctx, const char *text, char *words, size_t size);

#endif
