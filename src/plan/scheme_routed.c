/* Each member draws a share f of the parts and, from each, a share g of its rows, both without
 * replacement. What a part cannot give in whole rows it gives in expectation. */
#include <math.h>

#include "plan.h"

typedef struct routed {
  double part_share, row_share;
  int64_t parts;
} routed;

static const sr_option options[] = {
    SR_REAL(routed, part_share, "0.5", 1e-9, 1, "share of the parts that a member draws"),
    SR_REAL(routed, row_share, "1", 1e-9, 1, "share of the rows that it draws of each"),
    SR_INTEGER(routed, parts, "0", 0, 1e9, "number of parts; 0 is those of the structure"),
    SR_OPTIONS_END};

typedef struct routed_state {
  sr__part_rows parts;
  int32_t drawn_parts;
  double row_share;
} routed_state;

static void free_state(const sr_allocator *allocator, void *state) {
  routed_state *r = state;
  sr__part_rows_free(allocator, &r->parts);
  sr__release(allocator, r);
}

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  sr_status status = SR_OK;
  const routed *o = values;
  routed_state *r = NULL;
  SR_NEW_ZERO(ctx, r, 1);
  *state = r;
  SR_TRY(sr__scope_parts(ctx, scope, (int32_t)o->parts, &r->parts));
  r->drawn_parts = (int32_t)sr__plan_length(o->part_share * r->parts.parts, r->parts.parts);
  r->row_share = o->row_share;
  sr__plan_parameter(plan, "parts", r->parts.parts);
  sr__plan_parameter(plan, "part_share", o->part_share);
  sr__plan_parameter(plan, "row_share", o->row_share);
cleanup:
  return status;
}

static int64_t rows_to_draw(sr__random *random, double share, int64_t size) {
  if (share >= 1.0) return size;
  double wanted = share * (double)size;
  int64_t whole = (int64_t)floor(wanted);
  return whole + (sr__random_uniform(random) < wanted - (double)whole);
}

typedef struct routed_scratch {
  int32_t *part;     /* the drawn parts */
  int32_t *position; /* rows drawn in one part; not needed where whole parts are taken */
  uint64_t *bitmap;  /* for the samplers */
  uint64_t *chosen;  /* one bit per row */
} routed_scratch;

static void choose(uint64_t *chosen, int32_t row) { chosen[row / 64] |= UINT64_C(1) << (row % 64); }

/* Rows [low, high) as whole words where they fill them. */
static void choose_range(uint64_t *chosen, int64_t low, int64_t high) {
  for (; low < high && low % 64; low++) choose(chosen, (int32_t)low);
  for (; high - low >= 64; low += 64) chosen[low / 64] = UINT64_MAX;
  for (; low < high; low++) choose(chosen, (int32_t)low);
}

static int64_t choose_from_part(const routed_state *r, int32_t part, sr__random *random,
                                routed_scratch *s) {
  const int32_t *row = r->parts.row + r->parts.offset[part];
  int64_t size = r->parts.offset[part + 1] - r->parts.offset[part];
  int64_t wanted = rows_to_draw(random, r->row_share, size);
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
static void choose_something(const routed_state *r, sr__random *random, routed_scratch *s) {
  int32_t part = s->part[sr__random_below(random, (uint64_t)r->drawn_parts)];
  int64_t low = r->parts.offset[part], size = r->parts.offset[part + 1] - low;
  choose(s->chosen, r->parts.row[low + (int64_t)sr__random_below(random, (uint64_t)size)]);
}

static sr_status write_chosen(const sr_plan *plan, const uint64_t *chosen, sr__bag_buffer *bag) {
  enum { WORDS = SR__BAG_PIECE / 64 };
  sr_status status = SR_OK;
  int64_t words = (plan->rows + 63) / 64;
  for (int64_t first = 0; first < words; first += WORDS) {
    int64_t here = words - first < WORDS ? words - first : WORDS;
    SR_TRY(sr__bag_room(bag, 64 * here));
    bag->length += sr__draw_kernel_now()->keep_bits(chosen, first, here, sr__bag_end(bag));
  }
cleanup:
  return status;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  (void)member;
  const routed_state *r = plan->state;
  sr_status status = SR_OK;
  sr__arena arena = {0};
  int64_t words = (plan->rows + 63) / 64; /* enough for every part and for the parts themselves */
  routed_scratch s = {
      .part = sr__arena_alloc(ctx, &arena, r->drawn_parts, sizeof(int32_t)),
      .position =
          sr__arena_alloc(ctx, &arena, r->row_share < 1.0 ? plan->rows : 1, sizeof(int32_t)),
      .bitmap = sr__arena_alloc(ctx, &arena, words, sizeof(uint64_t)),
      .chosen = sr__arena_alloc(ctx, &arena, words, sizeof(uint64_t)),
  };
  if (!s.part || !s.position || !s.bitmap || !s.chosen) SR_TRY(SR_ERROR_MEMORY);
  memset(s.chosen, 0, (size_t)words * sizeof *s.chosen);
  sr__random_sample(random, r->parts.parts, r->drawn_parts, s.bitmap, s.part);
  int64_t total = 0;
  for (int32_t k = 0; k < r->drawn_parts; k++) total += choose_from_part(r, s.part[k], random, &s);
  if (total == 0) choose_something(r, random, &s);
  SR_TRY(write_chosen(plan, s.chosen, bag));
cleanup:
  sr__arena_free(ctx, &arena);
  return status;
}

static void say(const void *values, char *words, size_t size) {
  const routed *o = values;
  char rows[32] = "all rows";
  if (o->row_share < 1.0) snprintf(rows, sizeof rows, "%g %% of the rows", 100.0 * o->row_share);
  if (o->part_share >= 1.0)
    snprintf(words, size, "%s of every part", rows);
  else
    snprintf(words, size, "%s of a random %g %% of the parts", rows, 100.0 * o->part_share);
}

const sr__scheme sr__scheme_routed = {
    .about = {"routed", "a random set of parts per member, and a share of the rows of each",
              options, sizeof(routed), NULL},
    .say = say,
    .search = "part_share=0.1|0.3|0.5|0.8|1,row_share=0.03|0.1|0.3|1",
    .prepare = prepare,
    .bag = make_bag,
    .free_state = free_state,
};
