/* NetCDF variables on a common grid as a table of cells. The last two dimensions of a variable are
 * the grid; every step of the dimensions before them (time, level) is a feature of its own. */
#include "format.h"

#ifdef SR_HAVE_NETCDF
#include <ctype.h>
#ifdef SR_HAVE_HDF5
#include <hdf5.h>
#endif
#include <math.h>
#include <netcdf.h>
#include <netcdf_mem.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

#include "core/text.h"
#include "data/geographic.h"
#include "grid.h"

/* HDF5 below libnetcdf keeps unguarded state of its own: one call at a time in the process. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

/* HDF5 prints what fails below it, such as a look for an attribute that is not there. NetCDF turns
 * this off in the thread that came first; it is a setting of each thread, and every other one that
 * reads or writes turns it off for as long. */
typedef struct nc_session {
#ifdef SR_HAVE_HDF5
  H5E_auto2_t print;
  void *with;
#else
  char none;
#endif
} nc_session;

static void enter_library(nc_session *session) {
  pthread_mutex_lock(&library_lock);
  *session = (nc_session){0};
#ifdef SR_HAVE_HDF5
  nc_initialize();
  H5Eget_auto2(H5E_DEFAULT, &session->print, &session->with);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
#endif
}

static void leave_library(const nc_session *session) {
#ifdef SR_HAVE_HDF5
  H5Eset_auto2(H5E_DEFAULT, session->print, session->with);
#endif
  (void)session;
  pthread_mutex_unlock(&library_lock);
}

enum { MOST_DIMENSIONS = 16 };
/* What HDF5 takes where it opens or makes a file: it crashes where one of these is refused. */
enum { HDF5_BYTES = 24 << 20 };

typedef struct nc_variable {
  char name[NC_MAX_NAME + 1];
  int id;
  nc_type type;
  int dimensions;
  int dimension[MOST_DIMENSIONS];
  size_t length[MOST_DIMENSIONS];
  int64_t steps;   /* product of the dimensions before the last two */
  uint8_t *wanted; /* per step: 1 where it becomes a feature; NULL: none does */
} nc_variable;

typedef struct nc_file {
  const char *path;
  int id;
  nc_variable *variables; /* those on the grid */
  int64_t count;
  const char **names;
  int grid_dimension[2];
  sr__arena arena;
} nc_file;

/* HDF5 below NetCDF does not tell want of memory from a damaged file. */
static sr_status fail_nc(sr_context *ctx, const nc_file *file, int code, const char *what) {
  enum { LEAST_BYTES = 8 << 20 };
  if (sr__memory_check(ctx, LEAST_BYTES) != SR_OK) return SR_ERROR_MEMORY;
  return sr__fail_at(ctx, code == NC_ENOMEM ? SR_ERROR_MEMORY : SR_ERROR_FORMAT, file->path, 0, 0,
                     "cannot read or write %s: %s", what,
                     code == NC_ENOMEM ? "out of memory" : nc_strerror(code));
}

#define NC_TRY(expression, what)                                    \
  do {                                                              \
    int code_ = (expression);                                       \
    if (code_ != NC_NOERR) SR_TRY(fail_nc(ctx, file, code_, what)); \
  } while (0)

/* ---- which variables lie on the grid ------------------------------------------------------ */

static bool is_number(nc_type type) {
  return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR;
}

/* The id of the variable that gives the places along a dimension, or -1. */
static int coordinate_variable(const nc_file *file, int dimension) {
  char name[NC_MAX_NAME + 1];
  int id, dimensions, first;
  if (nc_inq_dimname(file->id, dimension, name) != NC_NOERR ||
      nc_inq_varid(file->id, name, &id) != NC_NOERR ||
      nc_inq_varndims(file->id, id, &dimensions) != NC_NOERR || dimensions != 1 ||
      nc_inq_vardimid(file->id, id, &first) != NC_NOERR || first != dimension)
    return -1;
  return id;
}

