/* Bytes as rows of a small table with missing values. A forest is grown on them; its vote must be
 * the majority of its members' votes, and a row must get the same votes in a long table, where many
 * rows walk the trees together, as alone, where one row walks them node by node. */
#include "fuzz_table.h"

enum { MOST_ROWS = 64, FEATURES = 3, CLASSES = 3, MEMBERS = 5, COPIES = 9 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const class_names[CLASSES] = {"a", "b", "c"};

/* Four bytes per row: three features (255 is missing) and the class. */
static int64_t read_rows(const uint8_t *data, size_t size, float *x, int32_t *label) {
  int64_t rows = (int64_t)(size / 4);
  if (rows > MOST_ROWS) rows = MOST_ROWS;
  for (int64_t i = 0; i < rows; i++) {
    for (int j = 0; j < FEATURES; j++) {
      uint8_t byte = data[4 * i + j];
      x[j * rows + i] = byte == 255 ? 0.0f / 0.0f : (float)byte / 16.0f - 8.0f;
    }
    label[i] = data[4 * i + 3] % CLASSES;
  }
  return rows;
}

static sr_table *make_table(sr_context *ctx, int64_t rows, const float *x, const int32_t *label) {
  sr_table_view view = {.rows = rows,
                        .features = FEATURES,
                        .x = x,
                        .label = label,
                        .classes = {CLASSES, class_names}};
  sr_table *table = NULL;
  fuzz_must(sr_table_new(ctx, &view, &table) == SR_OK);
  return table;
}

/* Ties go to the lowest class. */
static int32_t majority(const int32_t *votes, int64_t rows, int64_t row) {
  int count[CLASSES] = {0};
  int32_t best = 0;
  for (int m = 0; m < MEMBERS; m++) count[votes[m * rows + row]]++;
  for (int32_t c = 1; c < CLASSES; c++)
    if (count[c] > count[best]) best = c;
  return best;
}

static void check_forest(sr_context *ctx, const sr_ensemble *forest, int64_t rows, const float *x) {
  static float many[FEATURES * COPIES * MOST_ROWS];
  static int32_t label[COPIES * MOST_ROWS], votes[MEMBERS * COPIES * MOST_ROWS];
  int64_t total = COPIES * rows;
  for (int j = 0; j < FEATURES; j++)
    for (int64_t i = 0; i < total; i++) many[j * total + i] = x[j * rows + i % rows];
  sr_table *table = make_table(ctx, total, many, NULL);
  fuzz_must(sr_ensemble_predict(ctx, forest, table, label, NULL) == SR_OK);
  fuzz_must(sr_ensemble_votes(ctx, forest, table, votes) == SR_OK);
  sr_table_free(&table);
  for (int64_t i = 0; i < total; i++) {
    fuzz_must(label[i] == majority(votes, total, i));
    fuzz_must(label[i] == label[i % rows]);
  }
  for (int64_t i = 0; i < rows; i++) {
    float one[FEATURES];
    int32_t alone[MEMBERS];
    for (int j = 0; j < FEATURES; j++) one[j] = x[j * rows + i];
    table = make_table(ctx, 1, one, NULL);
    fuzz_must(sr_ensemble_votes(ctx, forest, table, alone) == SR_OK);
    for (int m = 0; m < MEMBERS; m++) fuzz_must(alone[m] == votes[m * total + i]);
    sr_table_free(&table);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static float x[FEATURES * MOST_ROWS];
  static int32_t label[MOST_ROWS];
  if (size < 16) return 0;
  sr_context *ctx = fuzz_context();
  int64_t rows = read_rows(data, size, x, label);
  sr_table *table = make_table(ctx, rows, x, label);
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  sr_ensemble *forest = NULL;
  sr_structure_input input = {.rows = rows, .parts = 2, .tmix = 1.0};
  fuzz_must(sr_structure_new(ctx, &input, &structure) == SR_OK);
  fuzz_must(sr_plan_new(ctx, structure, "uniform", MEMBERS, data[0], &plan) == SR_OK);
  fuzz_must(sr_ensemble_fit(ctx, table, plan, NULL, data[0], &forest) == SR_OK);
  check_forest(ctx, forest, rows, x);
  sr_ensemble_free(&forest);
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return 0;
}
