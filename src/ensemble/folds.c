/* Blocked folds: whole blocks of rows are held out together, with a free margin around them. */
#include <math.h>

#include "ensemble.h"

/* A block of a series spans ten mixing times, so that the margin costs little; more than 50 blocks
 * bring nothing. */
enum { BLOCK_SCALES = 10, MOST_BLOCKS = 50, GRAPH_BLOCKS_A_FOLD = 4 };

static int32_t block_count(const sr_structure *s, int64_t rows, int32_t folds) {
  double wanted = (double)rows / (BLOCK_SCALES * s->view.tmix);
  double least = sr__is_plain_series(s) ? folds : GRAPH_BLOCKS_A_FOLD * folds;
  if (wanted > MOST_BLOCKS) wanted = MOST_BLOCKS;
  if (wanted < least) wanted = least;
  return (int32_t)(wanted < (double)rows ? wanted : (double)rows);
}

/* Each run of `folds` blocks goes to the folds in a random order, so that every fold holds blocks
 * from all over a series. */
static sr_status deal_in_order(sr_context *ctx, sr__folds *f, uint64_t seed) {
  sr_status status = SR_OK;
  int32_t *order = NULL;
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_FOLD, 0, 0);
  SR_NEW(ctx, order, f->folds);
  for (int32_t b = 0; b < f->blocks; b++) {
    if (b % f->folds == 0) {
      for (int32_t k = 0; k < f->folds; k++) order[k] = k;
      sr__random_shuffle(&random, order, f->folds);
    }
    f->fold[b] = order[b % f->folds];
  }
cleanup:
  sr__free(ctx, order);
  return status;
}

/* Blocks in a random order, each to the fold that has fewest rows so far. */
static sr_status deal_by_size(sr_context *ctx, int64_t rows, sr__folds *f, uint64_t seed) {
  sr_status status = SR_OK;
  int32_t *order = NULL;
  int64_t *size = NULL, *held = NULL;
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_FOLD, 0, 0);
  SR_NEW(ctx, order, f->blocks);
  SR_NEW_ZERO(ctx, size, f->blocks);
  SR_NEW_ZERO(ctx, held, f->folds);
  for (int64_t i = 0; i < rows; i++) size[f->block[i]]++;
  for (int32_t b = 0; b < f->blocks; b++) order[b] = b;
  sr__random_shuffle(&random, order, f->blocks);
  for (int32_t k = 0; k < f->blocks; k++) {
    int32_t least = 0;
    for (int32_t fold = 1; fold < f->folds; fold++) {
      if (held[fold] < held[least]) least = fold;
    }
    f->fold[order[k]] = least;
    held[least] += size[order[k]];
  }
cleanup:
  sr__free(ctx, order);
  sr__free(ctx, size);
  sr__free(ctx, held);
  return status;
}

static sr_status cut_blocks(sr_context *ctx, const sr_structure *s, bool by_group, sr__folds *f) {
  sr_status status = SR_OK;
  int64_t rows = sr_table_get(s->table)->rows;
  const sr_parts_view *parts = sr_parts_get(s->parts);
  SR_NEW(ctx, f->block, rows);
  if (by_group) {
    f->blocks = parts->parts;
    f->unit = "group";
    memcpy(f->block, parts->part, (size_t)rows * sizeof *f->block);
  } else {
    f->blocks = block_count(s, rows, f->folds);
    f->unit = "block";
    SR_TRY(sr__structure_labels(ctx, s, f->blocks, f->block));
  }
  if (f->folds > f->blocks || f->folds == 0) f->folds = f->blocks;
  if (f->folds < 2)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "%lld rows in %d %s%s cannot be split into folds",
                    (long long)rows, f->blocks, f->unit, f->blocks == 1 ? "" : "s"));
cleanup:
  return status;
}

/* A margin longer than a quarter of a block would eat the training rows. */
static int64_t default_buffer(const sr_structure *s, const sr__folds *f) {
  if (!sr__is_plain_series(s)) return 0;
  int64_t most = sr_table_get(s->table)->rows / f->blocks / 4;
  double wanted = ceil(s->view.tmix);
  return wanted < (double)most ? (int64_t)wanted : most;
}

