/* From segments of rows to the columns of a table. */
#include <math.h>
#include <stdlib.h>

#include "core/sort.h"
#include "core/text.h"
#include "csv.h"
#include "data/parse_number.h"

/* What becomes of the codes of a column: their rank in the sorted names, or a number. */
typedef struct code_map {
  int32_t *rank;
  float *number; /* set where all texts are numbers after all */
} code_map;

/* Columns whose values name what a row belongs to: group or region. */
typedef struct naming {
  int32_t columns;
  int32_t *code; /* column-major */
  sr_dictionary *names;
} naming;

typedef struct joint {
  sr__csv_layout *layout;
  sr__csv_segment *segments;
  const sr__csv_chunk *chunks;
  int64_t *first_chunk; /* of each segment, and one past the last */
  code_map *maps;
  int64_t *feature; /* place of each column among the features, or -1 */
  int64_t rows;
  float *x;
  int32_t *label;
  int32_t time_columns;
  naming group, region;
  double *time; /* column-major */
  double *coordinates;
  double *number; /* a target that is no class as it stands */
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
  if (!column->keep_order)
    return column->role.role == SR_ROLE_TARGET
               ? sr__names_sort_classes(ctx, names, map->rank, dictionary)
               : sr__names_sort(ctx, names, map->rank, dictionary);
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
  /* Texts that name every row are told of where they are left out (settle.c). */
  if (count > MANY && count > rows / 2 && count < rows)
    sr__log(ctx, SR_LOG_WARNING,
            "%s: column '%s' is text and differs in most rows (%lld of %lld); drop it, or name it "
            "as time or group",
            layout->file, column->name, (long long)count, (long long)rows);
  return SR_OK;
}

