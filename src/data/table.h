/* The fields of tables, for the readers. Internal. */
#ifndef SR_DATA_TABLE_H
#define SR_DATA_TABLE_H

#include <specroute/data.h>

#include "core/core.h"
#include "dictionary.h"

/* The view's pointers own their arrays, each an allocation of its own, and are released with the
 * table. A list of names is one allocation: pointers first, then characters. */
struct sr_table {
  sr_table_view view;
  sr_allocator allocator;
  bool borrowed; /* the arrays are somebody else's */
};

/* An array in an allocation of its own; NULL stays NULL. */
SR_MUST_CHECK sr_status sr__copy_array(sr_context *ctx, const void *from, int64_t count,
                                       size_t size, const void **to);
#define SR_COPY_ARRAY(ctx, to, from, count)                                 \
  do {                                                                      \
    const void *copy_ = NULL;                                               \
    SR_TRY(sr__copy_array((ctx), (from), (count), sizeof *(from), &copy_)); \
    (to) = copy_;                                                           \
  } while (0)

/* sr_table_select with rows as most of the library keeps them. */
SR_MUST_CHECK sr_status sr__table_select(sr_context *ctx, const sr_table *table,
                                         const int32_t *rows, int64_t count, sr_table **selected);

/* Says that the table's rows were the rows `rows` of a file of `file_rows`, where it is not said
 * already. */
SR_MUST_CHECK sr_status sr__table_name_rows(sr_context *ctx, sr_table *table, const int32_t *rows,
                                            int64_t file_rows);
/* Rows of the file: source_rows, or those of the table. */
static inline int64_t sr__file_rows(const sr_table_view *view) {
  return view->source_row && view->source_rows ? view->source_rows : view->rows;
}
/* A table that owns the view's arrays, each an allocation of its own, instead of copying them.
 * Empties the view; on failure the caller still owns them. Nothing is checked. */
SR_MUST_CHECK sr_status sr__table_adopt(sr_context *ctx, sr_table_view *view, sr_table **table);
/* Frees what a view of owned arrays holds. */
void sr__table_view_free(sr_context *ctx, sr_table_view *view);

#endif