static sr_status describe(sr_context *ctx, const nc_file *file, int id, nc_variable *variable,
                          bool *usable) {
  sr_status status = SR_OK;
  *usable = false;
  *variable = (nc_variable){.id = id, .steps = 1};
  NC_TRY(nc_inq_varname(file->id, id, variable->name), "a variable");
  NC_TRY(nc_inq_vartype(file->id, id, &variable->type), variable->name);
  NC_TRY(nc_inq_varndims(file->id, id, &variable->dimensions), variable->name);
  if (!is_number(variable->type) || variable->dimensions < 2 ||
      variable->dimensions > MOST_DIMENSIONS)
    goto cleanup;
  NC_TRY(nc_inq_vardimid(file->id, id, variable->dimension), variable->name);
  for (int d = 0; d < variable->dimensions; d++) {
    NC_TRY(nc_inq_dimlen(file->id, variable->dimension[d], &variable->length[d]), variable->name);
    if (variable->length[d] > INT32_MAX) goto cleanup;
    if (d < variable->dimensions - 2 && variable->steps < INT32_MAX)
      variable->steps *= (int64_t)variable->length[d];
  }
  *usable = variable->length[variable->dimensions - 2] > 0 &&
            variable->length[variable->dimensions - 1] > 0;
cleanup:
  return status;
}

static int coordinates_of_grid(const nc_file *file, const nc_variable *variable) {
  const int *last = variable->dimension + variable->dimensions - 2;
  return (coordinate_variable(file, last[0]) >= 0) + (coordinate_variable(file, last[1]) >= 0);
}

/* The grid is that of the first variable whose last two dimensions have coordinates, so that bounds
 * and the like are passed over; where none has, that of the first variable. */
static void choose_grid(nc_file *file) {
  int best = -1;
  for (int64_t v = 0; v < file->count; v++) {
    int here = coordinates_of_grid(file, &file->variables[v]);
    if (here <= best) continue;
    best = here;
    memcpy(file->grid_dimension, file->variables[v].dimension + file->variables[v].dimensions - 2,
           2 * sizeof(int));
  }
  int64_t kept = 0;
  for (int64_t v = 0; v < file->count; v++) {
    const nc_variable *variable = &file->variables[v];
    if (memcmp(variable->dimension + variable->dimensions - 2, file->grid_dimension,
               2 * sizeof(int)) == 0)
      file->variables[kept++] = *variable;
  }
  file->count = kept;
}

static sr_status list_variables(sr_context *ctx, nc_file *file) {
  sr_status status = SR_OK;
  int total;
  NC_TRY(nc_inq_nvars(file->id, &total), "the list of variables");
  SR_NEW(ctx, file->variables, total);
  for (int id = 0; id < total; id++) {
    bool usable;
    SR_TRY(describe(ctx, file, id, &file->variables[file->count], &usable));
    if (usable) file->count++;
  }
  if (file->count == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, file->path, 0, 0,
                       "no variable of numbers has two dimensions or more, so there is no grid"));
  choose_grid(file);
  SR_NEW(ctx, file->names, file->count);
  for (int64_t v = 0; v < file->count; v++) file->names[v] = file->variables[v].name;
cleanup:
  return status;
}

/* ---- which steps are asked for ------------------------------------------------------------ */

/* Steps [first, end) of a variable. */
typedef struct nc_steps {
  nc_variable *variable;
  int64_t first, end;
} nc_steps;

static sr_status want_steps(sr_context *ctx, nc_file *file, nc_steps steps, uint8_t wanted) {
  nc_variable *variable = steps.variable;
  if (!variable->wanted) {
    variable->wanted = sr__arena_alloc(ctx, &file->arena, variable->steps, 1);
    if (!variable->wanted) return SR_ERROR_MEMORY;
    memset(variable->wanted, 0, (size_t)variable->steps);
  }
  memset(variable->wanted + steps.first, wanted, (size_t)(steps.end - steps.first));
  return SR_OK;
}

/* The steps that "sst:3" or "sst:1-24" names, [*first, *end); `colon` stands before them. Gives
 * what follows, or NULL where the steps are not there. */
static const char *read_steps(const nc_variable *variable, const char *colon, int64_t *first,
                              int64_t *end) {
  char *rest;
  long long from = strtoll(colon + 1, &rest, 10), to = from;
  if (*rest == '-' && isdigit((unsigned char)rest[1])) to = strtoll(rest + 1, &rest, 10);
  *first = from - 1;
  *end = to;
  return from >= 1 && to >= from && to <= variable->steps ? rest : NULL;
}

static sr_status fail_steps(sr_context *ctx, const nc_file *file, const char *what,
                            const char *asked, const nc_variable *variable) {
  return sr__fail_at(ctx, SR_ERROR_ARGUMENT, file->path, 0, 0,
                     "%s '%s' asks for steps that are not there; '%s' has steps 1 to %lld, written "
                     "as %s:1 or %s:1-%lld",
                     what, asked, variable->name, (long long)variable->steps, variable->name,
                     variable->name, (long long)variable->steps);
}

