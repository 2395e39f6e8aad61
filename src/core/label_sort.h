/* Items sorted by a small number each of them has. Internal. */
#ifndef SR_CORE_LABEL_SORT_H
#define SR_CORE_LABEL_SORT_H

#include "core.h"

/* Counting sort: item[offset[c] .. offset[c + 1]) are the items with label c, increasing. Labels
 * lie in [0, count); negative ones are left out. Both arrays are freed with sr__free. */
SR_MUST_CHECK sr_status sr__sort_by_label(sr_context *ctx, const int32_t *label, int64_t items,
                                          int32_t count, int64_t **offset, int32_t **item);

#endif
