/* Bytes as a plan: every bag of every scheme lists distinct rows in order with counts above 0, the
 * same bag twice, and none that the structure does not have. */
#include "fuzz_table.h"

enum { MOST_ROWS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bag(sr_context *ctx, const sr_plan *plan, int32_t member) {
  sr_plan_view view = sr_plan_get(plan);
  int64_t rows[2][MOST_ROWS], length[2] = {0, 0};
  int32_t counts[2][MOST_ROWS];
  fuzz_must(view.capacity <= MOST_ROWS);
  for (int turn = 0; turn < 2; turn++)
    fuzz_must(sr_plan_bag(ctx, plan, member, rows[turn], counts[turn], &length[turn]) == SR_OK);
  fuzz_must(length[0] == length[1] && length[0] > 0 && length[0] <= view.capacity);
  for (int64_t i = 0; i < length[0]; i++) {
    fuzz_must(rows[0][i] >= 0 && rows[0][i] < view.rows && counts[0][i] > 0);
    fuzz_must(i == 0 || rows[0][i] > rows[0][i - 1]);
    fuzz_must(rows[0][i] == rows[1][i] && counts[0][i] == counts[1][i]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 6) return 0;
  sr_context *ctx = fuzz_context();
  int32_t group[MOST_ROWS], groups = 1 + data[1] % 5, schemes = 0;
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  char text[64];
  int64_t rows = 10 + data[0]; /* not fewer than parts */
  for (int64_t i = 0; i < rows; i++) group[i] = (int32_t)(i * groups / rows);
  sr_structure_input input = {.rows = rows,
                              .group = data[2] & 1 ? group : NULL,
                              .groups = data[2] & 1 ? groups : 0,
                              .parts = 2 + data[3] % 8,
                              .tmix = 1.0 + data[4] % 32};
  while (sr_plan_method(schemes)) schemes++;
  const sr_method *scheme = sr_plan_method(data[5] % schemes);
  /* The rest of the bytes are the options, as far as they make sense. */
  snprintf(text, sizeof text, "%s%s%.*s", scheme->name, size > 6 ? ":" : "",
           (int)(size - 6 < 32 ? size - 6 : 32), (const char *)data + 6);
  fuzz_must(sr_structure_new(ctx, &input, &structure) == SR_OK);
  if (sr_plan_new(ctx, structure, text, 4, data[0], &plan) == SR_OK) {
    for (int32_t member = 0; member < 4; member++) check_bag(ctx, plan, member);
  } else {
    fuzz_must(sr_context_error(ctx).message[0] != '\0');
  }
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  sr_context_free(&ctx);
  return 0;
}