/* The variable of "sst", "sst:3" or "sst:1-24", and its steps, which count from 1. */
static sr_status find_steps(sr_context *ctx, nc_file *file, const char *what, const char *asked,
                            nc_steps *found) {
  sr_status status = SR_OK;
  char name[NC_MAX_NAME + 1];
  const char *colon = strrchr(asked, ':');
  int64_t v;
  bool steps = colon && isdigit((unsigned char)colon[1]);
  snprintf(name, sizeof name, "%.*s", steps ? (int)(colon - asked) : (int)strlen(asked), asked);
  SR_TRY(sr__find_column(ctx, (sr__file_columns){file->path, file->names, file->count}, what, name,
                         &v));
  nc_variable *variable = &file->variables[v];
  *found = (nc_steps){variable, 0, variable->steps};
  const char *rest = steps ? read_steps(variable, colon, &found->first, &found->end) : "";
  if (!rest || *rest) SR_TRY(fail_steps(ctx, file, what, asked, variable));
cleanup:
  return status;
}

/* A target is a variable of one step, or one step of a variable: "sst:684", "sst:684 > median". The
 * step is cut out of the text; *step is -1 where it names none. */
static sr_status cut_target_step(sr_context *ctx, const nc_file *file, const char *text, char **cut,
                                 int64_t *step) {
  *step = -1;
  *cut = text ? sr__strdup(ctx, text) : NULL;
  if (text && !*cut) return SR_ERROR_MEMORY;
  for (int64_t v = 0; text && v < file->count; v++) {
    const nc_variable *variable = &file->variables[v];
    size_t length = strlen(variable->name), blank = strspn(text, " ");
    const char *at = text + blank;
    int64_t end;
    if (strncmp(at, variable->name, length) != 0 || at[length] != ':' ||
        !isdigit((unsigned char)at[length + 1]))
      continue;
    const char *rest = read_steps(variable, at + length, step, &end);
    if (!rest || end != *step + 1) return fail_steps(ctx, file, "target", text, variable);
    memmove(*cut + blank + length, rest, strlen(rest) + 1);
    return SR_OK;
  }
  return SR_OK;
}

typedef struct nc_target {
  nc_variable *variable; /* NULL: none */
  int64_t step;
  const char *name;
  sr__target_rule rule;
} nc_target;

static sr_status choose_target(sr_context *ctx, nc_file *file, const sr_read_options *options,
                               nc_target *target) {
  sr_status status = SR_OK;
  sr_read_options asked = *options;
  char *cut = NULL;
  int64_t v;
  SR_TRY(cut_target_step(ctx, file, options->target, &cut, &target->step));
  asked.target = cut;
  SR_TRY(sr__find_target(ctx, (sr__file_columns){file->path, file->names, file->count}, &asked,
                         &target->rule, &v));
  if (v < 0) goto cleanup;
  nc_variable *variable = &file->variables[v];
  if (target->step < 0 && variable->steps != 1)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, file->path, 0, 0,
                       "target '%s' has %lld steps, a target has one; name it, such as %s:%lld",
                       options->target, (long long)variable->steps, variable->name,
                       (long long)variable->steps));
  if (target->step < 0) target->step = 0;
  target->variable = variable;
  nc_steps own = {variable, target->step, target->step + 1};
  if (variable->wanted) SR_TRY(want_steps(ctx, file, own, 0));
cleanup:
  sr__free(ctx, cut);
  return status;
}

static sr_status choose(sr_context *ctx, nc_file *file, const sr_read_options *options,
                        nc_target *target) {
  sr_status status = SR_OK;
  nc_steps found;
  for (int64_t v = 0; v < file->count && !options->variables; v++) {
    nc_variable *variable = &file->variables[v];
    SR_TRY(want_steps(ctx, file, (nc_steps){variable, 0, variable->steps}, 1));
  }
  for (const char *const *name = options->variables; name && *name; name++) {
    SR_TRY(find_steps(ctx, file, "variable", *name, &found));
    SR_TRY(want_steps(ctx, file, found, 1));
  }
  for (const char *const *name = options->drop; name && *name; name++) {
    SR_TRY(find_steps(ctx, file, "drop", *name, &found));
    SR_TRY(want_steps(ctx, file, found, 0));
  }
  SR_TRY(choose_target(ctx, file, options, target));
cleanup:
  return status;
}

/* ---- values ------------------------------------------------------------------------------- */

enum { MOST_MISSING = 16 };

/* How stored numbers become values. */
typedef struct packing {
  double scale, offset;
  double missing[MOST_MISSING]; /* stored numbers that stand for nothing */
  size_t missing_count;
  double lowest, highest; /* stored numbers outside are not valid */
  double wrap;            /* added to negative numbers that are unsigned in truth */
} packing;

