/* From segments of rows to the columns of a table. */
#include <math.h>

#include "csv.h"
#include "data/parse_number.h"

/* What becomes of the codes of a column: their rank in the sorted names, or a number. */
typedef struct code_map {
  int32_t *rank;
  float *number; /* set where all texts are numbers after all */
} code_map;

typedef struct joint {
  sr__csv_layout *layout;
  sr__csv_segment *segments;
  const sr__csv_chunk *chunks;
  int64_t *first_chunk; /* of each segment, and one past the last */
  code_map *maps;
  int64_t *feature; /* place of each column among the features, or -1 */
  int64_t rows;
  float *x;
  int32_t *label, *group;
  double *time, *coordinates;
  float *weight;
} joint;

/* ---- names -------------------------------------------------------------------------------- */

/* The numbers that the texts stand for; *numbers stays NULL where one is none. */
static sr_status as_numbers(sr_context *ctx, const sr__names *names, float **numbers) {
  sr_status status = SR_OK;
  SR_NEW(ctx, *numbers, names->count);
  for (int64_t code = 0; code < names->count; code++) {
    if (sr__whole_float(sr__names_get(names, code), sr__names_length(names, code),
                        &(*numbers)[code]))
      continue;
    sr__free(ctx, *numbers);
    *numbers = NULL;
    break;
  }
cleanup:
  return status;
}

static sr_status order_names(sr_context *ctx, const sr__csv_column *column, code_map *map,
                             sr_dictionary *dictionary) {
  sr_status status = SR_OK;
  const sr__names *names = &column->names;
  *dictionary = (sr_dictionary){0, NULL};
  if (column->undecided) {
    SR_TRY(as_numbers(ctx, names, &map->number));
    if (map->number) return SR_OK;
  }
  SR_NEW(ctx, map->rank, names->count);
  if (!column->keep_order) return sr__names_sort(ctx, names, map->rank, dictionary);
  for (int64_t code = 0; code < names->count; code++) map->rank[code] = (int32_t)code;
  SR_TRY(sr__names_dictionary(ctx, names, dictionary));
cleanup:
  return status;
}

static sr_status check_categories(sr_context *ctx, const sr__csv_layout *layout, int64_t j,
                                  int64_t rows) {
  enum { EXACT_IN_FLOAT = 1 << 24, MANY = 1000 };
  const sr__csv_column *column = &layout->columns[j];
  int64_t count = column->names.count;
  if (count > EXACT_IN_FLOAT)
    return sr__fail_at(ctx, SR_ERROR_DATA, layout->file, 0, j + 1,
                       "column '%s' has %lld different texts, at most %d can be kept; drop it",
                       column->name, (long long)count, EXACT_IN_FLOAT);
  if (count > MANY && count > rows / 2)
    sr__log(ctx, SR_LOG_WARNING,
            "%s: column '%s' is text and differs in most rows (%lld of %lld); drop it, or name it "
            "as time or group",
            layout->file, column->name, (long long)count, (long long)rows);
  return SR_OK;
}

/* Dictionaries of target, group and features, and the maps from codes to them. */
static sr_status settle_names(sr_context *ctx, joint *to, sr_dictionary *categories,
                              sr_table_view *view) {
  sr_status status = SR_OK;
  sr__csv_layout *layout = to->layout;
  for (int64_t j = 0; j < layout->count; j++) {
    sr__csv_column *column = &layout->columns[j];
    if (column->kind != SR_CELL_CODE) continue;
    sr_dictionary *dictionary = column->role.role == SR_ROLE_TARGET  ? &view->classes
                                : column->role.role == SR_ROLE_GROUP ? &view->groups
                                                                     : &categories[to->feature[j]];
    SR_TRY(order_names(ctx, column, &to->maps[j], dictionary));
    if (column->role.role == SR_ROLE_FEATURE && !to->maps[j].number)
      SR_TRY(check_categories(ctx, layout, j, to->rows));
    if (column->role.role == SR_ROLE_TARGET)
      SR_TRY(sr__check_classes(ctx, layout->file, column->name, &column->names, to->rows));
  }
cleanup:
  return status;
}

