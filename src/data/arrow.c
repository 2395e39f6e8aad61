/* Tables from an Arrow C stream: record batches of other programs, read where they stand. */
#include <math.h>

#include "column_roles.h"
#include "print_number.h"
#include "settle.h"
#include "typed_columns.h"

/* ---- the structs of the Arrow C data interface --------------------------------------------- */

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

static const char stream_name[] = "the Arrow stream";

/* ---- types -------------------------------------------------------------------------------- */

typedef enum arrow_kind {
  ARROW_NUMBER,
  ARROW_TEXT,
  ARROW_LARGE_TEXT,
  ARROW_TEXT_VIEW,
  ARROW_NONE
} arrow_kind;

typedef struct arrow_type {
  const char *format; /* what the format begins with */
  arrow_kind kind;
  sr_type type;
  double scale; /* to seconds; 0: the number as it is */
} arrow_type;

static const arrow_type arrow_types[] = {
    {"n", ARROW_NONE, SR_TYPE_BIT, 0},           {"b", ARROW_NUMBER, SR_TYPE_BIT, 0},
    {"c", ARROW_NUMBER, SR_TYPE_INT8, 0},        {"C", ARROW_NUMBER, SR_TYPE_UINT8, 0},
    {"s", ARROW_NUMBER, SR_TYPE_INT16, 0},       {"S", ARROW_NUMBER, SR_TYPE_UINT16, 0},
    {"i", ARROW_NUMBER, SR_TYPE_INT32, 0},       {"I", ARROW_NUMBER, SR_TYPE_UINT32, 0},
    {"l", ARROW_NUMBER, SR_TYPE_INT64, 0},       {"L", ARROW_NUMBER, SR_TYPE_UINT64, 0},
    {"e", ARROW_NUMBER, SR_TYPE_FLOAT16, 0},     {"f", ARROW_NUMBER, SR_TYPE_FLOAT32, 0},
    {"g", ARROW_NUMBER, SR_TYPE_FLOAT64, 0},     {"u", ARROW_TEXT, SR_TYPE_BIT, 0},
    {"U", ARROW_LARGE_TEXT, SR_TYPE_BIT, 0},     {"vu", ARROW_TEXT_VIEW, SR_TYPE_BIT, 0},
    {"tdD", ARROW_NUMBER, SR_TYPE_INT32, 86400}, {"tdm", ARROW_NUMBER, SR_TYPE_INT64, 1e-3},
    {"tts", ARROW_NUMBER, SR_TYPE_INT32, 1},     {"ttm", ARROW_NUMBER, SR_TYPE_INT32, 1e-3},
    {"ttu", ARROW_NUMBER, SR_TYPE_INT64, 1e-6},  {"ttn", ARROW_NUMBER, SR_TYPE_INT64, 1e-9},
    {"tss:", ARROW_NUMBER, SR_TYPE_INT64, 1},    {"tsm:", ARROW_NUMBER, SR_TYPE_INT64, 1e-3},
    {"tsu:", ARROW_NUMBER, SR_TYPE_INT64, 1e-6}, {"tsn:", ARROW_NUMBER, SR_TYPE_INT64, 1e-9},
    {"tDs", ARROW_NUMBER, SR_TYPE_INT64, 1},     {"tDm", ARROW_NUMBER, SR_TYPE_INT64, 1e-3},
    {"tDu", ARROW_NUMBER, SR_TYPE_INT64, 1e-6},  {"tDn", ARROW_NUMBER, SR_TYPE_INT64, 1e-9},
};

static const arrow_type *type_of(const char *format) {
  for (size_t k = 0; k < sizeof arrow_types / sizeof *arrow_types; k++) {
    const char *known = arrow_types[k].format;
    size_t length = strlen(known);
    bool open = known[length - 1] == ':'; /* a time zone follows */
    if (open ? strncmp(format, known, length) == 0 : strcmp(format, known) == 0)
      return &arrow_types[k];
  }
  return NULL;
}

/* ---- the stream --------------------------------------------------------------------------- */

typedef struct arrow_column {
  const char *name;
  const arrow_type *type;   /* of the values, or of the codes of a dictionary */
  const arrow_type *values; /* of a dictionary, else NULL */
  sr__column_role role;
} arrow_column;

typedef struct arrow_table {
  struct ArrowSchema schema;
  struct ArrowArray *batch;
  int64_t batches, capacity, rows, columns;
  arrow_column *column;
  int64_t *feature; /* column of each feature */
  int64_t features;
  float *x;
  sr_dictionary *categories; /* per feature */
} arrow_table;