static bool number_attribute(const nc_file *file, int id, const char *name, double *values,
                             size_t most, size_t *count) {
  nc_type type;
  size_t length;
  *count = 0;
  if (nc_inq_att(file->id, id, name, &type, &length) != NC_NOERR || !is_number(type) ||
      length == 0 || length > most || nc_get_att_double(file->id, id, name, values) != NC_NOERR)
    return false;
  *count = length;
  return true;
}

/* What libnetcdf writes where nothing was written; bytes have no such value. */
static bool default_fill(nc_type type, double *fill) {
  switch (type) {
    case NC_SHORT:
      *fill = NC_FILL_SHORT;
      return true;
    case NC_INT:
      *fill = NC_FILL_INT;
      return true;
    case NC_FLOAT:
      *fill = NC_FILL_FLOAT;
      return true;
    case NC_DOUBLE:
      *fill = NC_FILL_DOUBLE;
      return true;
    case NC_USHORT:
      *fill = NC_FILL_USHORT;
      return true;
    case NC_UINT:
      *fill = NC_FILL_UINT;
      return true;
    case NC_INT64:
      *fill = (double)NC_FILL_INT64;
      return true;
    case NC_UINT64:
      *fill = (double)NC_FILL_UINT64;
      return true;
    default:
      return false;
  }
}

static double unsigned_wrap(const nc_file *file, const nc_variable *variable) {
  char text[16] = "";
  size_t length;
  nc_type type;
  if (nc_inq_att(file->id, variable->id, "_Unsigned", &type, &length) != NC_NOERR ||
      type != NC_CHAR || length >= sizeof text ||
      nc_get_att_text(file->id, variable->id, "_Unsigned", text) != NC_NOERR ||
      strncasecmp(text, "true", 4) != 0)
    return 0;
  return variable->type == NC_BYTE    ? 256
         : variable->type == NC_SHORT ? 65536
         : variable->type == NC_INT   ? 4294967296.0
                                      : 0;
}

static packing read_packing(const nc_file *file, const nc_variable *variable) {
  packing p = {.scale = 1, .lowest = -INFINITY, .highest = INFINITY};
  double range[2];
  size_t count;
  int id = variable->id;
  if (number_attribute(file, id, "_FillValue", p.missing, 1, &count))
    p.missing_count = 1;
  else
    p.missing_count = default_fill(variable->type, &p.missing[0]);
  if (number_attribute(file, id, "missing_value", p.missing + p.missing_count,
                       MOST_MISSING - p.missing_count, &count))
    p.missing_count += count;
  if (number_attribute(file, id, "valid_range", range, 2, &count) && count == 2) {
    p.lowest = range[0];
    p.highest = range[1];
  }
  number_attribute(file, id, "valid_min", &p.lowest, 1, &count);
  number_attribute(file, id, "valid_max", &p.highest, 1, &count);
  number_attribute(file, id, "scale_factor", &p.scale, 1, &count);
  number_attribute(file, id, "add_offset", &p.offset, 1, &count);
  p.wrap = unsigned_wrap(file, variable);
  return p;
}

static double unpack(const packing *p, double stored) {
  for (size_t m = 0; m < p->missing_count; m++) {
    if (stored == p->missing[m]) return NAN;
  }
  if (p->wrap > 0 && stored < 0) stored += p->wrap;
  if (!(stored >= p->lowest && stored <= p->highest)) return NAN;
  return stored * p->scale + p->offset;
}

/* One step of a variable: the whole grid. */
static sr_status read_step(sr_context *ctx, const nc_file *file, const nc_variable *variable,
                           int64_t step, const packing *p, double *values) {
  sr_status status = SR_OK;
  size_t start[MOST_DIMENSIONS] = {0}, count[MOST_DIMENSIONS], cells = 1;
  for (int d = variable->dimensions - 3; d >= 0; d--) {
    start[d] = (size_t)step % variable->length[d];
    step /= (int64_t)variable->length[d];
  }
  for (int d = 0; d < variable->dimensions; d++) {
    count[d] = d < variable->dimensions - 2 ? 1 : variable->length[d];
    cells *= count[d];
  }
  SR_TRY(sr__check_interrupt(ctx));
  NC_TRY(nc_get_vara_double(file->id, variable->id, start, count, values), variable->name);
  for (size_t i = 0; i < cells; i++) values[i] = unpack(p, values[i]);
cleanup:
  return status;
}

