/* Graph, T and parts of a table, each found once. */
#include "structure.h"

#include <math.h>

#include "core/options.h"
#include "core/random.h"
#include "data/table.h"
#include "dependence/dependence.h"
#include "graph/graph.h"

/* So many spans of T a table has where T cannot be told: the fewest parts, one block per fold. */
enum { UNKNOWN_SPANS = 80 };

const char *sr_unit_name(sr_unit unit) {
  static const char *const name[] = {"row", "block", "part", "group", "field", "area"};
  return name[unit];
}

#define STRUCTURE(kind, key, field, ...) \
  SR_##kind##_AT(sr_structure_options, field, key, __VA_ARGS__)

static const sr_option structure_options[] = {SR__STRUCTURE_OPTIONS(STRUCTURE, ), SR_OPTIONS_END};

const sr_option *sr_structure_option_list(void) { return structure_options; }

void sr_structure_options_init(sr_structure_options *options) {
  *options = (sr_structure_options){0};
  sr_options_init(structure_options, options);
}

static char *copy_text(sr_context *ctx, const char *text, const char **shown) {
  char *copy = sr__strdup(ctx, text);
  *shown = copy;
  return copy;
}

/* Rows that do not depend on each other are cut along a random order. */
static sr_status shuffle_rows(sr_context *ctx, uint64_t seed, sr_structure *s) {
  sr_status status = SR_OK;
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_PERMUTE, 0, UINT64_MAX);
  SR_NEW(ctx, s->rank, s->view.rows);
  for (int64_t i = 0; i < s->view.rows; i++) s->rank[i] = (int32_t)i;
  sr__random_shuffle(&random, s->rank, s->view.rows);
cleanup:
  return status;
}

/* Rows at the wrong place of a file that was sorted by class: at most a hundredth of all (a pair is
 * always allowed) and a tenth of the rarest class, so that short visits of a stream do not pass for
 * them. */
static int64_t most_strays(const int64_t *rows_of, const sr_table_view *view) {
  enum { ALLOWED = 2, SHARE = 100, SHARE_OF_CLASS = 10 };
  int64_t rarest = view->rows, most = view->rows / SHARE;
  if (most < ALLOWED) most = ALLOWED;
  for (int32_t c = 0; c < view->classes.count; c++)
    if (rows_of[c] > 0 && rows_of[c] < rarest) rarest = rows_of[c];
  return most < rarest / SHARE_OF_CLASS ? most : rarest / SHARE_OF_CLASS;
}

/* Stretches of one class; those of at most `strays_up_to` rows are passed over and their rows
 * counted. Rows without a class are not there. */
static int64_t count_stretches(const sr_table_view *view, int64_t strays_up_to, int64_t *strays) {
  int64_t stretches = 0, length = 0;
  int32_t current = -1, last = -1;
  *strays = 0;
  for (int64_t i = 0; i <= view->rows; i++) {
    int32_t label = i < view->rows ? view->label[i] : INT32_MAX;
    if (label < 0) continue;
    if (label == current) {
      length++;
      continue;
    }
    bool is_stray = length <= strays_up_to;
    if (is_stray) *strays += length;
    if (!is_stray && current != last) {
      stretches++;
      last = current;
    }
    current = label;
    length = 1;
  }
  return stretches;
}

/* Classes one after the other, but for a few single rows or pairs: the file was sorted, so its
 * order tells nothing of time. */
static sr_status find_sorting(sr_context *ctx, const sr_table_view *view, bool *sorted) {
  enum { STRAY = 2, LEAST_ROWS = 10 };
  sr_status status = SR_OK;
  int64_t *rows_of = NULL, strays, classes = 0;
  *sorted = false;
  if (!view->label || view->time || view->group || view->classes.count < 2) return SR_OK;
  SR_NEW_ZERO(ctx, rows_of, view->classes.count);
  for (int64_t i = 0; i < view->rows; i++)
    if (view->label[i] >= 0) rows_of[view->label[i]]++;
  for (int32_t c = 0; c < view->classes.count; c++) classes += rows_of[c] > 0;
  if (classes < 2 || view->rows < LEAST_ROWS * classes) goto cleanup;
  *sorted =
      count_stretches(view, 0, &strays) == classes ||
      (count_stretches(view, STRAY, &strays) == classes && strays <= most_strays(rows_of, view));
cleanup:
  sr__free(ctx, rows_of);
  return status;
}