static sr_status fail_stream(sr_context *ctx, struct ArrowArrayStream *stream, int code) {
  const char *reason = stream->get_last_error(stream);
  return sr__fail(ctx, SR_ERROR_IO, "%s stopped with code %d: %s", stream_name, code,
                  reason ? reason : "no reason was given");
}

static sr_status read_types(sr_context *ctx, arrow_table *t) {
  sr_status status = SR_OK;
  if (strcmp(t->schema.format, "+s") != 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "%s holds '%s', expected record batches with columns", stream_name,
                    t->schema.format));
  t->columns = t->schema.n_children;
  SR_NEW_ZERO(ctx, t->column, t->columns);
  for (int64_t j = 0; j < t->columns; j++) {
    const struct ArrowSchema *child = t->schema.children[j];
    const char *odd = child->format;
    arrow_column *column = &t->column[j];
    column->name = child->name ? child->name : "";
    column->type = type_of(child->format);
    if (column->type && child->dictionary) {
      odd = child->dictionary->format;
      column->values = type_of(odd);
    }
    if (!column->type || (child->dictionary && !column->values))
      SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "column '%s' has the Arrow type '%s'; give numbers, booleans, times, texts "
                      "or dictionaries of them, or leave the column out",
                      column->name, odd));
  }
cleanup:
  return status;
}

static sr_status read_batches(sr_context *ctx, struct ArrowArrayStream *stream, arrow_table *t) {
  sr_status status = SR_OK;
  for (;;) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_GROW(ctx, t->batch, t->capacity, t->batches + 1);
    struct ArrowArray *batch = &t->batch[t->batches];
    memset(batch, 0, sizeof *batch);
    int code = stream->get_next(stream, batch);
    if (code) SR_TRY(fail_stream(ctx, stream, code));
    if (!batch->release) break;
    t->batches++;
    t->rows += batch->length;
    if (t->rows > INT32_MAX)
      SR_TRY(sr__fail(ctx, SR_ERROR_OVERFLOW, "%s has more than %d rows", stream_name, INT32_MAX));
  }
cleanup:
  return status;
}

static void arrow_table_free(sr_context *ctx, arrow_table *t) {
  for (int64_t k = 0; k < t->batches; k++) t->batch[k].release(&t->batch[k]);
  if (t->schema.release) t->schema.release(&t->schema);
  if (t->categories) {
    sr_allocator allocator = sr__allocator(ctx);
    for (int64_t f = 0; f < t->features; f++) sr__dictionary_free(&allocator, &t->categories[f]);
  }
  void *blocks[] = {t->batch, t->column, t->feature, t->x, t->categories};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(ctx, blocks[i]);
}

/* ---- values of one array ------------------------------------------------------------------- */

static const uint8_t *validity(const struct ArrowArray *array) {
  return array->null_count == 0 || array->n_buffers == 0 ? NULL : array->buffers[0];
}

/* Numbers (or the codes of a dictionary) as a column; row 0 is value `first`. */
static sr_column number_column(const arrow_type *type, const struct ArrowArray *array,
                               int64_t first) {
  return (sr_column){.type = type->type,
                     .data = array->n_buffers > 1 ? array->buffers[1] : NULL,
                     .stride = sr__type_size(type->type),
                     .first = first,
                     .valid = validity(array)};
}

static const char *text_at(const arrow_type *type, const struct ArrowArray *array, int64_t i,
                           size_t *length) {
  if (type->kind == ARROW_TEXT_VIEW) {
    const char *view = (const char *)array->buffers[1] + 16 * i;
    int32_t part[4];
    memcpy(part, view, sizeof part);
    *length = (size_t)part[0];
    return part[0] <= 12 ? view + 4 : (const char *)array->buffers[2 + part[2]] + part[3];
  }
  int64_t from, to;
  if (type->kind == ARROW_TEXT) {
    const int32_t *offset = array->buffers[1];
    from = offset[i], to = offset[i + 1];
  } else {
    const int64_t *offset = array->buffers[1];
    from = offset[i], to = offset[i + 1];
  }
  *length = (size_t)(to - from);
  return *length ? (const char *)array->buffers[2] + from : "";
}

/* The name of value i of an array, added to `names`; -1 where it is missing. */
static sr_status name_value(sr_context *ctx, const arrow_type *type, const struct ArrowArray *array,
                            int64_t i, sr__names *names, int32_t *code) {
  const uint8_t *valid = validity(array);
  char number[SR_NUMBER_BYTES];
  const char *text = number;
  size_t length;
  *code = -1;
  if (type->kind == ARROW_NONE || (valid && !(valid[i / 8] >> (i % 8) & 1))) return SR_OK;
  if (type->kind == ARROW_NUMBER) {
    sr_column column = number_column(type, array, i);
    double value = sr__column_double(&column, 0);
    if (isnan(value)) return SR_OK;
    length = (size_t)(sr__print_double(value, number) - number);
  } else {
    text = text_at(type, array, i, &length);
  }
  return sr__names_add(ctx, names, text, length, 0, code);
}