static sr_status read_variable(sr_context *ctx, const nc_file *file, const nc_variable *variable,
                               sr__grid *grid, double *values, int64_t *feature) {
  sr_status status = SR_OK;
  int64_t cells = grid->rows * grid->columns;
  const packing p = read_packing(file, variable);
  for (int64_t step = 0; variable->wanted && step < variable->steps; step++) {
    if (!variable->wanted[step]) continue;
    SR_TRY(read_step(ctx, file, variable, step, &p, values));
    float *x = grid->x + *feature * cells;
    SR_TRY(sr__grid_store(ctx, file->path, variable->name, values, cells, x));
    sr__progress(ctx, "reading", ++*feature, grid->features);
  }
cleanup:
  return status;
}

/* Places along one dimension: its coordinate variable, else 0, 1, 2 ... */
static sr_status read_axis(sr_context *ctx, const nc_file *file, int dimension, int64_t length,
                           double *places) {
  sr_status status = SR_OK;
  int id = coordinate_variable(file, dimension);
  nc_type type;
  for (int64_t i = 0; i < length; i++) places[i] = (double)i;
  if (id >= 0 && nc_inq_vartype(file->id, id, &type) == NC_NOERR && is_number(type)) {
    const nc_variable axis = {.id = id, .type = type};
    packing p = read_packing(file, &axis);
    NC_TRY(nc_get_var_double(file->id, id, places), "a coordinate variable");
    for (int64_t i = 0; i < length; i++) places[i] = places[i] * p.scale + p.offset;
  }
cleanup:
  return status;
}

static sr_status read_coordinates(sr_context *ctx, const nc_file *file, sr__grid *grid) {
  sr_status status = SR_OK;
  double *down = NULL, *along = NULL;
  int64_t cells = grid->rows * grid->columns;
  SR_NEW(ctx, down, grid->rows);
  SR_NEW(ctx, along, grid->columns);
  SR_TRY(read_axis(ctx, file, file->grid_dimension[0], grid->rows, down));
  SR_TRY(read_axis(ctx, file, file->grid_dimension[1], grid->columns, along));
  for (int64_t i = 0; i < cells; i++) {
    grid->coordinates[i] = along[i % grid->columns];
    grid->coordinates[cells + i] = down[i / grid->columns];
  }
cleanup:
  sr__free(ctx, along);
  sr__free(ctx, down);
  return status;
}

/* Whether an axis counts degrees: 0 of longitude, 1 of latitude, else -1; by its units, else by its
 * name. */
static int degrees_of(const nc_file *file, int dimension) {
  char text[NC_MAX_NAME + 1] = "";
  size_t length;
  nc_type type;
  int id = coordinate_variable(file, dimension);
  if (id >= 0 && nc_inq_att(file->id, id, "units", &type, &length) == NC_NOERR && type == NC_CHAR &&
      length < sizeof text && nc_get_att_text(file->id, id, "units", text) == NC_NOERR) {
    text[length] = '\0';
    if (strncmp(text, "degree", 6) == 0 && sr__degree_axis(text) >= 0) return sr__degree_axis(text);
  }
  if (id < 0 || nc_inq_dimname(file->id, dimension, text) != NC_NOERR) return -1;
  return sr__degree_axis(text);
}

static bool has_degrees(const nc_file *file) {
  return degrees_of(file, file->grid_dimension[1]) == 0 &&
         degrees_of(file, file->grid_dimension[0]) == 1;
}

/* ---- all of it ---------------------------------------------------------------------------- */

/* sst where a variable has one step, else sst:1, sst:2 ... */
static const char *name_step(sr_context *ctx, nc_file *file, const nc_variable *variable,
                             int64_t step) {
  enum { NUMBER_BYTES = 24 };
  int64_t bytes = (int64_t)strlen(variable->name) + NUMBER_BYTES;
  char *name = sr__arena_alloc(ctx, &file->arena, bytes, 1);
  if (name && variable->steps == 1)
    snprintf(name, (size_t)bytes, "%s", variable->name);
  else if (name)
    snprintf(name, (size_t)bytes, "%s:%lld", variable->name, (long long)step + 1);
  return name;
}

static sr_status name_features(sr_context *ctx, nc_file *file, int64_t features,
                               const char ***names) {
  sr_status status = SR_OK;
  int64_t next = 0;
  SR_NEW(ctx, *names, features);
  for (int64_t v = 0; v < file->count; v++) {
    const nc_variable *variable = &file->variables[v];
    for (int64_t step = 0; variable->wanted && step < variable->steps; step++) {
      if (!variable->wanted[step]) continue;
      (*names)[next] = name_step(ctx, file, variable, step);
      if (!(*names)[next++]) SR_TRY(SR_ERROR_MEMORY);
    }
  }
cleanup:
  return status;
}

