/* Controls that give each head a share of the rows without looking at how they depend on each
 * other. */
#include "sampler.h"

typedef struct share {
  const sr__buffer *buffer;
  uint64_t seed;
  int32_t heads;
} share;

static sr_status prepare(sr_context *ctx, const void *options, const sr__sampler_setup *setup,
                         void **state) {
  (void)options;
  sr_status status = SR_OK;
  share *made = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  *made = (share){setup->buffer, setup->seed, setup->heads};
  *state = made;
cleanup:
  return status;
}
static void free_state(const sr_allocator *allocator, void *state) {
  sr__release(allocator, state);
}

/* A head by a hash of the row's number: nothing is stored. */
static int32_t random_owner(void *state, int64_t row, const float *features) {
  (void)features;
  const share *own = state;
  uint64_t z =
      own->seed * UINT64_C(0xD1342543DE82EF95) + (uint64_t)row * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (int32_t)((uint32_t)((z ^ (z >> 31)) >> 32) % (uint32_t)own->heads);
}

/* The oldest rows belong to head 0, the newest to the last. */
static int32_t contiguous_owner(void *state, int64_t row, const float *features) {
  (void)features;
  const share *own = state;
  int64_t oldest = sr__buffer_oldest(own->buffer);
  return (int32_t)((row - oldest) * own->heads / (own->buffer->written - oldest));
}

const sr__sampler sr__sampler_fifth = {
    .about = {"fifth", "control: each head has a random share of the rows", NULL, 0, NULL},
    .traits = SR__SAMPLER_OWNED,
    .prepare = prepare,
    .free_state = free_state,
    .owner = random_owner};
const sr__sampler sr__sampler_contiguous = {
    .about = {"contiguous", "control: each head has a contiguous share of the buffer, by age", NULL,
              0, NULL},
    .traits = SR__SAMPLER_OWNED,
    .prepare = prepare,
    .free_state = free_state,
    .owner = contiguous_owner};