/* ---- cells -------------------------------------------------------------------------------- */

static void move_codes(const code_map *map, const int32_t *code, int64_t rows, int32_t *to) {
  for (int64_t i = 0; i < rows; i++) to[i] = code[i] < 0 ? -1 : map->rank[code[i]];
}

static void move_categories(const code_map *map, const int32_t *code, int64_t rows, float *to) {
  for (int64_t i = 0; i < rows; i++) {
    if (code[i] < 0)
      to[i] = NAN;
    else
      to[i] = map->number ? map->number[code[i]] : (float)map->rank[code[i]];
  }
}

static void move_column(const joint *to, int64_t j, const char *cells, const sr__csv_chunk *chunk) {
  const sr__csv_column *column = &to->layout->columns[j];
  const float *single = (const float *)(const void *)cells + chunk->first;
  const double *wide = (const double *)(const void *)cells + chunk->first;
  const int32_t *code = (const int32_t *)(const void *)cells + chunk->first;
  int64_t at = chunk->before;
  size_t count = (size_t)chunk->rows;
  switch (column->role.role) {
    case SR_ROLE_FEATURE:
      if (column->kind == SR_CELL_FLOAT)
        memcpy(to->x + to->feature[j] * to->rows + at, single, count * sizeof *single);
      else
        move_categories(&to->maps[j], code, chunk->rows, to->x + to->feature[j] * to->rows + at);
      break;
    case SR_ROLE_TARGET:
      move_codes(&to->maps[j], code, chunk->rows, to->label + at);
      break;
    case SR_ROLE_GROUP:
      move_codes(&to->maps[j], code, chunk->rows, to->group + at);
      break;
    case SR_ROLE_TIME:
      memcpy(to->time + at, wide, count * sizeof *wide);
      break;
    case SR_ROLE_COORDINATE:
      memcpy(to->coordinates + column->role.coordinate * to->rows + at, wide, count * sizeof *wide);
      break;
    case SR_ROLE_WEIGHT:
      memcpy(to->weight + at, single, count * sizeof *single);
      break;
    case SR_ROLE_DROP:
      break;
  }
}

/* One segment: its memory goes back before the next is touched, so the peak stays near the size of
 * the table. */
static sr_status move_segment(sr_context *worker, void *data, int64_t item, int slot) {
  (void)slot;
  joint *to = data;
  sr__csv_segment *segment = &to->segments[item];
  for (int64_t c = to->first_chunk[item]; c < to->first_chunk[item + 1]; c++) {
    for (int64_t j = 0; j < to->layout->count; j++) {
      const sr__csv_column *column = &to->layout->columns[j];
      if (column->kind == SR_CELL_SKIP || to->chunks[c].rows == 0) continue;
      move_column(to, j, sr__csv_cells(segment, column), &to->chunks[c]);
    }
  }
  sr__free(worker, segment->cells);
  segment->cells = NULL;
  return SR_OK;
}

/* ---- the table ---------------------------------------------------------------------------- */

/* A block that the view shows, and the same block to write into. */
#define NEW_SHOWN(ctx, shown, writable, count) \
  do {                                         \
    SR_NEW(ctx, writable, count);              \
    (shown) = (writable);                      \
  } while (0)

