/* Whole units of rows are held out together, with a free margin around them. */
#include <math.h>

#include "evaluate.h"

/* A block of a series spans ten mixing times; more than about 50 blocks bring nothing. */
enum { BLOCK_SCALES = 10, MOST_BLOCKS = 50, GRAPH_BLOCKS_PER_FOLD = 4 };
/* A buffer beyond this share of the rows would eat the training rows. */
#define MOST_BUFFER 0.15

struct sr_folds {
  sr_folds_view view;
  sr_allocator allocator;
  int32_t *unit, *fold;
  uint8_t *role;
};

#define FOLDS_OF(kind, key, field, ...) SR_##kind##_AT(sr_folds_options, field, key, __VA_ARGS__)

static const sr_option folds_options[] = {SR__FOLDS_OPTIONS(FOLDS_OF, ), SR_OPTIONS_END};

const sr_option *sr_folds_option_list(void) { return folds_options; }

void sr_folds_options_init(sr_folds_options *options) { sr_options_init(folds_options, options); }

sr_status sr__folds_options_check(sr_context *ctx, const sr_folds_options *options) {
  if (options->folds == 1)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "folds is 1, expected 2 or more, or 0 for groups");
  return sr__options_check(ctx, "folds", folds_options, options);
}

/* Blocks of a series are dealt in order, the same number to every fold. */
static int32_t block_count(const sr_structure *s, int32_t folds) {
  double rows = (double)s->view.rows, wanted = rows / (BLOCK_SCALES * s->scale);
  if (wanted > MOST_BLOCKS) wanted = MOST_BLOCKS;
  if (sr__structure_is_series(s)) {
    double each = fmax(1.0, round(wanted / folds));
    wanted = each * folds <= rows ? each * folds : folds;
  } else if (wanted < GRAPH_BLOCKS_PER_FOLD * folds) {
    wanted = GRAPH_BLOCKS_PER_FOLD * folds;
  }
  return (int32_t)(wanted < rows ? wanted : rows);
}