/* Windows follow the order of the rows; where nothing cuts that order, no graph is needed. */
static sr_status build_graph(sr_context *ctx, const sr_table *table, const char *text,
                             uint64_t seed, sr_structure *s) {
  sr_status status = SR_OK;
  const sr__graph_builder *builder = NULL;
  SR_TRY(sr__graph_builder_of(ctx, text, &builder));
  if (builder->relation == SR_RELATION_ORDER && !s->group) goto cleanup;
  SR_TRY(sr_graph_build(ctx, table, text, seed, &s->graph));
  s->view.dependency_graph = s->graph;
  if (sr_graph_get(s->graph)->nodes != s->view.rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "graph %s does not join the rows of the table", text));
  if (builder->relation == SR_RELATION_NONE) SR_TRY(shuffle_rows(ctx, seed, s));
cleanup:
  return status;
}

sr_status sr__structure_window(sr_context *ctx, const sr_structure *structure, sr_graph **graph) {
  sr_table_view rows = {.rows = structure->view.rows};
  sr_table *table = NULL;
  *graph = NULL;
  sr_status status = sr_table_new(ctx, &rows, &table);
  if (status == SR_OK) status = sr_graph_build(ctx, table, structure->graph_text, 0, graph);
  sr_table_free(&table);
  return status;
}

void sr__structure_settle_scale(sr_structure *s) {
  double unknown = fmax((double)s->view.rows / UNKNOWN_SPANS, (double)s->view.overlap + 1.0);
  if (s->rank)
    unknown = 1.0; /* a random order has no memory */
  else
    unknown = fmax(unknown, 2.0);
  s->scale = isnan(s->view.tmix) ? unknown : s->view.tmix;
  s->scale_careful = isnan(s->view.tmix_careful) ? unknown : s->view.tmix_careful;
}

static sr_status find_scale(sr_context *ctx, const sr_table *table,
                            const sr_structure_options *options, uint64_t seed, sr_structure *s) {
  sr_status status = SR_OK;
  sr_dependence_options wanted = {.level = options->level};
  SR_TRY(sr_dependence_estimate(ctx, table, s->graph, &wanted, seed, &s->dependence));
  const sr_dependence_view *found = sr_dependence_get(s->dependence);
  const char *method = "given";
  s->view.dependence = s->dependence;
  s->view.block_rows = found->politis_white_circular;
  s->view.tmix_low = s->view.tmix_high = NAN;
  if (options->tmix > 0.0) {
    s->view.tmix = s->view.tmix_careful = options->tmix;
  } else if (found->tmix.estimate >= 1.0 && isfinite(found->tmix.estimate)) {
    s->view.tmix = found->tmix.estimate;
    s->view.tmix_low = found->tmix.low;
    s->view.tmix_high = found->tmix.high;
    s->view.tmix_careful = found->tmix_careful;
    method = found->tmix.method;
  } else {
    s->view.tmix = s->view.tmix_careful = NAN;
    method = "none: it cannot be told";
    sr__dependence_warn(s->dependence,
                        "T cannot be told from these rows: parts and held-out blocks are as long "
                        "as they may be, and no interval rests on T; give T with --tmix");
  }
  if (s->rank && !s->graph) {
    s->view.tmix = s->view.tmix_careful = NAN;
    s->view.tmix_low = s->view.tmix_high = NAN;
    method = "none: sorted by class";
    s->view.block_rows = NAN;
    sr__dependence_deny_order(s->dependence, "the file is sorted by class");
    sr__dependence_warn(s->dependence,
                        "the file is sorted by class, so its order tells nothing of time: rows are "
                        "held out at random; give a time or a group, or say --graph none");
  }
  if (options->tmix == 0.0 && s->view.tmix < (double)s->view.overlap + 1.0) {
    s->view.tmix = (double)s->view.overlap + 1.0;
    if (!(s->view.tmix_careful > s->view.tmix)) s->view.tmix_careful = s->view.tmix;
    method = "overlap of windows";
  }
  s->tmix_method = copy_text(ctx, method, &s->view.tmix_method);
  if (!s->tmix_method) SR_TRY(SR_ERROR_MEMORY);
  sr__structure_settle_scale(s);
  /* what cannot be told is not independent */
  s->view.independent = isfinite(found->tmix.estimate) &&
                        found->ess >= 0.8 * (double)s->view.rows && s->view.tmix < 1.25;
  s->view.recommend = "auto";
cleanup:
  return status;
}

