#include "unit_sets.h"

#include <stdlib.h>

typedef struct unit_entry {
  int32_t unit, entry;
} unit_entry;

static int by_unit(const void *left, const void *right) {
  const unit_entry *a = left, *b = right;
  if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
  return (a->entry > b->entry) - (a->entry < b->entry);
}

/* Entries by unit; a bag of one unit becomes four stretches. Gives the number of units. */
static int64_t sort_entries(const sr__row_units *units, const int32_t *row, int64_t count,
                            unit_entry *list) {
  enum { STRETCHES = 4 };
  int64_t found = 1;
  for (int64_t i = 0; i < count; i++)
    list[i] = (unit_entry){units->unit ? units->unit[row[i]] : (int32_t)i, (int32_t)i};
  qsort(list, (size_t)count, sizeof *list, by_unit);
  for (int64_t i = 1; i < count; i++) found += list[i].unit != list[i - 1].unit;
  if (found > 1) return found;
  for (int64_t i = 0; i < count; i++) list[i].unit = (int32_t)(i * STRETCHES / count);
  return count < STRETCHES ? count : STRETCHES;
}

typedef struct set_maker {
  sr_context *ctx;
  const int32_t *row;
  int64_t count, buffer;
  sr__unit_sets *sets;
  int64_t used, capacity;
  uint8_t *inside; /* of the unit in hand */
} set_maker;

/* The entries list[first .. end) and their margin. */
static sr_status add_set(set_maker *m, const unit_entry *list, int64_t first, int64_t end) {
  sr_status status = SR_OK;
  int64_t begin = m->used, next = 0;
  SR_GROW(m->ctx, m->sets->entry, m->capacity, m->used + m->count);
  for (int64_t k = first; k < end; k++) {
    m->inside[list[k].entry] = 1;
    m->sets->entry[m->used++] = list[k].entry;
  }
  for (int64_t k = first; m->buffer > 0 && k < end; k++) {
    int64_t at = m->row[list[k].entry];
    if (next > 0 && m->row[next - 1] >= at + m->buffer) continue;
    while (next < m->count && m->row[next] < at - m->buffer) next++;
    for (; next < m->count && m->row[next] <= at + m->buffer; next++)
      if (!m->inside[next]) m->sets->entry[m->used++] = (int32_t)next;
  }
  for (int64_t k = first; k < end; k++) m->inside[list[k].entry] = 0;
  if (m->used - begin > m->count - 2) {
    m->used = begin;
    return SR_OK;
  }
  m->sets->judged[m->sets->left_out.sets++] = end - first;
  m->sets->begin[m->sets->left_out.sets] = m->used;
cleanup:
  return status;
}

sr_status sr__unit_sets_new(sr_context *ctx, const sr__row_units *units, const int32_t *row,
                            int64_t count, sr__unit_sets *sets) {
  sr_status status = SR_OK;
  unit_entry *list = NULL;
  set_maker m = {ctx, row, count, units->buffer, sets, 0, 0, NULL};
  *sets = (sr__unit_sets){0};
  if (!units->unit || count < 4) return SR_OK;
  SR_NEW(ctx, list, count);
  SR_NEW_ZERO(ctx, m.inside, count);
  int64_t found = sort_entries(units, row, count, list);
  SR_NEW_ZERO(ctx, sets->begin, found + 1);
  SR_NEW(ctx, sets->judged, found);
  for (int64_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && list[end].unit == list[first].unit;) end++;
    SR_TRY(add_set(&m, list, first, end));
  }
  sets->left_out.begin = sets->begin;
  sets->left_out.judged = sets->judged;
  sets->left_out.row = sets->entry;
cleanup:
  sr__free(ctx, list);
  sr__free(ctx, m.inside);
  if (status != SR_OK) sr__unit_sets_free(ctx, sets);
  return status;
}

void sr__unit_sets_free(sr_context *ctx, sr__unit_sets *sets) {
  sr__free(ctx, sets->begin);
  sr__free(ctx, sets->judged);
  sr__free(ctx, sets->entry);
  *sets = (sr__unit_sets){0};
}

/* ---- a part that is held out ---------------------------------------------------------------- */

/* Whether every class of the entries list[first .. end) has others that still train; then they are
 * held out. */
static bool hold_out(const unit_entry *list, int64_t first, int64_t end, const int32_t *label,
                     int64_t *left, uint8_t *role) {
  bool fine = true;
  for (int64_t k = first; k < end; k++) left[label[list[k].entry]]--;
  for (int64_t k = first; k < end; k++) fine = fine && left[label[list[k].entry]] > 0;
  for (int64_t k = first; k < end; k++) {
    if (fine)
      role[list[k].entry] = SR__ENTRY_HELD_OUT;
    else
      left[label[list[k].entry]]++;
  }
  return fine;
}

/* Entries that train within `buffer` places of one that is held out are free. */
static void free_margin(const int32_t *row, int64_t count, int64_t buffer, uint8_t *role) {
  for (int direction = 1; buffer > 0 && direction >= -1; direction -= 2) {
    int64_t last = -1; /* the latest entry that is held out */
    for (int64_t k = 0; k < count; k++) {
      int64_t i = direction > 0 ? k : count - 1 - k;
      if (role[i] == SR__ENTRY_HELD_OUT) last = i;
      if (last < 0 || role[i] != SR__ENTRY_TRAINS) continue;
      int64_t apart = direction * ((int64_t)row[i] - row[last]);
      if (apart <= buffer) role[i] = SR__ENTRY_FREE;
    }
  }
}

sr_status sr__hold_out_units(sr_context *ctx, const sr__unit_entries *entries, double share,
                             sr__random *random, uint8_t *role) {
  sr_status status = SR_OK;
  const int32_t *row = entries->row, *label = entries->label;
  int64_t count = entries->count;
  unit_entry *list = NULL;
  int64_t *left = NULL, held = 0, training = 0;
  int32_t *start = NULL, found = 0;
  memset(role, SR__ENTRY_TRAINS, (size_t)count);
  if (count < 4 || share <= 0.0) return SR_OK;
  SR_NEW(ctx, list, count);
  SR_NEW(ctx, start, count);
  SR_NEW_ZERO(ctx, left, entries->classes);
  (void)sort_entries(entries->units, row, count, list);
  for (int64_t i = 0; i < count; i++) left[label[i]]++;
  for (int64_t i = 0; i < count; i++)
    if (i == 0 || list[i].unit != list[i - 1].unit) start[found++] = (int32_t)i;
  sr__random_shuffle(random, start, found);
  for (int32_t u = 0; u < found && (double)held < share * (double)count; u++) {
    int64_t end = start[u] + 1;
    while (end < count && list[end].unit == list[start[u]].unit) end++;
    if (hold_out(list, start[u], end, label, left, role)) held += end - start[u];
  }
  free_margin(row, count, entries->units->buffer, role);
  for (int64_t i = 0; i < count; i++) training += role[i] == SR__ENTRY_TRAINS;
  if (training == 0) memset(role, SR__ENTRY_TRAINS, (size_t)count);
cleanup:
  sr__free(ctx, list);
  sr__free(ctx, start);
  sr__free(ctx, left);
  return status;
}