static sr_status read_grid(sr_context *ctx, nc_file *file, nc_target *target, sr__grid *grid,
                           const char ***names) {
  sr_status status = SR_OK;
  double *values = NULL;
  int64_t feature = 0;
  for (int64_t v = 0; v < file->count; v++) {
    const nc_variable *variable = &file->variables[v];
    grid->rows = (int64_t)variable->length[variable->dimensions - 2];
    grid->columns = (int64_t)variable->length[variable->dimensions - 1];
    for (int64_t step = 0; variable->wanted && step < variable->steps; step++)
      grid->features += variable->wanted[step];
  }
  if (target->variable) {
    grid->target_rule = target->rule;
    grid->target_name = target->name = name_step(ctx, file, target->variable, target->step);
    if (!target->name) SR_TRY(SR_ERROR_MEMORY);
  }
  SR_TRY(sr__grid_allocate(ctx, grid));
  SR_TRY(name_features(ctx, file, grid->features, names));
  grid->names = *names;
  if (has_degrees(file)) grid->projection = sr__wgs84;
  SR_NEW(ctx, values, grid->rows * grid->columns);
  for (int64_t v = 0; v < file->count; v++)
    SR_TRY(read_variable(ctx, file, &file->variables[v], grid, values, &feature));
  if (target->variable) {
    const packing p = read_packing(file, target->variable);
    SR_TRY(read_step(ctx, file, target->variable, target->step, &p, grid->target));
  }
  SR_TRY(read_coordinates(ctx, file, grid));
cleanup:
  sr__free(ctx, values);
  return status;
}

