/* Blocks of consecutive positions. Their edges are noted and dealt to tiles of positions; a bag is
 * then made tile by tile, inside the nearest cache, and costs one pass over its positions and one
 * draw a block. */
#include <math.h>

#include "core/maths.h"
#include "plan.h"

enum { TILE_BITS = 10, TILE = 1 << TILE_BITS /* positions that are counted together */ };

/* Ranges of positions, each of which counts once. */
typedef struct ranges {
  int64_t edges, capacity;
  uint32_t *edge; /* position << 1, of an end + 1 */
} ranges;

static int64_t tile_of(uint32_t edge) { return edge >> (TILE_BITS + 1); }

/* The edges of tile t become [start[t], start[t + 1]) of `dealt`. */
static void deal_edges(const ranges *all, int64_t tiles, int64_t *start, uint32_t *dealt) {
  for (int64_t i = 0; i < all->edges; i++) start[tile_of(all->edge[i])]++;
  for (int64_t t = 0, before = 0; t <= tiles; t++) {
    before += start[t];
    start[t] = before;
  }
  for (int64_t i = all->edges - 1; i >= 0; i--)
    dealt[--start[tile_of(all->edge[i])]] = all->edge[i];
}

static sr_status write_ranges(sr_context *ctx, const sr_plan *plan, const ranges *all,
                              sr__bag_buffer *bag) {
  sr_status status = SR_OK;
  int64_t tiles = (plan->rows + TILE - 1) >> TILE_BITS, *start = NULL;
  uint32_t *dealt = NULL;
  int32_t level = 0, step[TILE] = {0};
  SR_NEW_ZERO(ctx, start, tiles + 1); /* a range may end where the next tile would begin */
  SR_NEW(ctx, dealt, all->edges);
  deal_edges(all, tiles, start, dealt);
  for (int64_t t = 0; t < tiles; t++) {
    int64_t first = t << TILE_BITS, width = plan->rows - first < TILE ? plan->rows - first : TILE;
    for (int64_t i = start[t]; i < start[t + 1]; i++)
      step[dealt[i] >> 1 & (TILE - 1)] += dealt[i] & 1 ? -1 : 1;
    SR_TRY(sr__bag_room(bag, width));
    bag->length +=
        sr__draw_kernel_now()->keep_levels(step, &level, (int32_t)first, width, sr__bag_end(bag));
  }
cleanup:
  sr__free(ctx, start);
  sr__free(ctx, dealt);
  return status;
}

static int64_t group_of(const sr_plan *plan, int64_t position) {
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

sr_status sr__bag_blocks(sr_context *ctx, const sr_plan *plan, sr__random *random,
                         sr__block_length length_of, sr__bag_buffer *bag) {
  sr_status status = SR_OK;
  ranges all = {0};
  for (int64_t left = plan->rows; left > 0;) {
    int64_t start = (int64_t)sr__random_below(random, (uint64_t)plan->rows);
    int64_t group = group_of(plan, start), end = plan->group_offset[group + 1];
    int64_t length = length_of(plan, random, start, group);
    if (length > left) length = left;
    left -= length;
    for (; length > 0; start = plan->group_offset[group]) {
      int64_t here = end - start < length ? end - start : length;
      SR_GROW(ctx, all.edge, all.capacity, all.edges + 2);
      all.edge[all.edges++] = (uint32_t)start << 1;
      all.edge[all.edges++] = (uint32_t)(start + here) << 1 | 1;
      length -= here;
    }
  }
  SR_TRY(write_ranges(ctx, plan, &all, bag));
cleanup:
  sr__free(ctx, all.edge);
  return status;
}

static int64_t equal_length(const sr_plan *plan, sr__random *random, int64_t start, int64_t group) {
  (void)random, (void)start, (void)group;
  return *(const int64_t *)plan->state;
}

sr_status sr__bag_circular(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                           sr__bag_buffer *bag) {
  (void)member;
  return sr__bag_blocks(ctx, plan, random, equal_length, bag);
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
  sr_status status = SR_OK;
  int32_t *kept = NULL;
  int64_t count = 0, lag = *(const int64_t *)plan->state;
  SR_NEW(ctx, kept, plan->capacity);
  for (int64_t g = 0; g < plan->groups; g++) {
    int64_t low = plan->group_offset[g], high = plan->group_offset[g + 1];
    if (low == high) continue;
    int64_t offsets = lag < high - low ? lag : high - low;
    int64_t first = low + (int64_t)sr__random_below(random, (uint64_t)offsets);
    for (int64_t i = first; i < high; i += lag) kept[count++] = (int32_t)i;
  }
  SR_TRY(sr__bootstrap_list(ctx, random, count, count, kept, bag));
cleanup:
  sr__free(ctx, kept);
  return status;
}
