/* The coded rows of large nodes: their memory. What a row looks like is in rows_kernel.h. */
#include "tree.h"

int64_t sr__read_rows(const sr__grower *g, sr__coded_rows *rows, sr__entry *entry, int64_t limit) {
  sr__row_cursor from = {g->code + rows->begin, rows->before};
  int64_t count =
      sr__rows_kernel_now()->read(g->class_bits, &from, g->code + rows->end, entry, limit);
  rows->begin = from.at - g->code;
  rows->before = from.before;
  return count;
}

/* An eighth more than asked for: the bytes of a node's children may be a few more than its own. */
static sr_status reserve_code(sr__grower *g, int64_t bytes) {
  if (bytes <= g->code_capacity) return SR_OK;
  void *block = sr__resize(g->ctx, g->code, bytes + bytes / 8, 1);
  if (!block) return sr_context_error(g->ctx).status;
  g->code = block;
  g->code_capacity = bytes + bytes / 8;
  return SR_OK;
}

sr_status sr__add_rows(sr__grower *g, sr__coded_rows *rows, const sr__entry *entry, int64_t count) {
  sr_status status = SR_OK;
  SR_TRY(reserve_code(g, rows->end + count * SR__CODE_BYTES));
  sr__row_cursor to = {g->code + rows->end, rows->before};
  sr__rows_kernel_now()->write(g->class_bits, &to, entry, count);
  rows->end = to.at - g->code;
  rows->before = to.before;
cleanup:
  return status;
}

/* The lighter side is written elsewhere and then put to its place: the right side first, so that
 * the left one, grown before it, lies at the end. */
sr_status sr__split_code(sr__grower *g, const uint8_t *bins, const sr__split *split,
                         sr__coded_rows rows, sr__coded_rows *left, sr__coded_rows *right,
                         int64_t *left_count) {
  sr_status status = SR_OK;
  int64_t begin = rows.begin, count, aside = 0, in_place = 0;
  bool left_aside = 2 * split->left_weight < g->node.total;
  sr__row_cursor there = {0}, here = {0};
  sr__entry tile[SR__ROW_TILE];
  *left_count = 0;
  while ((count = sr__read_rows(g, &rows, tile, SR__ROW_TILE)) > 0) {
    SR_GROW(g->ctx, g->work, g->work_capacity, aside + count * SR__CODE_BYTES);
    there.at = g->work + aside;
    here.at = g->code + begin + in_place;
    *left_count +=
        sr__rows_kernel_now()->deal(g->class_bits, bins, g->rules.features, split, tile, count,
                                    left_aside ? &there : &here, left_aside ? &here : &there);
    aside = there.at - g->work;
    in_place = here.at - (g->code + begin);
  }
  SR_TRY(reserve_code(g, begin + in_place + aside));
  uint8_t *code = g->code + begin;
  if (left_aside) {
    memcpy(code + in_place, g->work, (size_t)aside);
  } else {
    memmove(code + aside, code, (size_t)in_place);
    memcpy(code, g->work, (size_t)aside);
  }
  int64_t middle = begin + (left_aside ? in_place : aside);
  *right = (sr__coded_rows){.begin = begin, .end = middle};
  *left = (sr__coded_rows){.begin = middle, .end = begin + in_place + aside};
cleanup:
  return status;
}
