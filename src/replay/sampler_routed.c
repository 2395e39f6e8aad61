/* Samplers on parts by age: routed deals the parts to the heads in turn, separate does so with a
 * network per head, one-part takes a whole batch from one part. The head of a row never changes
 * while the row lives, so nothing is cut again as the buffer turns over. */
#include "sampler.h"

typedef struct routed_options {
  int64_t block;
} routed_options;
static const sr_option options[] = {SR_INTEGER(routed_options, block, "40", 1, 1e9,
                                               "steps of a part, inside an episode"),
                                    SR_OPTIONS_END};

typedef struct routed {
  sr__age_parts parts;
  int32_t heads;
} routed;

static sr_status prepare(sr_context *ctx, const void *chosen, const sr__sampler_setup *setup,
                         void **state) {
  sr_status status = SR_OK;
  routed *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  *state = made;
  made->heads = setup->heads;
  SR_TRY(
      sr__age_parts_new(ctx, setup->buffer, ((const routed_options *)chosen)->block, &made->parts));
cleanup:
  return status;
}

static void free_state(const sr_allocator *allocator, void *state) {
  sr__age_parts_free(allocator, &((routed *)state)->parts);
  sr__release(allocator, state);
}

static void added(void *state, int64_t row, bool first_of_episode) {
  sr__age_parts_add(&((routed *)state)->parts, row, first_of_episode);
}

static int32_t owner(void *state, int64_t row, const float *features) {
  (void)features;
  const routed *own = state;
  return (int32_t)(sr__age_part_of(&own->parts, row) % own->heads);
}

static void draw_routed(void *state, sr__random *random, int32_t head, double progress,
                        sr__batch *batch) {
  (void)progress;
  const routed *own = state;
  for (int32_t i = 0; i < batch->count; i++)
    batch->row[i] = head < 0 ? sr__draw_row(own->parts.buffer, random)
                             : sr__age_parts_draw(&own->parts, random, own->heads, head);
}

static void draw_one_part(void *state, sr__random *random, int32_t head, double progress,
                          sr__batch *batch) {
  (void)head, (void)progress;
  const routed *own = state;
  const sr__buffer *buffer = own->parts.buffer;
  int64_t first, end, anchor = sr__draw_row(buffer, random);
  sr__age_part_rows(&own->parts, sr__age_part_of(&own->parts, anchor), &first, &end);
  for (int32_t i = 0; i < batch->count; i++) {
    do batch->row[i] = first + (int64_t)sr__random_below(random, (uint64_t)(end - first));
    while (!sr__buffer_drawable(buffer, batch->row[i]));
  }
}

static void save(const void *state, sr__bytes *bytes) {
  sr__age_parts_save(&((const routed *)state)->parts, bytes);
}
static void load(void *state, sr__byte_reader *reader) {
  sr__age_parts_load(&((routed *)state)->parts, reader);
}

#define ON_PARTS                                                                              \
  .prepare = prepare, .free_state = free_state, .added = added, .owner = owner, .save = save, \
  .load = load

const sr__sampler sr__sampler_routed = {
    .about = {"routed", "blocks of steps inside episodes, dealt to the heads in turn", options,
              sizeof(routed_options), NULL},
    .traits = SR__SAMPLER_OWNED,
    .draw = draw_routed,
    ON_PARTS};
const sr__sampler sr__sampler_separate = {
    .about = {"separate", "control: routed, with a network per head in place of a shared trunk",
              options, sizeof(routed_options), NULL},
    .traits = SR__SAMPLER_OWNED | SR__SAMPLER_SEPARATE,
    .draw = draw_routed,
    ON_PARTS};
const sr__sampler sr__sampler_one_part = {
    .about = {"one-part", "control: every head learns, and a batch comes from one block", options,
              sizeof(routed_options), NULL},
    .draw = draw_one_part,
    ON_PARTS};