static sr_status copy_groups(sr_context *ctx, const int32_t *group, int32_t groups,
                             sr_structure *s) {
  sr_status status = SR_OK;
  if (!group) return SR_OK;
  SR_NEW(ctx, s->group, s->view.rows);
  memcpy(s->group, group, (size_t)s->view.rows * sizeof *group);
  s->groups = groups;
cleanup:
  return status;
}

static sr_status copy_source_rows(sr_context *ctx, const sr_table_view *view, sr_structure *s) {
  sr_status status = SR_OK;
  if (!view->source_row) return SR_OK;
  SR_NEW(ctx, s->source_row, view->rows);
  memcpy(s->source_row, view->source_row, (size_t)view->rows * sizeof *s->source_row);
  s->source_rows = sr__file_rows(view);
cleanup:
  return status;
}

static sr_status new_structure(sr_context *ctx, int64_t rows, sr_structure **structure) {
  sr_status status = SR_OK;
  sr_structure *s = NULL;
  if (rows < 1) SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the table has no rows"));
  SR_NEW_ZERO(ctx, s, 1);
  s->allocator = sr__allocator(ctx);
  s->view.rows = rows;
  s->view.block_rows = NAN;
  *structure = s;
cleanup:
  return status;
}

/* What the map shows, for those who look; ranges are those of a target. */
static void tell_map(sr_structure *s, bool has_target) {
  const sr__map *map = s->map;
  s->view.distance_unit = map->places.unit;
  s->view.fields = map->units;
  s->view.regions = map->regions;
  s->view.reach = has_target ? map->range.reach : NAN;
  s->view.buffer_distance = has_target ? map->buffer : NAN;
}

sr_status sr_structure_estimate(sr_context *ctx, const sr_table *table,
                                const sr_structure_options *options, uint64_t seed,
                                sr_structure **structure) {
  sr_status status = SR_OK;
  sr_structure *s = NULL;
  sr_structure_options defaults;
  double start = sr_seconds();
  const sr_table_view *view = sr_table_get(table);
  *structure = NULL;
  sr_structure_options_init(&defaults);
  if (!options) options = &defaults;
  SR_TRY(sr__options_check(ctx, "structure", structure_options, options));
  if (options->tmix > 0.0 && options->tmix < 1.0)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "tmix is %g, expected 1 or more rows (0 = estimate)",
                    options->tmix));
  SR_TRY(new_structure(ctx, view->rows, &s));
  s->view.overlap = view->overlap;
  const char *graph = options->graph;
  s->graph_text = copy_text(ctx, graph && *graph ? graph : sr__graph_default(view), &s->view.graph);
  if (!s->graph_text) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(copy_groups(ctx, view->group, view->groups.count, s));
  SR_TRY(copy_source_rows(ctx, view, s));
  SR_TRY(build_graph(ctx, table, s->graph_text, seed, s));
  if (s->graph && sr_graph_get(s->graph)->relation == SR_RELATION_PLACE &&
      view->coordinate_count >= 2)
    SR_TRY(sr__map_new(ctx, table, s->group, s->groups, seed, &s->map));
  if (view->region && !s->map)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "regions were named, but the rows are no map; name their coordinates and leave "
                    "out a graph of time, or leave out the regions"));
  if (s->map) tell_map(s, view->label || view->value);
  bool sorted = false;
  if (sr__structure_is_series(s) && !(graph && *graph)) SR_TRY(find_sorting(ctx, view, &sorted));
  if (sorted) SR_TRY(shuffle_rows(ctx, seed, s));
  SR_TRY(find_scale(ctx, table, options, seed, s));
  SR_TRY(sr__structure_make_parts(ctx, s, options->parts));
  s->view.seconds = sr_seconds() - start;
  *structure = s;
  s = NULL;
