/* What a member leaves out to judge itself: whole units of rows with a margin. Internal. */
#ifndef SR_LEARNER_UNIT_SETS_H
#define SR_LEARNER_UNIT_SETS_H

#include "core/random.h"
#include "data/bag.h"
#include "learner/linear/linear.h"

/* Sets of entries of a bag. Without sets every row is left out by itself. */
typedef struct sr__unit_sets {
  sr__left_out left_out;
  int64_t *begin, *judged;
  int32_t *entry;
} sr__unit_sets;

/* One set per unit that occurs among row[0 .. count), which increase; the margin of a set are the
 * entries of other units within units->buffer places of it in the table. A bag of one unit is cut
 * into four stretches. A set that would leave fewer than two entries to learn from is passed over.
 * Free with sr__unit_sets_free. */
SR_MUST_CHECK sr_status sr__unit_sets_new(sr_context *ctx, const sr__row_units *units,
                                          const int32_t *row, int64_t count, sr__unit_sets *sets);
void sr__unit_sets_free(sr_context *ctx, sr__unit_sets *sets);

enum { SR__ENTRY_TRAINS, SR__ENTRY_HELD_OUT, SR__ENTRY_FREE };
/* What is dealt: rows of a bag, which increase, with their units and classes. */
typedef struct sr__unit_entries {
  const sr__row_units *units;
  int64_t count;
  const int32_t *row, *label; /* of each entry */
  int32_t classes;
} sr__unit_entries;

/* role: of each entry. Random units are held out until `share` of the entries are; entries in their
 * margin are free. No class loses its last training entry, and nothing is held out where that
 * would be all. Without units every entry is one. */
SR_MUST_CHECK sr_status sr__hold_out_units(sr_context *ctx, const sr__unit_entries *entries,
                                           double share, sr__random *random, uint8_t *role);

#endif