static sr_status read_netcdf(sr_context *ctx, const char *path, const sr_read_options *options,
                             sr_table **table) {
  sr_status status = SR_OK;
  nc_file opened = {.path = path, .id = -1}, *file = &opened;
  sr__grid grid = {.file = path};
  const char **names = NULL;
  nc_target target = {0};
  nc_session session;
  *table = NULL;
  SR_TRY(sr__grid_check_options(ctx, path, options));
  SR_TRY(sr__memory_check(ctx, HDF5_BYTES));
  enter_library(&session);
  int code = nc_open(path, NC_NOWRITE, &file->id);
  if (code != NC_NOERR) {
    file->id = -1;
    status = fail_nc(ctx, file, code, "the file as NetCDF");
  }
  if (status == SR_OK) status = list_variables(ctx, file);
  if (status == SR_OK) status = choose(ctx, file, options, &target);
  if (status == SR_OK) status = read_grid(ctx, file, &target, &grid, &names);
  if (file->id >= 0) nc_close(file->id);
  leave_library(&session);
  if (status == SR_OK) status = sr__grid_to_table(ctx, &grid, table);
cleanup:
  sr__grid_free(ctx, &grid);
  sr__free(ctx, names);
  sr__free(ctx, file->names);
  sr__free(ctx, file->variables);
  sr__arena_free(ctx, &file->arena);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* A flag's meaning is one word of the conventions: letters, digits and _-.+@; letters beyond ASCII
 * stay as they are. */
static void join_words(char *text, int64_t length) {
  for (int64_t k = 0; k < length; k++) {
    unsigned char c = (unsigned char)text[k];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 128;
    if (!letter && !(c >= '0' && c <= '9') && !strchr("_-.+@", c)) text[k] = '_';
  }
}

/* Codes of classes that are no numbers get their names the way of the CF conventions. */
static sr_status describe_classes(sr_context *ctx, const nc_file *file, int id,
                                  const sr_table_view *t) {
  sr_status status = SR_OK;
  sr__text meanings = {0};
  int *codes = NULL;
  SR_NEW(ctx, codes, t->classes.count);
  for (int32_t c = 0; c < t->classes.count; c++) {
    codes[c] = c;
    SR_TRY(sr__text_print(ctx, &meanings, "%s%s", c ? " " : "", t->classes.names[c]));
    int64_t named = (int64_t)strlen(t->classes.names[c]);
    join_words(meanings.bytes + meanings.length - named, named);
  }
  NC_TRY(nc_put_att_int(file->id, id, "flag_values", NC_INT, (size_t)t->classes.count, codes),
         "flag_values");
  NC_TRY(nc_put_att_text(file->id, id, "flag_meanings", (size_t)meanings.length, meanings.bytes),
         "flag_meanings");
cleanup:
  sr__free(ctx, codes);
  sr__free(ctx, meanings.bytes);
  return status;
}

static sr_status put_text(sr_context *ctx, const nc_file *file, int id, const char *key,
                          const char *text) {
  sr_status status = SR_OK;
  NC_TRY(nc_put_att_text(file->id, id, key, strlen(text), text), key);
cleanup:
  return status;
}

/* What the CF conventions call an axis: degrees, or a projected coordinate. */
typedef struct cf_axis {
  const char *name, *standard, *units, *letter;
} cf_axis;
static const cf_axis degrees[2] = {{"lon", "longitude", "degrees_east", "X"},
                                   {"lat", "latitude", "degrees_north", "Y"}};
static const cf_axis lengths[2] = {{"x", "projection_x_coordinate", "m", "X"},
                                   {"y", "projection_y_coordinate", "m", "Y"}};

static bool is_layer(const sr_table_view *t, const char *name) {
  for (int64_t layer = 0; layer < sr__grid_layers(t); layer++) {
    bool is_target;
    char numbered[32];
    if (strcmp(sr__grid_layer_name(t, layer, &is_target, numbered), name) == 0) return true;
  }
  return false;
}

/* Layers keep their names; what the file adds of its own, axes and reference system, gives way:
 * y, axis_y, axis_axis_y ... */
static sr_status name_apart(sr_context *ctx, const sr_table_view *t, const char *name,
                            sr__arena *arena, const char **apart) {
  static const char before[] = "axis_";
  while (is_layer(t, name)) {
    size_t bytes = sizeof before + strlen(name);
    char *longer = sr__arena_alloc(ctx, arena, (int64_t)bytes, 1);
    if (!longer) return SR_ERROR_MEMORY;
    snprintf(longer, bytes, "%s%s", before, name);
    name = longer;
  }
  *apart = name;
  return SR_OK;
}

/* The middles of cells along a dimension: first + (i + 1/2) step, i < length. */
typedef struct axis_places {
  int dimension;
  int64_t length;
  double first, step;
} axis_places;

static sr_status put_axis(sr_context *ctx, const nc_file *file, const cf_axis *axis,
                          bool referenced, axis_places at) {
  sr_status status = SR_OK;
  double *place = NULL;
  int id;
  SR_NEW(ctx, place, at.length);
  for (int64_t i = 0; i < at.length; i++) place[i] = at.first + ((double)i + 0.5) * at.step;
  NC_TRY(nc_def_var(file->id, axis->name, NC_DOUBLE, 1, &at.dimension, &id), axis->name);
  SR_TRY(put_text(ctx, file, id, "axis", axis->letter));
  if (referenced) {
    SR_TRY(put_text(ctx, file, id, "standard_name", axis->standard));
    SR_TRY(put_text(ctx, file, id, "units", axis->units));
  }
  NC_TRY(nc_put_var_double(file->id, id, place), axis->name);
cleanup:
  sr__free(ctx, place);
  return status;
}

static sr_status put_layers(sr_context *ctx, const nc_file *file, const int dimensions[2],
                            const sr_table_view *t, const char *reference) {
  sr_status status = SR_OK;
  double *cells = NULL, *class_values = NULL;
  SR_NEW(ctx, cells, t->grid_rows * t->grid_columns);
  SR_TRY(sr__grid_class_values(ctx, t, &class_values));
  for (int64_t layer = 0; layer < sr__grid_layers(t); layer++) {
    bool is_target;
    char numbered[32];
    const char *name = sr__grid_layer_name(t, layer, &is_target, numbered);
    int id;
    const double missing = NAN;
    nc_type type = is_target ? NC_DOUBLE : NC_FLOAT;
    SR_TRY(sr__check_interrupt(ctx));
    sr__grid_layer(t, class_values, layer, cells);
    NC_TRY(nc_def_var(file->id, name, type, 2, dimensions, &id), name);
    NC_TRY(nc_put_att_double(file->id, id, "_FillValue", type, 1, &missing), name);
    NC_TRY(nc_def_var_deflate(file->id, id, 1, 1, 4), name);
    SR_TRY(put_text(ctx, file, id, "long_name", name));
    if (t->projection) SR_TRY(put_text(ctx, file, id, "grid_mapping", reference));
    if (is_target && t->label && !sr__classes_are_numbers(t))
      SR_TRY(describe_classes(ctx, file, id, t));
    NC_TRY(nc_put_var_double(file->id, id, cells), name);
  }
cleanup:
  sr__free(ctx, class_values);
  sr__free(ctx, cells);
  return status;
}

static sr_status fill_file(sr_context *ctx, nc_file *file, const sr_table_view *t) {
  sr_status status = SR_OK;
  double transform[6];
  int dimensions[2];
  const char *reference = NULL;
  SR_TRY(sr__grid_transform(ctx, t, "a NetCDF file", transform));
  if (transform[2] != 0 || transform[4] != 0) {
    double side = fabs(transform[1]) + fabs(transform[5]);
    if (fabs(transform[2]) + fabs(transform[4]) > 1e-6 * side)
      SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                      "the lattice is turned against its coordinates, which a NetCDF axis cannot "
                      "say; write .tif instead"));
  }
  cf_axis axis[2];
  bool in_degrees = sr__is_geographic(t->projection);
  memcpy(axis, in_degrees ? degrees : lengths, sizeof axis);
  for (int k = 0; k < 2; k++) SR_TRY(name_apart(ctx, t, axis[k].name, &file->arena, &axis[k].name));
  SR_TRY(name_apart(ctx, t, "crs", &file->arena, &reference));
  bool referenced = t->projection != NULL;
  SR_TRY(put_text(ctx, file, NC_GLOBAL, "Conventions", "CF-1.8"));
  NC_TRY(nc_def_dim(file->id, axis[1].name, (size_t)t->grid_rows, &dimensions[0]), axis[1].name);
  NC_TRY(nc_def_dim(file->id, axis[0].name, (size_t)t->grid_columns, &dimensions[1]), axis[0].name);
  if (referenced) {
    int id;
    NC_TRY(nc_def_var(file->id, reference, NC_INT, 0, NULL, &id), reference);
    SR_TRY(put_text(ctx, file, id, "crs_wkt", t->projection));
    if (in_degrees) SR_TRY(put_text(ctx, file, id, "grid_mapping_name", "latitude_longitude"));
  }
  SR_TRY(put_axis(ctx, file, &axis[1], referenced,
                  (axis_places){dimensions[0], t->grid_rows, transform[3], transform[5]}));
  SR_TRY(put_axis(ctx, file, &axis[0], referenced,
                  (axis_places){dimensions[1], t->grid_columns, transform[0], transform[1]}));
  SR_TRY(put_layers(ctx, file, dimensions, t, reference));