cleanup:
  sr_structure_free(&s);
  return status;
}

static sr_status check_input(sr_context *ctx, const sr_structure_input *in) {
  if (!isnan(in->tmix) && !(in->tmix >= 1.0 && isfinite(in->tmix)))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "tmix is %g, expected 1 or more rows", in->tmix);
  if (in->graph && sr_graph_get(in->graph)->nodes != in->rows)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "the graph has %lld nodes, but there are %lld rows",
                    (long long)sr_graph_get(in->graph)->nodes, (long long)in->rows);
  if (in->parts < 0 || (in->part && in->parts < 1))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "parts is %d, expected 1 or more", in->parts);
  for (int64_t i = 0; in->group && i < in->rows; i++) {
    if (in->group[i] < 0 || in->group[i] >= in->groups)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "the group of row %lld is %d, expected 0 to %d",
                      (long long)i, in->group[i], in->groups - 1);
  }
  return SR_OK;
}

sr_status sr_structure_new(sr_context *ctx, const sr_structure_input *in,
                           sr_structure **structure) {
  sr_status status = SR_OK;
  sr_structure *s = NULL;
  double start = sr_seconds();
  *structure = NULL;
  SR_TRY(new_structure(ctx, in->rows, &s));
  SR_TRY(check_input(ctx, in));
  s->view.tmix = s->view.tmix_careful = in->tmix;
  sr__structure_settle_scale(s);
  if (in->block_rows > 0.0) s->view.block_rows = in->block_rows;
  s->view.tmix_low = s->view.tmix_high = NAN;
  s->view.recommend = "auto";
  s->graph_text = copy_text(ctx, in->graph ? "given" : "time", &s->view.graph);
  s->tmix_method =
      copy_text(ctx, isnan(in->tmix) ? "none: it cannot be told" : "given", &s->view.tmix_method);
  if (!s->graph_text || !s->tmix_method) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(copy_groups(ctx, in->group, in->groups, s));
  if (in->graph) SR_TRY(sr_graph_new(ctx, sr_graph_get(in->graph), &s->graph));
  s->view.dependency_graph = s->graph;
  if (in->part) {
    s->view.unit = SR_UNIT_PART;
    SR_TRY(sr_parts_new(ctx, in->rows, in->part, s->graph, &s->parts));
    s->view.parts = s->parts;
  } else {
    SR_TRY(sr__structure_make_parts(ctx, s, in->parts));
  }
  s->view.seconds = sr_seconds() - start;
  *structure = s;
  s = NULL;
cleanup:
  sr_structure_free(&s);
  return status;
}

sr_structure *sr__structure_share(const sr_structure *structure) {
  sr_structure *shared = (sr_structure *)(uintptr_t)structure;
  atomic_fetch_add(&shared->sharers, 1);
  return shared;
}

void sr_structure_free(sr_structure **structure) {
  if (!structure || !*structure) return;
  sr_structure *s = *structure;
  *structure = NULL;
  if (atomic_fetch_sub(&s->sharers, 1) > 0) return;
  sr_allocator allocator = s->allocator;
  sr_graph_free(&s->graph);
  sr_dependence_free(&s->dependence);
  sr_parts_free(&s->parts);
  sr_parts_free(&s->hierarchy);
  sr__map_free(&s->map);
  void *blocks[] = {s->group,       s->source_row, s->rank, s->graph_text,
                    s->tmix_method, s->recommend,  s};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
}

const sr_structure_view *sr_structure_get(const sr_structure *structure) {
  return &structure->view;
}
