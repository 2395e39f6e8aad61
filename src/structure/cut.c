/* How many parts, and which rows each holds. */
#include "structure.h"

enum { LEAST_PARTS = 20, MOST_PARTS = 1000, PART_SCALES = 4 };

int32_t sr__default_part_count(int64_t rows, double tmix) {
  double wanted = (double)rows / (PART_SCALES * tmix);
  if (wanted > MOST_PARTS) wanted = MOST_PARTS;
  if (!(wanted >= LEAST_PARTS)) wanted = LEAST_PARTS;
  double most = rows >= 4 ? (double)(rows / 2) : 1.0;
  return (int32_t)(wanted < most ? wanted : most);
}

static sr_status cut_graph(sr_context *ctx, const sr_graph *graph, int32_t count,
                           sr_parts **parts) {
  sr_parts_options options;
  sr_parts_options_init(&options);
  options.parts = count;
  options.mode = SR_PARTS_FAST;
  return sr_parts_compute(ctx, graph, &options, parts);
}

sr_status sr_structure_cut(sr_context *ctx, const sr_structure *s, int32_t count, int32_t *part) {
  sr_status status = SR_OK;
  sr_parts *parts = NULL;
  int64_t rows = s->view.rows;
  if (count < 1 || count > rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "%d parts were asked for, but there are %lld rows",
                    count, (long long)rows));
  if (!s->graph || s->rank) {
    for (int64_t i = 0; i < rows; i++)
      part[i] = (int32_t)((s->rank ? s->rank[i] : i) * count / rows);
  } else if (s->hierarchy && count <= sr_parts_get(s->hierarchy)->parts) {
    SR_TRY(sr_parts_coarsen(ctx, s->hierarchy, count, part));
  } else { /* finer than what is kept */
    SR_TRY(cut_graph(ctx, s->graph, count, &parts));
    memcpy(part, sr_parts_get(parts)->part, (size_t)rows * sizeof *part);
  }
cleanup:
  sr_parts_free(&parts);
  return status;
}

/* Groups that occur, renumbered without gaps. */
static sr_status label_groups(sr_context *ctx, const sr_structure *s, int32_t *label,
                              int32_t *count) {
  sr_status status = SR_OK;
  int32_t *number = NULL;
  SR_NEW(ctx, number, s->groups);
  for (int32_t g = 0; g < s->groups; g++) number[g] = -1;
  *count = 0;
  for (int64_t i = 0; i < s->view.rows; i++) {
    if (number[s->group[i]] < 0) number[s->group[i]] = (*count)++;
    label[i] = number[s->group[i]];
  }
cleanup:
  sr__free(ctx, number);
  return status;
}

sr_status sr__structure_make_parts(sr_context *ctx, sr_structure *s, int64_t count) {
  sr_status status = SR_OK;
  int32_t *label = NULL, groups = 0;
  SR_NEW(ctx, label, s->view.rows);
  s->view.unit = SR_UNIT_PART;
  if (s->group && count == 0) SR_TRY(label_groups(ctx, s, label, &groups));
  if (groups > 1) {
    s->view.unit = SR_UNIT_GROUP;
  } else {
    if (count == 0) count = sr__default_part_count(s->view.rows, s->scale);
    if (count > s->view.rows)
      SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "%lld parts were asked for, but there are %lld rows",
                      (long long)count, (long long)s->view.rows));
    if (s->graph && !s->rank) SR_TRY(cut_graph(ctx, s->graph, (int32_t)count, &s->hierarchy));
    SR_TRY(sr_structure_cut(ctx, s, (int32_t)count, label));
  }
  SR_TRY(sr_parts_new(ctx, s->view.rows, label, s->graph, &s->parts));
  s->view.parts = s->parts;
cleanup:
  sr__free(ctx, label);
  return status;
}
