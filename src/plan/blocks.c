/* Blocks of consecutive positions, counted by differences: a bag costs one pass over its positions
 * and one draw a block. */
#include <math.h>

#include "core/maths.h"
#include "plan.h"

enum { TILE = 512 }; /* positions that are summed before they are written */

void sr__ranges_start(const sr_plan *plan, sr__bag_buffer *bag) {
  memset(bag->counts, 0, (size_t)plan->rows * sizeof *bag->counts);
}

void sr__ranges_add(const sr_plan *plan, sr__bag_buffer *bag, int64_t low, int64_t high) {
  bag->counts[low]++;
  if (high < plan->rows) bag->counts[high]--;
}

void sr__ranges_finish(const sr_plan *plan, sr__bag_buffer *bag) {
  int32_t level = 0;
  bag->length = 0;
  for (int64_t first = 0; first < plan->rows; first += TILE) {
    int32_t count[TILE];
    int64_t width = plan->rows - first < TILE ? plan->rows - first : TILE;
    for (int64_t i = 0; i < width; i++) count[i] = level += bag->counts[first + i];
    sr__bag_add_counts(bag, count, first, width, NULL);
  }
}

int64_t sr__plan_group_of(const sr_plan *plan, int64_t position) {
  int64_t low = 0, high = plan->groups;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (plan->group_offset[middle] <= position)
      low = middle;
    else
      high = middle;
  }
  return low;
}

void sr__ranges_add_circular(const sr_plan *plan, sr__bag_buffer *bag, int64_t start,
                             int64_t length) {
  int64_t group = sr__plan_group_of(plan, start);
  int64_t low = plan->group_offset[group], high = plan->group_offset[group + 1];
  while (length > 0) {
    int64_t end = high - start < length ? high : start + length;
    sr__ranges_add(plan, bag, start, end);
    length -= end - start;
    start = low;
  }
}

sr_status sr__bag_circular(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                           sr__bag_buffer *bag) {
  (void)ctx;
  (void)member;
  int64_t block = *(const int64_t *)plan->state;
  sr__ranges_start(plan, bag);
  for (int64_t left = plan->rows; left > 0; left -= block) {
    int64_t start = (int64_t)sr__random_below(random, (uint64_t)plan->rows);
    sr__ranges_add_circular(plan, bag, start, block < left ? block : left);
  }
  sr__ranges_finish(plan, bag);
  return SR_OK;
}

double sr__default_block(double given, int64_t rows) {
  return given > 0.0 ? given : sr__cbrt_portable((double)rows);
}

sr_status sr__rows_state(sr_context *ctx, double rows, const char *parameter, sr_plan *plan,
                         void **state) {
  sr_status status = SR_OK;
  int64_t *length = NULL;
  SR_NEW(ctx, length, 1);
  *length = sr__plan_length(rows, plan->rows);
  sr__plan_parameter(plan, parameter, (double)*length);
  *state = length;
cleanup:
  return status;
}

int64_t sr__thinned_capacity(const sr_plan *plan, int64_t lag) {
  int64_t capacity = 0;
  for (int64_t g = 0; g < plan->groups; g++)
    capacity += (plan->group_offset[g + 1] - plan->group_offset[g] + lag - 1) / lag;
  return capacity;
}

/* A group shorter than the lag keeps one row: an offset is drawn among the rows it has. */
sr_status sr__bag_thinned(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  int64_t kept = 0, lag = *(const int64_t *)plan->state;
  for (int64_t g = 0; g < plan->groups; g++) {
    int64_t low = plan->group_offset[g], high = plan->group_offset[g + 1];
    if (low == high) continue;
    int64_t offsets = lag < high - low ? lag : high - low;
    int64_t first = low + (int64_t)sr__random_below(random, (uint64_t)offsets);
    for (int64_t i = first; i < high; i += lag) bag->rows[kept++] = (int32_t)i;
  }
  return sr__bootstrap_list(ctx, random, kept, kept, bag->rows, bag);
}
