/* The rows of one member: distinct and increasing, each `counts` >= 1 times (NULL = once each).
 * They stand in arrays, or `read` makes them and hands them over in increasing pieces, the same
 * ones each time. It is declared here because plans fill it and learners read it. Internal. */
#ifndef SR_DATA_BAG_H
#define SR_DATA_BAG_H

#include "core/core.h"

/* Rows that a member leaves out together where it judges itself: those of one unit, and as a margin
 * the rows up to `buffer` places before and behind them. */
typedef struct sr__row_units {
  const int32_t *unit; /* of each row of the table; NULL: every row is one */
  int64_t buffer;
} sr__row_units;

/* Takes a piece of a bag. */
typedef sr_status (*sr__bag_taker)(void *data, const int32_t *rows, const int32_t *counts,
                                   int64_t length);

typedef struct sr__bag sr__bag;
struct sr__bag {
  const int32_t *rows;
  const int32_t *counts;
  int64_t length;
  sr_status (*read)(sr_context *ctx, const sr__bag *bag, sr__bag_taker take, void *data);
  const void *plan;
  int32_t member;
  const int32_t *subset; /* row of the table of each of the plan's rows; NULL: the same */
  uint64_t *drawn;       /* one bit per row of the table, set by reading; NULL: not kept */
  int64_t *distinct;     /* rows of the last reading; NULL: not counted */
  sr__row_units units;
  bool leaves; /* the member will be asked for its larger leaves: a learner may count in passing */
  int64_t asked; /* rows that the member will be asked for, once; 0: many */
};

/* Cost and memory follow the bag, not the table. */
SR_MUST_CHECK static inline sr_status sr__bag_read(sr_context *ctx, const sr__bag *bag,
                                                   sr__bag_taker take, void *data) {
  return bag->read ? bag->read(ctx, bag, take, data)
                   : take(data, bag->rows, bag->counts, bag->length);
}

#endif