/* Units in a random order, each to the fold that has fewest rows so far. */
static sr_status deal_by_size(sr_context *ctx, sr_folds *f, sr__random *random) {
  sr_status status = SR_OK;
  int32_t *order = NULL, units = f->view.units;
  int64_t *size = NULL, *held = NULL;
  SR_NEW(ctx, order, units);
  SR_NEW_ZERO(ctx, size, units);
  SR_NEW_ZERO(ctx, held, f->view.folds);
  for (int64_t i = 0; i < f->view.rows; i++) size[f->unit[i]]++;
  for (int32_t b = 0; b < units; b++) order[b] = b;
  sr__random_shuffle(random, order, units);
  for (int32_t k = 0; k < units; k++) {
    int32_t least = 0;
    for (int32_t fold = 1; fold < f->view.folds; fold++) {
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

/* Units of a map: fields where there are any, else compact areas, one per fold. */
static sr_status find_map_units(sr_context *ctx, const sr__map *map, sr_folds *f) {
  sr_status status = SR_OK;
  sr_folds_view *v = &f->view;
  if (v->folds > SR__MOST_MAP_FOLDS) v->folds = SR__MOST_MAP_FOLDS;
  if (map->unit) {
    v->unit = map->named ? SR_UNIT_GROUP : SR_UNIT_FIELD;
    v->units = map->units;
    memcpy(f->unit, map->unit, (size_t)v->rows * sizeof *f->unit);
  } else {
    v->unit = SR_UNIT_AREA;
    SR_TRY(sr__map_areas(ctx, map, v->folds, f->unit, &v->units));
  }
cleanup:
  return status;
}

/* Frees training rows within a distance of what each fold holds out. */
static sr_status free_map_margin(sr_context *ctx, const sr__map *map, sr_folds *f) {
  sr_status status = SR_OK;
  const sr_folds_view *v = &f->view;
  int32_t *fold = NULL;
  uint64_t *near = NULL;
  if (!(v->buffer_distance > 0.0)) return SR_OK;
  SR_NEW(ctx, fold, v->rows);
  SR_NEW(ctx, near, map->places.count);
  for (int64_t i = 0; i < v->rows; i++) fold[i] = f->fold[f->unit[i]];
  SR_TRY(sr__map_margin(ctx, map, fold, v->buffer_distance, near, NULL));
  for (int32_t k = 0; k < v->folds; k++)
    for (int64_t i = 0; i < v->rows; i++)
      if (near[map->places.place[i]] >> k & 1 && f->role[k * v->rows + i] == SR_ROLE_TRAIN)
        f->role[k * v->rows + i] = SR_ROLE_FREE;
cleanup:
  sr__free(ctx, fold);
  sr__free(ctx, near);
  return status;
}

static sr_status find_units(sr_context *ctx, const sr_structure *s, sr_folds *f) {
  sr_status status = SR_OK;
  sr_folds_view *v = &f->view;
  SR_NEW(ctx, f->unit, v->rows);
  if (s->map) {
    SR_TRY(find_map_units(ctx, s->map, f));
  } else if (v->unit == SR_UNIT_GROUP) {
    v->units = sr_parts_get(s->parts)->parts;
    memcpy(f->unit, sr_parts_get(s->parts)->part, (size_t)v->rows * sizeof *f->unit);
  } else {
    v->units = block_count(s, v->folds);
    SR_TRY(sr_structure_cut(ctx, s, v->units, f->unit));
  }
  if (v->folds > v->units || v->folds == 0) v->folds = v->units;
  if (v->folds < 2)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "%lld rows in %d %s%s cannot be split into folds",
                    (long long)v->rows, v->units, sr_unit_name(v->unit), v->units == 1 ? "" : "s"));
cleanup:
  return status;
}

static int64_t default_buffer(const sr_structure *s) {
  if (!sr__structure_is_series(s)) return 0;
  int64_t buffer =
      s->scale <= 1.0 ? 0 : (int64_t)fmin(ceil(s->scale), MOST_BUFFER * (double)s->view.rows);
  /* rows that share values never stand on both sides */
  return buffer > s->view.overlap ? buffer : s->view.overlap;
}

/* ---- the margin --------------------------------------------------------------------------- */

/* Frees rows within `buffer` rows of a held-out row, forward and backward. */
static void spread_in_series(uint8_t *role, int64_t rows, int64_t buffer) {
  for (int direction = 1; direction >= -1; direction -= 2) {
    int64_t since = INT64_MAX;
    for (int64_t k = 0; k < rows; k++) {
      int64_t i = direction > 0 ? k : rows - 1 - k;
      since = role[i] == SR_ROLE_TEST ? 0 : since < INT64_MAX ? since + 1 : since;
      if (role[i] == SR_ROLE_TRAIN && since <= buffer) role[i] = SR_ROLE_FREE;
    }
  }
}

/* Frees rows within `buffer` steps of the graph: each step goes on from the rows of the last. */
static sr_status spread_in_graph(sr_context *ctx, const sr_graph_view *graph, int64_t buffer,
                                 uint8_t *role) {
  sr_status status = SR_OK;
  int32_t *queue = NULL;
  int64_t begin = 0, end = 0;
  SR_NEW(ctx, queue, graph->nodes);
  for (int64_t i = 0; i < graph->nodes; i++)
    if (role[i] == SR_ROLE_TEST) queue[end++] = (int32_t)i;
  for (int64_t step = 0; step < buffer && begin < end; step++) {
    int64_t last = end;
    for (; begin < last; begin++) {
      for (int64_t e = graph->offset[queue[begin]]; e < graph->offset[queue[begin] + 1]; e++) {
        int32_t near = graph->neighbor[e];
        if (role[near] != SR_ROLE_TRAIN) continue;
        role[near] = SR_ROLE_FREE;
        queue[end++] = near;
      }
    }
  }
cleanup:
  sr__free(ctx, queue);
  return status;
}

sr_status sr__free_margin(sr_context *ctx, const sr_structure *structure, int64_t buffer,
                          uint8_t *role) {
  if (buffer <= 0) return SR_OK;
  if (structure->graph) return spread_in_graph(ctx, sr_graph_get(structure->graph), buffer, role);
  spread_in_series(role, structure->view.rows, buffer);
  return SR_OK;
}

static sr_status set_roles(sr_context *ctx, const sr_structure *structure, sr_folds *f) {
  sr_status status = SR_OK;
  const sr_folds_view *v = &f->view;
  SR_NEW(ctx, f->role, v->rows * v->folds);
  for (int32_t fold = 0; fold < v->folds; fold++) {
    uint8_t *role = f->role + fold * v->rows;
    for (int64_t i = 0; i < v->rows; i++)
      role[i] = f->fold[f->unit[i]] == fold ? SR_ROLE_TEST : SR_ROLE_TRAIN;
    SR_TRY(sr__free_margin(ctx, structure, v->buffer, role));
  }
  if (structure->map) SR_TRY(free_map_margin(ctx, structure->map, f));
  for (int32_t fold = 0; fold < v->folds; fold++) {
    const uint8_t *role = f->role + fold * v->rows;
    if (!memchr(role, SR_ROLE_TRAIN, (size_t)v->rows))
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                      "no row is left to train on beside fold %d and a margin of %lld; give a "
                      "smaller buffer",
                      fold, (long long)v->buffer));
  }
cleanup:
  return status;
}

/* ---- the object --------------------------------------------------------------------------- */

