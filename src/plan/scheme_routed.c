/* Each member draws a share f of the parts and, from each, a share g of its rows, both without
 * replacement. What a part cannot give in whole rows it gives in expectation. */
#include <math.h>

#include "plan.h"

static sr_status prepare(sr_context *ctx, sr_plan *plan, const sr_plan_input *input,
                         const sr_plan_options *options) {
  (void)ctx;
  (void)input;
  plan->drawn_parts = (int32_t)sr__plan_length(options->part_share * plan->parts, plan->parts);
  plan->row_share = options->row_share;
  plan->leaves_parts_out = plan->drawn_parts < plan->parts;
  sr__plan_parameter(plan, "parts", plan->parts);
  sr__plan_parameter(plan, "part_share", options->part_share);
  sr__plan_parameter(plan, "row_share", options->row_share);
  return SR_OK;
}

static int64_t rows_to_draw(sr__random *random, double share, int64_t size) {
  if (share >= 1.0) return size;
  double wanted = share * (double)size;
  int64_t whole = (int64_t)floor(wanted);
  return whole + (sr__random_uniform(random) < wanted - (double)whole);
}

typedef struct routed_scratch {
  int32_t *part;     /* the drawn parts */
  int32_t *position; /* rows drawn in one part */
  uint64_t *bitmap;  /* for the samplers */
  uint64_t *chosen;  /* one bit a row */
} routed_scratch;

static void choose(uint64_t *chosen, int32_t row) { chosen[row / 64] |= UINT64_C(1) << (row % 64); }

/* Rows [low, high) as whole words where they fill them. */
static void choose_range(uint64_t *chosen, int64_t low, int64_t high) {
  for (; low < high && low % 64; low++) choose(chosen, (int32_t)low);
  for (; high - low >= 64; low += 64) chosen[low / 64] = UINT64_MAX;
  for (; low < high; low++) choose(chosen, (int32_t)low);
}

static int64_t choose_from_part(const sr_plan *plan, int32_t part, sr__random *random,
                                routed_scratch *s) {
  const int32_t *row = plan->part_row + plan->part_offset[part];
  int64_t size = plan->part_offset[part + 1] - plan->part_offset[part];
  int64_t wanted = rows_to_draw(random, plan->row_share, size);
  if (wanted == size && size > 0) {
    if (row[size - 1] - row[0] == size - 1)
      choose_range(s->chosen, row[0], row[size - 1] + 1);
    else
      for (int64_t i = 0; i < size; i++) choose(s->chosen, row[i]);
    return size;
  }
  sr__random_sample(random, size, wanted, s->bitmap, s->position);
  for (int64_t i = 0; i < wanted; i++) choose(s->chosen, row[s->position[i]]);
  return wanted;
}

/* Where the shares left nothing, one row of the drawn parts stands in. */
static void choose_something(const sr_plan *plan, sr__random *random, routed_scratch *s) {
  int32_t part = s->part[sr__random_below(random, (uint64_t)plan->drawn_parts)];
  int64_t low = plan->part_offset[part], size = plan->part_offset[part + 1] - low;
  choose(s->chosen, plan->part_row[low + (int64_t)sr__random_below(random, (uint64_t)size)]);
}

/* A word without a row costs nothing, a full one is 64 numbers in a row. */
static void write_chosen(const sr_plan *plan, const uint64_t *chosen, sr__bag_buffer *bag) {
  int64_t length = 0;
  for (int64_t w = 0; w < (plan->rows + 63) / 64; w++) {
    int32_t *rows = bag->rows + length;
    if (chosen[w] == UINT64_MAX) {
      for (int k = 0; k < 64; k++) rows[k] = (int32_t)(w * 64 + k);
      length += 64;
      continue;
    }
    for (uint64_t bits = chosen[w]; bits; bits &= bits - 1)
      bag->rows[length++] = (int32_t)(w * 64 + __builtin_ctzll(bits));
  }
  for (int64_t i = 0; i < length; i++) bag->counts[i] = 1;
  bag->length = length;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  sr_status status = SR_OK;
  sr__arena arena = {0};
  int64_t words = (plan->rows + 63) / 64; /* enough for every part and for the parts themselves */
  routed_scratch s = {
      .part = sr__arena_alloc(ctx, &arena, plan->drawn_parts, sizeof(int32_t)),
      .position = sr__arena_alloc(ctx, &arena, plan->rows, sizeof(int32_t)),
      .bitmap = sr__arena_alloc(ctx, &arena, words, sizeof(uint64_t)),
      .chosen = sr__arena_alloc(ctx, &arena, words, sizeof(uint64_t)),
  };
  if (!s.part || !s.position || !s.bitmap || !s.chosen) SR_TRY(SR_ERROR_MEMORY);
  memset(s.chosen, 0, (size_t)words * sizeof *s.chosen);
  sr__random_sample(random, plan->parts, plan->drawn_parts, s.bitmap, s.part);
  int64_t total = 0;
  for (int32_t k = 0; k < plan->drawn_parts; k++)
    total += choose_from_part(plan, s.part[k], random, &s);
  if (total == 0) choose_something(plan, random, &s);
  write_chosen(plan, s.chosen, bag);
cleanup:
  sr__arena_free(ctx, &arena);
  return status;
}

const sr__scheme sr__scheme_routed = {
    .info = {"routed", "a random set of parts a member, and a share of the rows of each"},
    .needs = SR_PLAN_NEEDS_PARTS,
    .prepare = prepare,
    .bag = make_bag,
};