/* ---- a whole column ----------------------------------------------------------------------- */

/* All rows as codes of `names`. */
static sr_status code_column(sr_context *ctx, const arrow_table *t, int64_t j, sr__names *names,
                             int32_t *code) {
  sr_status status = SR_OK;
  const arrow_column *column = &t->column[j];
  int32_t *entry = NULL;
  int64_t row = 0;
  for (int64_t b = 0; b < t->batches; b++) {
    const struct ArrowArray *batch = &t->batch[b], *array = batch->children[j];
    int64_t first = array->offset + batch->offset, entries = 0;
    sr_column codes = number_column(column->type, array, first);
    if (column->values) {
      entries = array->dictionary->length;
      sr__free(ctx, entry);
      entry = NULL;
      SR_NEW(ctx, entry, entries);
      for (int64_t k = 0; k < entries; k++)
        SR_TRY(name_value(ctx, column->values, array->dictionary, array->dictionary->offset + k,
                          names, &entry[k]));
    }
    for (int64_t i = 0; i < batch->length; i++, row++) {
      if (!column->values) {
        SR_TRY(name_value(ctx, column->type, array, first + i, names, &code[row]));
        continue;
      }
      double place = sr__column_double(&codes, i);
      code[row] = place >= 0 && place < (double)entries ? entry[(int64_t)place] : -1;
    }
  }
cleanup:
  sr__free(ctx, entry);
  return status;
}

static sr_status double_column(sr_context *ctx, const arrow_table *t, int64_t j, double *to) {
  const arrow_column *column = &t->column[j];
  int64_t row = 0;
  if (column->values || column->type->kind != ARROW_NUMBER)
    return sr__fail(ctx, SR_ERROR_DATA, "column '%s' holds no numbers; give numbers or times",
                    column->name);
  double scale = column->type->scale != 0.0 ? column->type->scale : 1.0;
  for (int64_t b = 0; b < t->batches; b++) {
    const struct ArrowArray *batch = &t->batch[b], *array = batch->children[j];
    sr_column values = number_column(column->type, array, array->offset + batch->offset);
    for (int64_t i = 0; i < batch->length; i++) to[row++] = scale * sr__column_double(&values, i);
  }
  return SR_OK;
}

static sr_status float_column(sr_context *ctx, const arrow_table *t, int64_t j, float *to) {
  const arrow_column *column = &t->column[j];
  int64_t row = 0;
  for (int64_t b = 0; b < t->batches; b++) {
    const struct ArrowArray *batch = &t->batch[b], *array = batch->children[j];
    sr_column values = number_column(column->type, array, array->offset + batch->offset);
    if (column->type->kind == ARROW_NONE) {
      for (int64_t i = 0; i < batch->length; i++) to[row + i] = NAN;
    } else if (batch->length) {
      int64_t bad = sr__column_floats(&values, 0, batch->length, to + row);
      if (bad >= 0)
        return sr__fail(ctx, SR_ERROR_DATA,
                        "column '%s' holds %g in row %lld, and numbers go to 3.4e38; leave the row "
                        "out, clip the value or make it missing (NaN)",
                        column->name, sr__column_double(&values, bad), (long long)(row + bad));
    }
    row += batch->length;
  }
  for (int64_t i = 0; column->type->scale != 0.0 && i < t->rows; i++)
    to[i] *= (float)column->type->scale;
  return SR_OK;
}

/* Texts as categories: those of a dictionary keep their order, others are sorted. */
static sr_status category_column(sr_context *ctx, const arrow_table *t, int64_t j,
                                 sr_dictionary *categories, float *to) {
  sr_status status = SR_OK;
  sr__names names = {0};
  int32_t *code = NULL, *rank = NULL;
  SR_NEW(ctx, code, t->rows);
  SR_TRY(code_column(ctx, t, j, &names, code));
  SR_NEW(ctx, rank, names.count);
  if (t->column[j].values) {
    for (int64_t c = 0; c < names.count; c++) rank[c] = (int32_t)c;
    SR_TRY(sr__names_dictionary(ctx, &names, categories));
  } else {
    SR_TRY(sr__names_sort(ctx, &names, rank, categories));
  }
  for (int64_t i = 0; i < t->rows; i++) to[i] = code[i] < 0 ? NAN : (float)rank[code[i]];
cleanup:
  sr__names_free(ctx, &names);
  sr__free(ctx, code);
  sr__free(ctx, rank);
  return status;
}

