/* The fields of tables and series, for the readers. Internal to src/data. */
#ifndef SR_DATA_TABLE_H
#define SR_DATA_TABLE_H

#include <specroute/data.h>

#include "core/core.h"

/* The view's pointers own their arrays and are released with the table. Names stand in `names`, one
 * block of characters; the pointer arrays are blocks of their own. */
struct sr_table {
  sr_table_view view;
  sr_allocator allocator;
};

struct sr_series {
  sr_series_view view;
  sr_allocator allocator;
};

/* Copies a dictionary into one block (pointers first, then characters); names is NULL for count 0. */
SR_MUST_CHECK sr_status sr__dictionary_copy(sr_context *ctx, sr_dictionary from, sr_dictionary *to);

#endif
