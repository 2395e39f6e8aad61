/* Samplers on parts by age: routed deals the parts to the heads in turn, separate does so with a
 * network per head, one-part takes a whole batch from one part. The head of a row never changes
 * while the row lives, so nothing is cut again as the buffer turns over. */
#include "sampler.h"

typedef struct routed_options {
  int64_t block;
} routed_options;
static const sr_option options[] = {
    SR_INTEGER(
        routed_options, block, "40", 0, 1e9,
        "steps of a part, inside an episode; 0: four times as many as a picture is remembered"),
    SR_OPTIONS_END};

enum { UNMEASURED_BLOCK = 40, TIMES_PER_PART = 4 };

typedef struct routed {
  sr__age_parts parts;
  int32_t heads;
  bool measures, bits;
  int64_t measured_at; /* rows written when the pictures were last looked at; 0: never */
} routed;

static sr_status prepare(sr_context *ctx, const void *chosen, const sr__sampler_setup *setup,
                         void **state) {
  sr_status status = SR_OK;
  int64_t block = ((const routed_options *)chosen)->block;
  routed *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  *state = made;
  made->heads = setup->heads;
  made->bits = setup->bits;
  made->measures = block == 0;
  SR_TRY(sr__age_parts_new(ctx, setup->buffer, block > 0 ? block : UNMEASURED_BLOCK, &made->parts));
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

/* The length of a part from the pictures, whenever twice as many rows have been written as the last
 * time. The first time no head has learned yet and all rows are dealt anew; from then on the length
 * is that of new parts alone, so that a row keeps its head. */
static sr_status refresh(sr_context *ctx, void *state, sr__features_fn features, void *data,
                         bool *was_cut) {
  (void)features, (void)data;
  sr_status status = SR_OK;
  routed *own = state;
  int64_t written = own->parts.buffer->written;
  double time;
  *was_cut = false;
  if (!own->measures || written < 2 * own->measured_at) return SR_OK;
  SR_TRY(sr__picture_time(ctx, own->parts.buffer, own->bits, &time));
  int64_t block = (int64_t)(TIMES_PER_PART * time + 0.5);
  if (own->measured_at == 0)
    sr__age_parts_again(&own->parts, block);
  else
    own->parts.block = block;
  own->measured_at = written;
  sr__log(ctx, SR_LOG_DEBUG, "routed: pictures are remembered for %.3g steps: parts of %lld", time,
          (long long)block);
cleanup:
  return status;
}

static sr_status grow(sr_context *ctx, void *state, const sr__buffer *larger) {
  return sr__age_parts_grow(ctx, &((routed *)state)->parts, larger);
}

static void draw_one_part(void *state, sr__random *random, double progress, sr__batch *batch) {
  (void)progress;
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
  const routed *own = state;
  sr__put_u64(bytes, (uint64_t)own->measured_at);
  sr__age_parts_save(&own->parts, bytes);
}
static void load(void *state, sr__byte_reader *reader) {
  routed *own = state;
  own->measured_at = (int64_t)sr__get_u64(reader);
  sr__age_parts_load(&own->parts, reader);
}

#define ON_PARTS                                                                \
  .prepare = prepare, .free_state = free_state, .added = added, .owner = owner, \
  .refresh = refresh, .grow = grow, .save = save, .load = load

const sr__sampler sr__sampler_routed = {
    .about = {"routed", "blocks of steps inside episodes, dealt to the heads in turn", options,
              sizeof(routed_options), NULL},
    .traits = SR__SAMPLER_OWNED,
    ON_PARTS};
const sr__sampler sr__sampler_separate = {
    .about = {"separate", "control: routed, with a network per head in place of a shared trunk",
              options, sizeof(routed_options), NULL},
    .traits = SR__SAMPLER_OWNED | SR__SAMPLER_SEPARATE,
    ON_PARTS};
const sr__sampler sr__sampler_one_part = {
    .about = {"one-part", "control: every head learns, and a batch comes from one block", options,
              sizeof(routed_options), NULL},
    .draw = draw_one_part,
    ON_PARTS};