static sr_status make_columns(sr_context *ctx, joint *to, sr_table_view *view) {
  sr_status status = SR_OK;
  for (int64_t j = 0; j < to->layout->count; j++) {
    const sr__csv_column *column = &to->layout->columns[j];
    switch (column->role.role) {
      case SR_ROLE_FEATURE:
        to->feature[j] = view->features++;
        break;
      case SR_ROLE_TARGET:
        NEW_SHOWN(ctx, view->label, to->label, to->rows);
        view->target_name = sr__strdup(ctx, column->name);
        if (!view->target_name) SR_TRY(SR_ERROR_MEMORY);
        break;
      case SR_ROLE_GROUP:
        NEW_SHOWN(ctx, view->group, to->group, to->rows);
        break;
      case SR_ROLE_TIME:
        NEW_SHOWN(ctx, view->time, to->time, to->rows);
        break;
      case SR_ROLE_COORDINATE:
        view->coordinate_count++;
        break;
      case SR_ROLE_WEIGHT:
        NEW_SHOWN(ctx, view->weight, to->weight, to->rows);
        break;
      case SR_ROLE_DROP:
        break;
    }
  }
  if (view->coordinate_count)
    NEW_SHOWN(ctx, view->coordinates, to->coordinates, to->rows * view->coordinate_count);
  view->rows = to->rows;
  NEW_SHOWN(ctx, view->x, to->x, to->rows * view->features);
cleanup:
  return status;
}

static sr_status name_features(sr_context *ctx, const joint *to, sr_table_view *view) {
  sr_status status = SR_OK;
  const char **names = NULL;
  SR_NEW(ctx, names, view->features);
  for (int64_t j = 0; j < to->layout->count; j++) {
    if (to->layout->columns[j].role.role == SR_ROLE_FEATURE)
      names[to->feature[j]] = to->layout->columns[j].name;
  }
  SR_TRY(sr__copy_names(ctx, names, view->features, &view->feature_names));
cleanup:
  sr__free(ctx, names);
  return status;
}

static sr_status count_rows(sr_context *ctx, joint *to, sr__csv_chunk *chunks, int64_t chunk_count,
                            int64_t segment_count) {
  for (int64_t c = 0, segment = 0; c < chunk_count; c++) {
    for (; segment <= chunks[c].segment; segment++) to->first_chunk[segment] = c;
    chunks[c].before = to->rows;
    to->rows += chunks[c].rows;
  }
  to->first_chunk[segment_count] = chunk_count;
  if (to->rows == 0)
    return sr__fail_at(ctx, SR_ERROR_DATA, to->layout->file, 0, 0,
                       "the file has no rows of data below its header");
  if (to->rows > INT32_MAX)
    return sr__fail_at(ctx, SR_ERROR_OVERFLOW, to->layout->file, 0, 0,
                       "the file has %lld rows, a table holds at most %d", (long long)to->rows,
                       INT32_MAX);
  return SR_OK;
}

sr_status sr__csv_join(sr_context *ctx, sr__csv_layout *layout, sr__csv_segment *segments,
                       int64_t segment_count, sr__csv_chunk *chunks, int64_t chunk_count,
                       sr_table **table) {
  sr_status status = SR_OK;
  joint to = {.layout = layout, .segments = segments, .chunks = chunks};
  sr_table_view view = {0};
  bool categories_used = false;
  SR_NEW(ctx, to.first_chunk, segment_count + 1);
  SR_NEW(ctx, to.feature, layout->count);
  SR_NEW_ZERO(ctx, to.maps, layout->count);
  SR_TRY(count_rows(ctx, &to, chunks, chunk_count, segment_count));
  SR_TRY(make_columns(ctx, &to, &view));
  SR_TRY(name_features(ctx, &to, &view));
  sr_dictionary *categories = NULL;
  NEW_SHOWN(ctx, view.categories, categories, view.features);
  memset(categories, 0, (size_t)view.features * sizeof *categories);
  SR_TRY(settle_names(ctx, &to, categories, &view));
  for (int64_t j = 0; j < view.features; j++) categories_used |= categories[j].count > 0;
  if (!categories_used) {
    sr__free(ctx, categories);
    view.categories = NULL;
  }
  SR_TRY(sr__parallel_for(ctx, segment_count, move_segment, &to));
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  sr__table_view_free(ctx, &view);
  for (int64_t j = 0; to.maps && j < layout->count; j++) {
    sr__free(ctx, to.maps[j].rank);
    sr__free(ctx, to.maps[j].number);
  }
  sr__free(ctx, to.maps);
  sr__free(ctx, to.feature);
  sr__free(ctx, to.first_chunk);
  return status;
}