cleanup:
  return status;
}

/* The file is made in memory and written whole, as all others are. */
static sr_status write_netcdf(sr_context *ctx, const sr_table_view *t, const char *path) {
  sr_status status = SR_OK;
  nc_file made = {.path = path, .id = -1}, *file = &made;
  NC_memio memory = {0};
  sr__writer *writer = NULL;
  nc_session session;
  SR_TRY(sr__memory_check(ctx, HDF5_BYTES));
  enter_library(&session);
  int code = nc_create_mem(path, NC_NETCDF4, 0, &file->id);
  if (code != NC_NOERR) status = fail_nc(ctx, file, code, "a new file in memory");
  if (status == SR_OK) {
    status = fill_file(ctx, file, t);
    code = nc_close_memio(file->id, &memory);
    if (status == SR_OK && code != NC_NOERR) status = fail_nc(ctx, file, code, "the file");
  }
  leave_library(&session);
  SR_TRY(status);
  SR_TRY(sr__writer_open(ctx, path, &writer));
  SR_TRY(sr__writer_put(writer, memory.memory, memory.size));
  SR_TRY(sr__writer_commit(&writer));
cleanup:
  sr__writer_abort(&writer);
  sr__arena_free(ctx, &file->arena);
  free(memory.memory);
  return status;
}

#define READ read_netcdf
#define WRITE write_netcdf
#define MISSING NULL
#else
#define READ NULL
#define WRITE NULL
#define MISSING "NetCDF (Debian: libnetcdf-dev)"
#endif

static sr__recognition recognize(const sr__beginning *beginning) {
  const char *b = beginning->bytes;
  bool classic = beginning->size > 3 && memcmp(b, "CDF", 3) == 0 && b[3] <= 5;
  bool hdf = beginning->size >= 6 && memcmp(b, "\x89HDF\r\n", 6) == 0;
  return classic || hdf ? SR__CERTAIN : SR__NOT_RECOGNIZED;
}

const sr__format sr__format_netcdf = {.about = {"netcdf",
                                                "NetCDF variables on one grid, a row per cell",
                                                NULL, 0, MISSING},
                                      SR__ENDINGS_3(".nc", ".nc4", ".cdf"),
                                      .recognize = recognize,
                                      .read_path = READ,
                                      .write = WRITE};
