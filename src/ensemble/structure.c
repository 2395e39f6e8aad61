/* Scale, parts and blocks of a table. */
#include <math.h>

#include "ensemble.h"
#include "graph/graph.h"

enum { LEAST_PARTS = 20, MOST_PARTS = 1000, PART_SCALES = 4 };

void sr_structure_options_init(sr_structure_options *options) {
  *options = (sr_structure_options){.seed = 1};
}

bool sr__is_plain_series(const sr_structure *structure) {
  return structure->relation == SR_RELATION_ORDER && !sr_table_get(structure->table)->group;
}

static sr_status estimate_scale(sr_context *ctx, sr_structure *s,
                                const sr_structure_options *options) {
  sr_status status = SR_OK;
  sr_dependence *dependence = NULL;
  sr_dependence_options wanted;
  sr_dependence_options_init(&wanted);
  wanted.graph = s->graph_text;
  wanted.seed = options->seed;
  SR_TRY(sr_dependence_estimate(ctx, s->table, &wanted, &dependence));
  const sr_dependence_view *found = sr_dependence_get(dependence);
  s->view.block = found->politis_white_circular;
  const char *method = "given";
  if (options->tmix > 0.0) {
    s->view.tmix = options->tmix;
    s->view.tmix_low = s->view.tmix_high = NAN;
  } else if (found->tmix.estimate >= 1.0 && isfinite(found->tmix.estimate)) {
    s->view.tmix = found->tmix.estimate;
    s->view.tmix_low = found->tmix.low;
    s->view.tmix_high = found->tmix.high;
    method = found->tmix.method;
  } else {
    s->view.tmix = 1.0;
    s->view.tmix_low = s->view.tmix_high = NAN;
    method = "none: taken as 1";
  }
  s->view.lambda2 = 1.0 / s->view.tmix;
  s->tmix_method = sr__strdup(ctx, method);
  if (!s->tmix_method) SR_TRY(SR_ERROR_MEMORY);
  s->view.tmix_method = s->tmix_method;
cleanup:
  sr_dependence_free(&dependence);
  return status;
}

static int32_t default_part_count(const sr_structure *s, int64_t rows) {
  double wanted = (double)rows / (PART_SCALES * s->view.tmix);
  if (wanted > MOST_PARTS) wanted = MOST_PARTS;
  if (wanted < LEAST_PARTS) wanted = LEAST_PARTS;
  double most = rows >= 4 ? (double)(rows / 2) : 1.0;
  return (int32_t)(wanted < most ? wanted : most);
}

static sr_status build_graph(sr_context *ctx, const sr_structure *s, sr_graph **graph) {
  return sr_graph_build(ctx, s->table, s->graph_text, s->seed, graph);
}

static sr_status cut_graph(sr_context *ctx, const sr_graph *graph, int32_t count,
                           sr_parts **parts) {
  sr_parts_options options;
  sr_parts_options_init(&options);
  options.parts = count;
  options.mode = SR_PARTS_FAST;
  return sr_parts_compute(ctx, graph, &options, parts);
}

static sr_status cut_hierarchy(sr_context *ctx, sr_structure *s, int32_t count) {
  sr_status status = SR_OK;
  if (!s->graph) SR_TRY(build_graph(ctx, s, &s->graph));
  SR_TRY(cut_graph(ctx, s->graph, count, &s->hierarchy));
cleanup:
  return status;
}

/* A cut that the kept hierarchy does not hold is made from a graph of its own. */
static sr_status cut_again(sr_context *ctx, const sr_structure *s, int32_t count, int32_t *label) {
  sr_status status = SR_OK;
  sr_graph *graph = NULL;
  sr_parts *parts = NULL;
  SR_TRY(build_graph(ctx, s, &graph));
  SR_TRY(cut_graph(ctx, graph, count, &parts));
  memcpy(label, sr_parts_get(parts)->part, (size_t)sr_parts_get(parts)->nodes * sizeof *label);
cleanup:
  sr_parts_free(&parts);
  sr_graph_free(&graph);
  return status;
}

sr_status sr__structure_labels(sr_context *ctx, const sr_structure *s, int32_t count,
                               int32_t *label) {
  int64_t rows = sr_table_get(s->table)->rows;
  if (sr__is_plain_series(s)) {
    for (int64_t i = 0; i < rows; i++) label[i] = (int32_t)(i * count / rows);
    return SR_OK;
  }
  if (s->hierarchy && count <= sr_parts_get(s->hierarchy)->parts)
    return sr_parts_coarsen(ctx, s->hierarchy, count, label);
  return cut_again(ctx, s, count, label);
}

