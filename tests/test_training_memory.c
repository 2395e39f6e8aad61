/* What a training holds at once, in bytes per row: on one thread it is the same in every run. */
#include <stdalign.h>
#include <string.h>

#include "series_kit.h"

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

/* "rocket: up to 12 MB ...": the last word on memory before the members. */
static void keep_megabytes(void *data, sr_log_level level, const char *line) {
  const char *word = strstr(line, ": up to ");
  (void)level;
  if (word && strstr(word, " MB")) *(double *)data = atof(word + strlen(": up to "));
}

typedef struct series_case {
  const char *learner;
  int64_t rows, length;
  const char *graph; /* NULL: rows do not depend on each other */
} series_case;

/* What is held beyond what was held before, and what was said, both in MB. */
static void measure_series(const series_case *c, double *held, double *said) {
  meter m = {0};
  sr_context_options context;
  sr_context *ctx = NULL;
  sr_context_options_init(&context);
  context.threads = 1;
  context.allocator = (sr_allocator){metered_allocate, metered_resize, metered_release, &m};
  context.log = keep_megabytes;
  context.log_data = said;
  assert_int_equal(sr_context_new(&context, &ctx), SR_OK);
  test_series series = test_series_new(c->rows, 1, c->length, c->length, 0, 1);
  int32_t *label = malloc((size_t)c->rows * sizeof *label);
  for (int64_t i = 0; i < c->rows; i++)
    label[i] = series.values[i * c->length] > 0.0f; /* hardly learned: all the same */
  const char *const names[] = {"low", "high"};
  sr_table *table = NULL;
  sr_table_view view = {.rows = c->rows,
                        .channels = 1,
                        .series_offset = series.offset,
                        .series = series.values,
                        .label = label,
                        .classes = {2, names}};
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  sr_train_options options;
  sr_train_options_init(&options);
  options.learner = c->learner;
  options.plan = "whole";
  options.members = 1;
  options.evaluate.evaluate = 0;
  if (c->graph) options.structure.graph = c->graph;
  if (c->graph) options.structure.parts = 4;
  sr_ensemble *ensemble = NULL;
  assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
  *held = (double)m.peak / 1e6;
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
  free(label);
  test_series_free(&series);
  assert_int_equal(m.now, 0);
}

/* Fewer and more rows than features, features kept and made twice: the peak is what was said before
 * the run and hardly less, so that what is said of sizes that take an hour can be believed. */
static void learners_on_series_hold_what_they_said(void **state) {
  (void)state;
  static const series_case cases[] = {{"rocket:kernels=600", 2400, 40, NULL},
                                      {"rocket:kernels=600,memory=1", 2400, 40, NULL},
                                      {"rocket:kernels=1500", 1300, 30, NULL},
                                      {"rocket:kernels=1500,memory=1", 1300, 30, NULL},
                                      {"minirocket:features=1260,memory=1", 3000, 60, NULL},
                                      {"minirocket:features=4200,memory=1", 1300, 60, NULL},
                                      /* whole parts are left out */
                                      {"rocket:kernels=600", 2400, 40, "time"},
                                      {"rocket:kernels=1500", 1300, 30, "time"},
                                      {"quant:trees=4", 3000, 150, NULL},
                                      {"quant:trees=4", 1200, 90, NULL},
                                      {"tsf", 2000, 150, NULL}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    double held = 0.0, said = 0.0;
    measure_series(&cases[k], &held, &said);
    if (!(held < said + 1.0 && held > 0.6 * said))
      fail_msg("%s, %d x %d: %.1f MB are held, %.0f MB were said", cases[k].learner,
               (int)cases[k].rows, (int)cases[k].length, held, said);
  }
}

/* A word that is kept whole. */
static void keep_word(void *data, sr_log_level level, const char *line) {
  (void)level;
  if (strstr(line, ": up to ")) snprintf(data, 256, "%s", line);
}

/* No more members are in work than there are, and their memory is theirs alone. */
static void one_member_is_one_at_a_time(void **state) {
  (void)state;
  char line[256] = "";
  sr_context_options context;
  sr_context *ctx = NULL;
  sr_context_options_init(&context);
  context.threads = 4;
  context.log = keep_word;
  context.log_data = line;
  assert_int_equal(sr_context_new(&context, &ctx), SR_OK);
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_read(ctx, SR_SOURCE_DIR "/data/shapelets_TRAIN.ts.gz", NULL, &table));
  static const struct {
    int members, evaluate;
    const char *word;
  } cases[] = {{1, 0, "with 1 member at a time, and up to 1 MB for 1 fitted one"},
               {3, 0, "with 3 members at a time, and up to 1 MB for 3 fitted ones"},
               {9, 0, "with 4 members at a time, and up to 1 MB for 9 fitted ones"},
               {1, 1, "with 4 members at a time, and up to 1 MB for 1 fitted one"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    sr_train_options options;
    sr_train_options_init(&options);
    options.learner = "minirocket:features=840";
    options.plan = "uniform";
    options.members = cases[k].members;
    options.evaluate.evaluate = cases[k].evaluate;
    sr_ensemble *ensemble = NULL;
    assert_ok(ctx, sr_train(ctx, table, &options, 1, &ensemble));
    if (!strstr(line, cases[k].word)) fail_msg("\"%s\" is not in \"%s\"", cases[k].word, line);
    sr_ensemble_free(&ensemble);
  }
  sr_table_free(&table);
  sr_context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_training_holds_little_at_once),
                                     cmocka_unit_test(learners_on_series_hold_what_they_said),
                                     cmocka_unit_test(one_member_is_one_at_a_time)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
