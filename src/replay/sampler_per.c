/* Prioritized replay: a row is drawn by its last error to the power alpha; weights undo the lean as
 * beta rises. */
#include "sampler.h"

#include "core/maths.h"
#include "sum_tree.h"

typedef struct per_options {
  double alpha, beta, epsilon;
} per_options;
static const sr_option options[] = {
    SR_REAL(per_options, alpha, "0.6", 0, 2, "power of the error that a row is drawn by"),
    SR_REAL(per_options, beta, "0.4", 0, 1, "power of the weights at the start; 1 at the end"),
    SR_REAL(per_options, epsilon, "1e-6", 0, 1, "added to every error, so that no row is lost"),
    SR_OPTIONS_END};

typedef struct per {
  per_options chosen;
  const sr__buffer *buffer;
  sr__sum_tree tree; /* priorities by slot; 0: not to be drawn */
  double largest;    /* priority so far: what a new row gets */
} per;

static sr_status prepare(sr_context *ctx, const void *chosen, const sr__sampler_setup *setup,
                         void **state) {
  sr_status status = SR_OK;
  per *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  *state = made;
  made->chosen = *(const per_options *)chosen;
  made->buffer = setup->buffer;
  made->largest = 1;
  SR_TRY(sr__sum_tree_new(ctx, setup->buffer->capacity, &made->tree));
cleanup:
  return status;
}

static void free_state(const sr_allocator *allocator, void *state) {
  sr__sum_tree_free(allocator, &((per *)state)->tree);
  sr__release(allocator, state);
}

static void added(void *state, int64_t row, bool first_of_episode) {
  (void)first_of_episode;
  per *own = state;
  int64_t slot = sr__buffer_slot(own->buffer, row);
  if (sr__sum_tree_weight(&own->tree, slot) > 0) sr__sum_tree_set(&own->tree, slot, 0);
}

static void completed(void *state, int64_t row) {
  per *own = state;
  sr__sum_tree_set(&own->tree, sr__buffer_slot(own->buffer, row), own->largest);
}

static int64_t row_in_slot(const sr__buffer *buffer, int64_t slot) {
  int64_t newest = buffer->written - 1, newest_slot = sr__buffer_slot(buffer, newest);
  return newest - newest_slot + slot - (slot > newest_slot ? buffer->capacity : 0);
}

/* One draw from each of `count` equal shares of the total. A row whose history is overwritten is
 * drawn again, from the whole. weight = (N P(row))^-beta, divided by the largest of the batch. */
static void draw(void *state, sr__random *random, double progress, sr__batch *batch) {
  per *own = state;
  double total = sr__sum_tree_total(&own->tree), largest = 0;
  double beta = own->chosen.beta + (1 - own->chosen.beta) * (progress < 1 ? progress : 1);
  for (int32_t i = 0; i < batch->count; i++) {
    double low = i, width = 1;
    int64_t row;
    for (;;) {
      double at = (low + width * sr__random_uniform(random)) / batch->count * total;
      row = row_in_slot(own->buffer, sr__sum_tree_find(&own->tree, at));
      if (sr__buffer_drawable(own->buffer, row)) break;
      low = 0;
      width = batch->count;
    }
    double chance = sr__sum_tree_weight(&own->tree, sr__buffer_slot(own->buffer, row)) / total;
    batch->row[i] = row;
    batch->weight[i] = (float)sr__pow_portable((double)own->buffer->whole * chance, -beta);
    if (batch->weight[i] > largest) largest = batch->weight[i];
  }
  for (int32_t i = 0; i < batch->count; i++) batch->weight[i] = (float)(batch->weight[i] / largest);
}

/* size^alpha, where alpha or size may be 0. */
static double priority_of(double size, double alpha) {
  if (alpha == 0) return 1;
  return size > 0 ? sr__pow_portable(size, alpha) : 0;
}

static void learned(void *state, const sr__batch *batch, const float *errors) {
  per *own = state;
  for (int32_t i = 0; i < batch->count; i++) {
    double priority = priority_of((double)errors[i] + own->chosen.epsilon, own->chosen.alpha);
    if (priority > own->largest) own->largest = priority;
    sr__sum_tree_set(&own->tree, sr__buffer_slot(own->buffer, batch->row[i]), priority);
  }
}

static sr_status grow(sr_context *ctx, void *state, const sr__buffer *larger) {
  sr_status status = SR_OK;
  per *own = state;
  const sr__buffer *buffer = own->buffer;
  sr_allocator allocator = sr__allocator(ctx);
  sr__sum_tree tree;
  SR_TRY(sr__sum_tree_new(ctx, larger->capacity, &tree));
  for (int64_t row = sr__buffer_oldest(buffer); row < buffer->written; row++)
    sr__sum_tree_set(&tree, sr__buffer_slot(larger, row),
                     sr__sum_tree_weight(&own->tree, sr__buffer_slot(buffer, row)));
  sr__sum_tree_free(&allocator, &own->tree);
  own->tree = tree;
cleanup:
  return status;
}

static void save(const void *state, sr__bytes *bytes) {
  const per *own = state;
  sr__put_f64(bytes, own->largest);
  for (int64_t slot = 0; slot < own->tree.items; slot++)
    sr__put_f64(bytes, sr__sum_tree_weight(&own->tree, slot));
}

static void load(void *state, sr__byte_reader *reader) {
  per *own = state;
  own->largest = sr__get_f64(reader);
  for (int64_t slot = 0; slot < own->tree.items && reader->status == SR_OK; slot++) {
    double priority = sr__get_f64(reader);
    if (!(priority >= 0)) sr__get_refuse(reader, "a priority is below zero");
    if (priority > 0) sr__sum_tree_set(&own->tree, slot, priority);
  }
}

const sr__sampler sr__sampler_per = {
    .about = {"per",
              "prioritized replay: rows by their last error, with weights that undo the lean",
              options, sizeof(per_options), NULL},
    .traits = SR__SAMPLER_WEIGHTED,
    .prepare = prepare,
    .free_state = free_state,
    .added = added,
    .completed = completed,
    .draw = draw,
    .learned = learned,
    .grow = grow,
    .save = save,
    .load = load};