sr_status sr_folds_new(sr_context *ctx, const sr_structure *structure,
                       const sr_folds_options *options, uint64_t seed, sr_folds **folds) {
  sr_status status = SR_OK;
  sr_folds *f = NULL;
  sr_folds_options defaults;
  sr__random random;
  *folds = NULL;
  sr_folds_options_init(&defaults);
  if (!options) options = &defaults;
  bool by_group = structure->view.unit == SR_UNIT_GROUP;
  SR_TRY(sr__folds_options_check(ctx, options));
  if (options->folds == 0 && !by_group)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "groups cannot be left out one by one: the data name none; give the group "
                    "column, or 2 or more folds"));
  SR_NEW_ZERO(ctx, f, 1);
  f->allocator = sr__allocator(ctx);
  f->view = (sr_folds_view){.rows = structure->view.rows,
                            .folds = (int32_t)options->folds,
                            .unit = by_group          ? SR_UNIT_GROUP
                                    : structure->rank ? SR_UNIT_ROW /* drawn at random */
                                                      : SR_UNIT_BLOCK};
  SR_TRY(find_units(ctx, structure, f));
  SR_NEW_ZERO(ctx, f->fold, f->view.units);
  sr__random_init(&random, seed, SR_PURPOSE_FOLD, 0, 0);
  /* A fold is one stretch of a series: every further edge would cost rows for its buffer. */
  if (sr__structure_is_series(structure) || f->view.unit == SR_UNIT_AREA)
    for (int32_t b = 0; b < f->view.units; b++)
      f->fold[b] = (int32_t)((int64_t)b * f->view.folds / f->view.units);
  else
    SR_TRY(deal_by_size(ctx, f, &random));
  f->view.reach = structure->map ? structure->map->range.reach : NAN;
  f->view.distance_unit = structure->map ? structure->map->places.unit : SR_DISTANCE_NONE;
  if (structure->map)
    f->view.buffer_distance = options->buffer >= 0           ? (double)options->buffer
                              : f->view.unit == SR_UNIT_AREA ? structure->map->buffer
                                                             : 0.0;
  else
    f->view.buffer = options->buffer >= 0 ? options->buffer : default_buffer(structure);
  SR_TRY(set_roles(ctx, structure, f));
  f->view.unit_of_row = f->unit;
  f->view.fold_of_unit = f->fold;
  f->view.role = f->role;
  *folds = f;
  f = NULL;
cleanup:
  sr_folds_free(&f);
  return status;
}

/* ---- the future --------------------------------------------------------------------------- */

static void set_forward_roles(sr_folds *f) {
  const sr_folds_view *v = &f->view;
  for (int32_t fold = 0; fold < v->folds; fold++) {
    uint8_t *role = f->role + fold * v->rows;
    for (int64_t i = 0; i < v->rows; i++) {
      bool trains = v->buffer < v->rows - i && f->unit[i + v->buffer] <= fold;
      role[i] = f->unit[i] == fold + 1 ? SR_ROLE_TEST : trains ? SR_ROLE_TRAIN : SR_ROLE_FREE;
    }
  }
}

sr_status sr_folds_forward(sr_context *ctx, const sr_structure *structure, int64_t folds,
                           int64_t buffer, sr_folds **forward) {
  sr_status status = SR_OK;
  sr_folds *f = NULL;
  int64_t rows = structure->view.rows;
  *forward = NULL;
  if (folds < 1 || folds >= INT32_MAX || buffer < -1)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "%lld folds with a buffer of %lld were asked for, expected 1 fold or more and "
                    "a buffer of 0 or more",
                    (long long)folds, (long long)buffer));
  if (folds >= rows)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "%lld rows cannot be cut into %lld blocks; ask for fewer "
                    "folds",
                    (long long)rows, (long long)folds + 1));
  SR_NEW_ZERO(ctx, f, 1);
  f->allocator = sr__allocator(ctx);
  f->view = (sr_folds_view){.rows = rows,
                            .folds = (int32_t)folds,
                            .units = (int32_t)folds + 1,
                            .unit = SR_UNIT_BLOCK};
  SR_NEW(ctx, f->unit, rows);
  SR_NEW(ctx, f->fold, f->view.units);
  SR_NEW(ctx, f->role, rows * folds);
  for (int64_t i = 0; i < rows; i++) f->unit[i] = (int32_t)(i * (folds + 1) / rows);
  for (int32_t u = 0; u < f->view.units; u++) f->fold[u] = u - 1;
  int64_t most = rows / (folds + 1) / 4;
  double wanted = ceil(structure->scale);
  f->view.buffer = buffer >= 0 ? buffer : wanted < (double)most ? (int64_t)wanted : most;
  set_forward_roles(f);
  if (!memchr(f->role, SR_ROLE_TRAIN, (size_t)rows))
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "no row is left to train on before the first fold and a buffer of %lld; give a "
                    "smaller buffer or fewer folds",
                    (long long)f->view.buffer));
  f->view.unit_of_row = f->unit;
  f->view.fold_of_unit = f->fold;
  f->view.role = f->role;
  *forward = f;
  f = NULL;
cleanup:
  sr_folds_free(&f);
  return status;
}

void sr_folds_free(sr_folds **folds) {
  if (!folds || !*folds) return;
  sr_folds *f = *folds;
  sr_allocator allocator = f->allocator;
  void *blocks[] = {f->unit, f->fold, f->role, f};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *folds = NULL;
}

const sr_folds_view *sr_folds_get(const sr_folds *folds) { return &folds->view; }