/* Groups that occur, renumbered without gaps. */
static sr_status label_groups(sr_context *ctx, const sr_table_view *view, int32_t *label,
                              int32_t *count) {
  sr_status status = SR_OK;
  int32_t *number = NULL;
  SR_NEW(ctx, number, view->groups.count);
  for (int32_t g = 0; g < view->groups.count; g++) number[g] = -1;
  *count = 0;
  for (int64_t i = 0; i < view->rows; i++) {
    if (number[view->group[i]] < 0) number[view->group[i]] = (*count)++;
    label[i] = number[view->group[i]];
  }
cleanup:
  sr__free(ctx, number);
  return status;
}

static sr_status make_parts(sr_context *ctx, sr_structure *s, const sr_structure_options *options) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(s->table);
  int32_t *label = NULL, groups = 0;
  SR_NEW(ctx, label, view->rows);
  s->view.unit = "part";
  if (view->group && options->parts == 0) SR_TRY(label_groups(ctx, view, label, &groups));
  if (groups > 1) {
    s->view.unit = "group";
  } else {
    int32_t count = options->parts ? options->parts : default_part_count(s, view->rows);
    if (count > view->rows)
      SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "%d parts were asked for, but there are %lld rows",
                      count, (long long)view->rows));
    if (!sr__is_plain_series(s)) SR_TRY(cut_hierarchy(ctx, s, count));
    SR_TRY(sr__structure_labels(ctx, s, count, label));
  }
  SR_TRY(sr_parts_new(ctx, view->rows, label, s->graph, &s->parts));
  s->view.parts = s->parts;
cleanup:
  sr__free(ctx, label);
  return status;
}

static sr_status literal_lambda(sr_context *ctx, sr_structure *s) {
  sr_status status = SR_OK;
  sr_spectrum *spectrum = NULL;
  if (!s->graph) SR_TRY(build_graph(ctx, s, &s->graph));
  SR_TRY(sr_spectrum_compute(ctx, s->graph, NULL, s->seed, &spectrum));
  s->view.lambda2 = sr_spectrum_get(spectrum)->value[0];
cleanup:
  sr_spectrum_free(&spectrum);
  return status;
}

sr_status sr_structure_estimate(sr_context *ctx, const sr_table *table,
                                const sr_structure_options *options, sr_structure **structure) {
  sr_status status = SR_OK;
  sr_structure *s = NULL;
  *structure = NULL;
  if (sr_table_get(table)->rows < 1) SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the table has no rows"));
  if (options->tmix != 0.0 && !(options->tmix >= 1.0 && isfinite(options->tmix)))
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "tmix is %g, expected 1 or more rows (0 = estimate)",
                    options->tmix));
  if (options->parts < 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "parts is %d, expected 1 or more", options->parts));
  SR_NEW_ZERO(ctx, s, 1);
  s->allocator = sr__allocator(ctx);
  s->table = table;
  s->graph_text =
      sr__strdup(ctx, options->graph ? options->graph : sr__graph_default(sr_table_get(table)));
  if (!s->graph_text) SR_TRY(SR_ERROR_MEMORY);
  s->view.graph = s->graph_text;
  const sr__graph_builder *builder = NULL;
  SR_TRY(sr__graph_builder_of(ctx, s->graph_text, &builder));
  s->relation = builder->relation;
  s->seed = options->seed;
  SR_TRY(estimate_scale(ctx, s, options));
  SR_TRY(make_parts(ctx, s, options));
  if (options->literal_scale) SR_TRY(literal_lambda(ctx, s));
  *structure = s;
  s = NULL;
cleanup:
  sr_structure_free(&s);
  return status;
}

void sr_structure_free(sr_structure **structure) {
  if (!structure || !*structure) return;
  sr_structure *s = *structure;
  sr_allocator allocator = s->allocator;
  sr_graph_free(&s->graph);
  sr_parts_free(&s->parts);
  sr_parts_free(&s->hierarchy);
  sr__release(&allocator, s->graph_text);
  sr__release(&allocator, s->tmix_method);
  sr__release(&allocator, s);
  *structure = NULL;
}

const sr_structure_view *sr_structure_get(const sr_structure *structure) {
  return &structure->view;
}