sr_status sr__folds_make(sr_context *ctx, const sr_structure *structure, int32_t folds,
                         bool leave_group_out, int64_t buffer, uint64_t seed, sr__folds *made) {
  sr_status status = SR_OK;
  bool by_group = strcmp(structure->view.unit, "group") == 0;
  *made = (sr__folds){.folds = folds};
  if (leave_group_out && !by_group)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "groups cannot be left out: the data name none; give "
                    "the group column"));
  if (folds < 0 || folds == 1 || (folds == 0 && !by_group))
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "folds is %d, expected 2 or more", folds));
  SR_TRY(cut_blocks(ctx, structure, by_group, made));
  SR_NEW_ZERO(ctx, made->fold, made->blocks);
  if (sr__is_plain_series(structure))
    SR_TRY(deal_in_order(ctx, made, seed));
  else
    SR_TRY(deal_by_size(ctx, sr_table_get(structure->table)->rows, made, seed));
  made->buffer = buffer >= 0 ? buffer : default_buffer(structure, made);
cleanup:
  if (status != SR_OK) sr__folds_free(ctx, made);
  return status;
}

void sr__folds_free(sr_context *ctx, sr__folds *folds) {
  sr__free(ctx, folds->block);
  sr__free(ctx, folds->fold);
  *folds = (sr__folds){0};
}

/* ---- rows of a fold ----------------------------------------------------------------------- */

/* Marks rows within `buffer` rows of a held-out row (mark 1) by 2, forward and backward. */
static void spread_in_series(uint8_t *mark, int64_t rows, int64_t buffer) {
  int64_t since = INT64_MAX;
  for (int64_t i = 0; i < rows; i++) {
    since = mark[i] == 1 ? 0 : since < INT64_MAX ? since + 1 : since;
    if (mark[i] == 0 && since <= buffer) mark[i] = 2;
  }
  since = INT64_MAX;
  for (int64_t i = rows - 1; i >= 0; i--) {
    since = mark[i] == 1 ? 0 : since < INT64_MAX ? since + 1 : since;
    if (mark[i] == 0 && since <= buffer) mark[i] = 2;
  }
}

/* The same in steps of the graph: step k marks the neighbours of what step k - 1 marked. */
static void spread_in_graph(uint8_t *mark, const sr_graph_view *graph, int64_t buffer) {
  for (int64_t step = 0; step < buffer && step < 250; step++) {
    uint8_t last = step == 0 ? 1 : (uint8_t)(step + 1), next = (uint8_t)(step + 2);
    for (int64_t i = 0; i < graph->nodes; i++) {
      if (mark[i] != last) continue;
      for (int64_t e = graph->offset[i]; e < graph->offset[i + 1]; e++) {
        if (mark[graph->neighbor[e]] == 0) mark[graph->neighbor[e]] = next;
      }
    }
  }
}

sr_status sr__folds_rows(sr_context *ctx, const sr_structure *structure, const sr__folds *folds,
                         int32_t fold, int32_t *train, int64_t *train_count, int32_t *test,
                         int64_t *test_count) {
  sr_status status = SR_OK;
  int64_t rows = sr_table_get(structure->table)->rows;
  uint8_t *mark = NULL;
  SR_NEW_ZERO(ctx, mark, rows);
  for (int64_t i = 0; i < rows; i++) mark[i] = folds->fold[folds->block[i]] == fold;
  if (folds->buffer > 0 && sr__is_plain_series(structure))
    spread_in_series(mark, rows, folds->buffer);
  else if (folds->buffer > 0 && structure->graph)
    spread_in_graph(mark, sr_graph_get(structure->graph), folds->buffer);
  *train_count = *test_count = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (mark[i] == 0) train[(*train_count)++] = (int32_t)i;
    if (mark[i] == 1) test[(*test_count)++] = (int32_t)i;
  }
  if (*train_count == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "no row is left to train on beside fold %d and a margin of %lld; give a "
                    "smaller buffer",
                    fold, (long long)folds->buffer));
cleanup:
  sr__free(ctx, mark);
  return status;
}