static sr_status convert_feature(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  const arrow_table *t = data;
  int64_t j = t->feature[item];
  const arrow_column *column = &t->column[j];
  float *to = t->x + item * t->rows;
  sr_status status = sr__check_interrupt(ctx);
  if (status != SR_OK) return status;
  bool text = column->values || column->type->kind > ARROW_NUMBER;
  if (column->type->kind == ARROW_NONE) text = false;
  return text || column->role.categorical ? category_column(ctx, t, j, &t->categories[item], to)
                                          : float_column(ctx, t, j, to);
}

/* ---- roles -------------------------------------------------------------------------------- */

/* Codes and names of a column that names something. */
/* Sure: the user calls them classes. */
typedef enum column_words { GROUP_NAMES, CLASS_NAMES, SURE_CLASS_NAMES } column_words;

static sr_status named_column(sr_context *ctx, const arrow_table *t, int64_t j, column_words words,
                              int32_t **code, sr_dictionary *dictionary) {
  sr_status status = SR_OK;
  sr__names names = {0};
  int32_t *rank = NULL;
  SR_NEW(ctx, *code, t->rows);
  SR_TRY(code_column(ctx, t, j, &names, *code));
  if (words != GROUP_NAMES)
    SR_TRY(sr__check_classes(ctx, stream_name, t->column[j].name, &names, t->rows,
                             words == SURE_CLASS_NAMES));
  SR_NEW(ctx, rank, names.count);
  SR_TRY(words == GROUP_NAMES ? sr__names_sort(ctx, &names, rank, dictionary)
                              : sr__names_sort_classes(ctx, &names, rank, dictionary));
  for (int64_t i = 0; i < t->rows; i++) (*code)[i] = (*code)[i] < 0 ? -1 : rank[(*code)[i]];
cleanup:
  sr__names_free(ctx, &names);
  sr__free(ctx, rank);
  return status;
}

static sr_status set_target(sr_context *ctx, const arrow_table *t, int64_t j, sr_table_view *view) {
  sr_status status = SR_OK;
  const arrow_column *column = &t->column[j];
  double *value = NULL;
  int32_t *label = NULL;
  if (column->role.rule.form == SR__CLASSES) {
    bool sure = column->role.categorical || column->values;
    status = named_column(ctx, t, j, sure ? SURE_CLASS_NAMES : CLASS_NAMES, &label, &view->classes);
    view->label = label;
    SR_TRY(status);
    view->target_name = sr__strdup(ctx, column->name);
    if (!view->target_name) SR_TRY(SR_ERROR_MEMORY);
  } else {
    SR_NEW(ctx, value, t->rows);
    status = double_column(ctx, t, j, value);
    if (status != SR_OK)
      sr__free(ctx, value);
    else
      status = sr__set_number_target(ctx, column->name, &column->role.rule, value, view);
  }
cleanup:
  return status;
}

/* What each row belongs to: a group, or a region. */
static sr_status set_naming(sr_context *ctx, const arrow_table *t, int64_t j, const char *what,
                            const int32_t **shown, sr_dictionary *names) {
  int32_t *code = NULL;
  sr_status status = named_column(ctx, t, j, GROUP_NAMES, &code, names);
  *shown = code;
  for (int64_t i = 0; status == SR_OK && i < t->rows; i++) {
    if (code[i] < 0)
      status = sr__fail(ctx, SR_ERROR_DATA, "%s '%s' is missing in row %lld", what,
                        t->column[j].name, (long long)i);
  }
  return status;
}

static sr_status set_weight(sr_context *ctx, const arrow_table *t, int64_t j, sr_table_view *view) {
  sr_status status = SR_OK;
  float *weight = NULL;
  if (t->column[j].values || t->column[j].type->kind != ARROW_NUMBER)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "weight '%s' holds no numbers", t->column[j].name));
  SR_NEW(ctx, weight, t->rows);
  view->weight = weight;
  SR_TRY(float_column(ctx, t, j, weight));
  for (int64_t i = 0; i < t->rows; i++) {
    if (!(weight[i] >= 0.0f))
      SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "weight '%s' is %g in row %lld, expected 0 or more",
                      t->column[j].name, (double)weight[i], (long long)i));
  }
cleanup:
  return status;
}