/* Dictionaries of target, group, region and features, and the maps from codes to them. */
static sr_status settle_names(sr_context *ctx, joint *to, sr_dictionary *categories,
                              sr_table_view *view) {
  sr_status status = SR_OK;
  sr__csv_layout *layout = to->layout;
  for (int64_t j = 0; j < layout->count; j++) {
    sr__csv_column *column = &layout->columns[j];
    if (column->kind != SR_CELL_CODE) continue;
    sr_dictionary *dictionary =
        column->role.role == SR_ROLE_TARGET   ? &view->classes
        : column->role.role == SR_ROLE_GROUP  ? &to->group.names[column->role.place]
        : column->role.role == SR_ROLE_REGION ? &to->region.names[column->role.place]
                                              : &categories[to->feature[j]];
    SR_TRY(order_names(ctx, column, &to->maps[j], dictionary));
    if (column->role.role == SR_ROLE_FEATURE && !to->maps[j].number)
      SR_TRY(check_categories(ctx, layout, j, to->rows));
    if (column->role.role == SR_ROLE_TARGET)
      SR_TRY(sr__check_classes(ctx, layout->file, column->name, &column->names, to->rows,
                               column->role.categorical || column->closed));
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
      if (column->kind == SR_CELL_DOUBLE)
        memcpy(to->number + at, wide, count * sizeof *wide);
      else
        move_codes(&to->maps[j], code, chunk->rows, to->label + at);
      break;
    case SR_ROLE_GROUP:
      move_codes(&to->maps[j], code, chunk->rows,
                 to->group.code + column->role.place * to->rows + at);
      break;
    case SR_ROLE_REGION:
      move_codes(&to->maps[j], code, chunk->rows,
                 to->region.code + column->role.place * to->rows + at);
      break;
    case SR_ROLE_TIME:
      memcpy(to->time + column->role.place * to->rows + at, wide, count * sizeof *wide);
      break;
    case SR_ROLE_COORDINATE:
      memcpy(to->coordinates + column->role.place * to->rows + at, wide, count * sizeof *wide);
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

static sr_status new_naming(sr_context *ctx, int64_t rows, naming *n) {
  sr_status status = SR_OK;
  SR_NEW(ctx, n->code, rows * n->columns);
  SR_NEW_ZERO(ctx, n->names, n->columns);
cleanup:
  return status;
}

static void free_naming(sr_context *ctx, naming *n) {
  for (int32_t k = 0; n->names && k < n->columns; k++)
    sr__free(ctx, (void *)(uintptr_t)n->names[k].names);
  sr__free(ctx, n->names);
  sr__free(ctx, n->code);
}

static sr_status make_columns(sr_context *ctx, joint *to, sr_table_view *view) {
  sr_status status = SR_OK;
  for (int64_t j = 0; j < to->layout->count; j++) {
    const sr__csv_column *column = &to->layout->columns[j];
    switch (column->role.role) {
      case SR_ROLE_FEATURE:
        to->feature[j] = view->features++;
        break;
      case SR_ROLE_TARGET:
        if (column->kind == SR_CELL_DOUBLE) {
          SR_NEW(ctx, to->number, to->rows);
          break;
        }
        NEW_SHOWN(ctx, view->label, to->label, to->rows);
        view->target_name = sr__strdup(ctx, column->name);
        if (!view->target_name) SR_TRY(SR_ERROR_MEMORY);
        break;
      case SR_ROLE_GROUP:
        to->group.columns++;
        break;
      case SR_ROLE_REGION:
        to->region.columns++;
        break;
      case SR_ROLE_TIME:
        to->time_columns++;
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
  SR_NEW(ctx, to->time, to->rows * to->time_columns);
  SR_TRY(new_naming(ctx, to->rows, &to->group));
  SR_TRY(new_naming(ctx, to->rows, &to->region));
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

static sr_status set_number_target(sr_context *ctx, joint *to, sr_table_view *view) {
  double *number = to->number;
  to->number = NULL;
  for (int64_t j = 0; number && j < to->layout->count; j++) {
    const sr__csv_column *column = &to->layout->columns[j];
    if (column->role.role == SR_ROLE_TARGET)
      return sr__set_number_target(ctx, column->name, &column->role.rule, number, view);
  }
  return SR_OK;
}

/* ---- several columns in one role ---------------------------------------------------------- */

typedef struct ranked_row {
  const joint *to;
  int64_t row;
} ranked_row;

static int compare_times(const void *left, const void *right) {
  const ranked_row *a = left, *b = right;
  const joint *to = a->to;
  for (int32_t k = 0; k < to->time_columns; k++) {
    double x = to->time[k * to->rows + a->row], y = to->time[k * to->rows + b->row];
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

/* One column is the time as given; several are the rank of the row among them, from 0. */
static sr_status set_time(sr_context *ctx, joint *to, sr_table_view *view) {
  sr_status status = SR_OK;
  ranked_row *order = NULL;
  double *rank = NULL;
  if (to->time_columns == 0) return SR_OK;
  if (to->time_columns == 1) {
    view->time = to->time;
    to->time = NULL;
    return SR_OK;
  }
  SR_NEW(ctx, order, to->rows);
  SR_NEW(ctx, rank, to->rows);
  view->time = rank;
  for (int64_t i = 0; i < to->rows; i++) order[i] = (ranked_row){to, i};
  SR_TRY(sr__sort(ctx, order, to->rows, sizeof *order, compare_times));
  double before = 0;
  for (int64_t i = 0; i < to->rows; i++) {
    before += i > 0 && compare_times(&order[i - 1], &order[i]) != 0;
    rank[order[i].row] = before;
  }
cleanup:
  sr__free(ctx, order);
  return status;
}

/* One column names the rows as it stands; several give a name per combination, "city / station". */
static sr_status combine_names(sr_context *ctx, int64_t rows, naming *from, const int32_t **code,
                               sr_dictionary *names) {
  sr_status status = SR_OK;
  sr__names combined = {0};
  sr__text text = {0};
  int32_t *made = NULL, *rank = NULL;
  if (from->columns == 0) return SR_OK;
  if (from->columns == 1) {
    *code = from->code;
    *names = from->names[0];
    from->code = NULL;
    from->names[0] = (sr_dictionary){0, NULL};
    return SR_OK;
  }
  NEW_SHOWN(ctx, *code, made, rows);
  for (int64_t i = 0; i < rows; i++) {
    text.length = 0;
    for (int32_t k = 0; k < from->columns; k++)
      SR_TRY(sr__text_print(ctx, &text, "%s%s", k ? " / " : "",
                            from->names[k].names[from->code[k * rows + i]]));
    SR_TRY(sr__names_add(ctx, &combined, text.bytes, (size_t)text.length, i, &made[i]));
  }
  SR_NEW(ctx, rank, combined.count);
  SR_TRY(sr__names_sort(ctx, &combined, rank, names));
  for (int64_t i = 0; i < rows; i++) made[i] = rank[made[i]];
cleanup:
  sr__free(ctx, rank);
  sr__free(ctx, text.bytes);
  sr__names_free(ctx, &combined);
  return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

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
  SR_TRY(set_number_target(ctx, &to, &view));
  SR_TRY(set_time(ctx, &to, &view));
  SR_TRY(combine_names(ctx, to.rows, &to.group, &view.group, &view.groups));
  SR_TRY(combine_names(ctx, to.rows, &to.region, &view.region, &view.regions));
  SR_TRY(sr__table_adopt(ctx, &view, table));
cleanup:
  sr__table_view_free(ctx, &view);
  sr__free(ctx, to.number);
  sr__free(ctx, to.time);
  free_naming(ctx, &to.group);
  free_naming(ctx, &to.region);
  for (int64_t j = 0; to.maps && j < layout->count; j++) {
    sr__free(ctx, to.maps[j].rank);
    sr__free(ctx, to.maps[j].number);
  }
  sr__free(ctx, to.maps);
  sr__free(ctx, to.feature);
  sr__free(ctx, to.first_chunk);
  return status;
}
