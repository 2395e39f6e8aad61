/* What a training holds at once, in bytes per row: on one thread it is the same in every run. */
#include <stdalign.h>
#include <string.h>

#include "harness.h"

/* A block's size stands in front of it. */
enum { FRONT = alignof(max_align_t) > 64 ? alignof(max_align_t) : 64 };

typedef struct meter {
  size_t now, peak;
} meter;

static void note(meter *m, size_t more, size_t less) {
  m->now += more;
  m->now -= less;
  if (m->now > m->peak) m->peak = m->now;
}

static size_t size_of(const void *block) {
  size_t bytes = 0;
  if (block) memcpy(&bytes, (const char *)block - FRONT, sizeof bytes);
  return bytes;
}

static void *metered_resize(void *data, void *block, size_t bytes) {
  size_t before = size_of(block);
  char *base = realloc(block ? (char *)block - FRONT : NULL, bytes + FRONT);
  if (!base) return NULL;
  memcpy(base, &bytes, sizeof bytes);
  note(data, bytes, before);
  return base + FRONT;
}

static void *metered_allocate(void *data, size_t bytes) {
  return metered_resize(data, NULL, bytes);
}

static void metered_release(void *data, void *block) {
  note(data, 0, size_of(block));
  if (block) free((char *)block - FRONT);
}

/* Trees of the folds are kept for the importance of features alone, lists of rows and blended
 * leaves are as large as what stands in them. */
static void a_training_holds_little_at_once(void **state) {
  (void)state;
  meter m = {0};
  sr_context_options context;
  sr_context *ctx = NULL;
  enum { ROWS = 6000 };
  sr_context_options_init(&context);
  context.threads = 1;
  context.allocator = (sr_allocator){metered_allocate, metered_resize, metered_release, &m};
  assert_int_equal(sr_context_new(&context, &ctx), SR_OK);
  sr_table *table = test_simulate(ctx, 1, "ar1:n=%d,d=4,tmix=5,noise=0.5", ROWS);
  sr_train_options options;
  sr_train_options_init(&options);
  sr_ensemble *ensemble = NULL;
  size_t before = m.now;
  m.peak = before;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  double each = (double)(m.peak - before) / (double)sr_table_get(table)->rows;
  if (each > 1720.0) fail_msg("%.0f bytes per row are held at once", each);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
  assert_int_equal(m.now, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_training_holds_little_at_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