static sr_status set_roles(sr_context *ctx, const arrow_table *t, sr_table_view *view) {
  sr_status status = SR_OK;
  double *time = NULL, *coordinates = NULL;
  for (int64_t j = 0; j < t->columns; j++) {
    const sr__column_role *role = &t->column[j].role;
    if ((role->role == SR_ROLE_TIME || role->role == SR_ROLE_GROUP ||
         role->role == SR_ROLE_REGION) &&
        role->place > 0)
      SR_TRY(sr__fail(
          ctx, SR_ERROR_UNSUPPORTED,
          "several columns for time, group or region are read from files alone; put them into "
          "one column"));
    switch (role->role) {
      case SR_ROLE_TARGET:
        SR_TRY(set_target(ctx, t, j, view));
        break;
      case SR_ROLE_GROUP:
        SR_TRY(set_naming(ctx, t, j, "group", &view->group, &view->groups));
        break;
      case SR_ROLE_REGION:
        SR_TRY(set_naming(ctx, t, j, "region", &view->region, &view->regions));
        break;
      case SR_ROLE_WEIGHT:
        SR_TRY(set_weight(ctx, t, j, view));
        break;
      case SR_ROLE_TIME:
        SR_NEW(ctx, time, t->rows);
        view->time = time;
        SR_TRY(double_column(ctx, t, j, time));
        break;
      case SR_ROLE_COORDINATE:
        if (!coordinates) SR_NEW_ZERO(ctx, coordinates, 3 * t->rows);
        view->coordinates = coordinates;
        view->coordinate_count++;
        SR_TRY(double_column(ctx, t, j, coordinates + role->place * t->rows));
        break;
      default:
        break;
    }
  }
cleanup:
  return status;
}

static sr_status find_features(sr_context *ctx, const sr_read_options *options, arrow_table *t) {
  sr_status status = SR_OK;
  const char **name = NULL;
  sr__column_role *role = NULL;
  SR_NEW(ctx, name, t->columns);
  SR_NEW_ZERO(ctx, role, t->columns);
  for (int64_t j = 0; j < t->columns; j++) name[j] = t->column[j].name;
  if (options) SR_TRY(sr__assign_roles(ctx, stream_name, name, t->columns, options, role));
  SR_NEW(ctx, t->feature, t->columns);
  for (int64_t j = 0; j < t->columns; j++) {
    t->column[j].role = role[j];
    if (role[j].role == SR_ROLE_FEATURE) t->feature[t->features++] = j;
  }
cleanup:
  sr__free(ctx, name);
  sr__free(ctx, role);
  return status;
}

static sr_status set_features(sr_context *ctx, arrow_table *t, sr_table_view *view) {
  sr_status status = SR_OK;
  const char **name = NULL;
  bool coded = false;
  SR_NEW(ctx, name, t->features);
  SR_NEW(ctx, t->x, t->rows * t->features);
  SR_NEW_ZERO(ctx, t->categories, t->features);
  SR_TRY(sr__parallel_for(ctx, t->features, convert_feature, t));
  for (int64_t f = 0; f < t->features; f++) {
    name[f] = t->column[t->feature[f]].name;
    coded |= t->categories[f].count > 0;
  }
  SR_TRY(sr__copy_names(ctx, name, t->features, &view->feature_names));
  view->rows = t->rows;
  view->features = t->features;
  view->x = t->x;
  t->x = NULL;
  if (coded) {
    view->categories = t->categories;
    t->categories = NULL;
  }
cleanup:
  sr__free(ctx, name);
  return status;
}

sr_status sr_table_from_arrow(sr_context *ctx, struct ArrowArrayStream *stream,
                              const sr_read_options *options, sr_table **table) {
  sr_status status = SR_OK;
  arrow_table t = {0};
  sr_table_view view = {0};
  *table = NULL;
  if (!stream || !stream->release)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s was read already; take a new one", stream_name);
  int code = stream->get_schema(stream, &t.schema);
  if (code) SR_TRY(fail_stream(ctx, stream, code));
  SR_TRY(read_types(ctx, &t));
  SR_TRY(find_features(ctx, options, &t));
  SR_TRY(read_batches(ctx, stream, &t));
  SR_TRY(set_features(ctx, &t, &view));
  SR_TRY(set_roles(ctx, &t, &view));
  SR_TRY(sr__table_adopt(ctx, &view, table));
  if (options) SR_TRY(sr__settle(ctx, stream_name, options, table));
cleanup:
  if (status != SR_OK) sr_table_free(table);
  sr__table_view_free(ctx, &view);
  arrow_table_free(ctx, &t);
  if (stream->release) stream->release(stream);
  return status;
}
