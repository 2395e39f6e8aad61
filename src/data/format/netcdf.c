/* NetCDF variables on a common grid as a table of cells. The last two dimensions of a variable are
 * the grid; every step of the dimensions before them (time, level) is a feature of its own. */
#include "format.h"

#ifdef SR_HAVE_NETCDF
#include <ctype.h>
#ifdef SR_HAVE_HDF5
#include <hdf5.h>
#endif
#include <netcdf.h>
#include <netcdf_mem.h>
#include <pthread.h>
#include <stdlib.h>

#include "netcdf_file.h"

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

/* What HDF5 takes where it opens or makes a file: it crashes where one of these is refused. */
enum { HDF5_BYTES = 24 << 20 };

/* ---- which variables lie on the grid ------------------------------------------------------ */

static sr_status describe(sr_context *ctx, const sr__nc_file *file, int id,
                          sr__nc_variable *variable, bool *usable) {
  sr_status status = SR_OK;
  *usable = false;
  *variable = (sr__nc_variable){.id = id, .steps = 1};
  NC_TRY(nc_inq_varname(file->id, id, variable->name), "a variable");
  NC_TRY(nc_inq_vartype(file->id, id, &variable->type), variable->name);
  NC_TRY(nc_inq_varndims(file->id, id, &variable->dimensions), variable->name);
  if (!sr__nc_is_number(variable->type) || variable->dimensions < 2 ||
      variable->dimensions > SR__NC_DIMENSIONS)
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

static int coordinates_of_grid(const sr__nc_file *file, const sr__nc_variable *variable) {
  const int *last = variable->dimension + variable->dimensions - 2;
  return (sr__nc_axis_variable(file, last[0]) >= 0) + (sr__nc_axis_variable(file, last[1]) >= 0);
}

/* A longitude or latitude of every cell, and no bounds of an axis. */
static bool is_place(const sr__nc_file *file, const sr__nc_variable *variable) {
  return variable->steps == 1 && sr__nc_degrees_of(file, variable->id) >= 0 &&
         coordinates_of_grid(file, variable) == 0;
}

/* The grid is that of the first variable whose last two dimensions have coordinates, so that bounds
 * and the like are passed over; where none has, that of the first longitude or latitude of every
 * cell, else of the first variable. */
static void choose_grid(sr__nc_file *file) {
  int best = -1;
  for (int64_t v = 0; v < file->count; v++) {
    int here = 2 * coordinates_of_grid(file, &file->variables[v]);
    if (here == 0) here = is_place(file, &file->variables[v]) ? 3 : 0;
    if (here <= best) continue;
    best = here;
    memcpy(file->grid_dimension, file->variables[v].dimension + file->variables[v].dimensions - 2,
           2 * sizeof(int));
  }
  int64_t kept = 0;
  for (int64_t v = 0; v < file->count; v++) {
    const sr__nc_variable *variable = &file->variables[v];
    if (memcmp(variable->dimension + variable->dimensions - 2, file->grid_dimension,
               2 * sizeof(int)) == 0)
      file->variables[kept++] = *variable;
  }
  file->count = kept;
}

static sr_status list_variables(sr_context *ctx, sr__nc_file *file) {
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
  SR_TRY(sr__nc_refuse_time(ctx, file));
  sr__nc_take_places(file);
  if (file->count == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, file->path, 0, 0,
                       "the grid holds longitudes and latitudes and nothing else"));
  SR_NEW(ctx, file->names, file->count);
  for (int64_t v = 0; v < file->count; v++) file->names[v] = file->variables[v].name;
cleanup:
  return status;
}

/* ---- which steps are asked for ------------------------------------------------------------ */

/* Steps [first, end) of a variable. */
typedef struct nc_steps {
  sr__nc_variable *variable;
  int64_t first, end;
} nc_steps;

static sr_status want_steps(sr_context *ctx, sr__nc_file *file, nc_steps steps, uint8_t wanted) {
  sr__nc_variable *variable = steps.variable;
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
static const char *read_steps(const sr__nc_variable *variable, const char *colon, int64_t *first,
                              int64_t *end) {
  char *rest;
  long long from = strtoll(colon + 1, &rest, 10), to = from;
  if (*rest == '-' && isdigit((unsigned char)rest[1])) to = strtoll(rest + 1, &rest, 10);
  *first = from - 1;
  *end = to;
  return from >= 1 && to >= from && to <= variable->steps ? rest : NULL;
}

static sr_status fail_steps(sr_context *ctx, const sr__nc_file *file, const char *what,
                            const char *asked, const sr__nc_variable *variable) {
  return sr__fail_at(ctx, SR_ERROR_ARGUMENT, file->path, 0, 0,
                     "%s '%s' asks for steps that are not there; '%s' has steps 1 to %lld, written "
                     "as %s:1 or %s:1-%lld",
                     what, asked, variable->name, (long long)variable->steps, variable->name,
                     variable->name, (long long)variable->steps);
}

/* The variable of "sst", "sst:3" or "sst:1-24", and its steps, which count from 1. */
static sr_status find_steps(sr_context *ctx, sr__nc_file *file, const char *what, const char *asked,
                            nc_steps *found) {
  sr_status status = SR_OK;
  char name[NC_MAX_NAME + 1];
  const char *colon = strrchr(asked, ':');
  int64_t v;
  bool steps = colon && isdigit((unsigned char)colon[1]);
  snprintf(name, sizeof name, "%.*s", steps ? (int)(colon - asked) : (int)strlen(asked), asked);
  SR_TRY(sr__find_column(ctx, (sr__file_columns){file->path, file->names, file->count}, what, name,
                         &v));
  sr__nc_variable *variable = &file->variables[v];
  *found = (nc_steps){variable, 0, variable->steps};
  const char *rest = steps ? read_steps(variable, colon, &found->first, &found->end) : "";
  if (!rest || *rest) SR_TRY(fail_steps(ctx, file, what, asked, variable));
cleanup:
  return status;
}

/* A target is a variable of one step, or one step of a variable: "sst:684", "sst:684 > median". The
 * step is cut out of the text; *step is -1 where it names none. */
static sr_status cut_target_step(sr_context *ctx, const sr__nc_file *file, const char *text,
                                 char **cut, int64_t *step) {
  *step = -1;
  *cut = text ? sr__strdup(ctx, text) : NULL;
  if (text && !*cut) return SR_ERROR_MEMORY;
  for (int64_t v = 0; text && v < file->count; v++) {
    const sr__nc_variable *variable = &file->variables[v];
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
  sr__nc_variable *variable; /* NULL: none */
  int64_t step;
  const char *name;
  sr__target_rule rule;
} nc_target;

static sr_status choose_target(sr_context *ctx, sr__nc_file *file, const sr_read_options *options,
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
  sr__nc_variable *variable = &file->variables[v];
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

static sr_status choose(sr_context *ctx, sr__nc_file *file, const sr_read_options *options,
                        nc_target *target) {
  sr_status status = SR_OK;
  nc_steps found;
  for (int64_t v = 0; v < file->count && !options->variables; v++) {
    sr__nc_variable *variable = &file->variables[v];
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

/* One step of a variable: the whole grid. */
static sr_status read_step(sr_context *ctx, const sr__nc_file *file,
                           const sr__nc_variable *variable, int64_t step, const sr__nc_packing *p,
                           double *values) {
  sr_status status = SR_OK;
  size_t start[SR__NC_DIMENSIONS] = {0}, count[SR__NC_DIMENSIONS], cells = 1;
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
  for (size_t i = 0; i < cells; i++) values[i] = sr__nc_unpack(p, values[i]);
cleanup:
  return status;
}

static sr_status read_variable(sr_context *ctx, const sr__nc_file *file,
                               const sr__nc_variable *variable, sr__grid *grid, double *values,
                               int64_t *feature) {
  sr_status status = SR_OK;
  int64_t cells = grid->rows * grid->columns;
  const sr__nc_packing p = sr__nc_packing_of(file, variable);
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

/* ---- all of it ---------------------------------------------------------------------------- */

/* sst where a variable has one step, else sst:1, sst:2 ... */
static const char *name_step(sr_context *ctx, sr__nc_file *file, const sr__nc_variable *variable,
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

static sr_status name_features(sr_context *ctx, sr__nc_file *file, int64_t features,
                               const char ***names) {
  sr_status status = SR_OK;
  int64_t next = 0;
  SR_NEW(ctx, *names, features);
  for (int64_t v = 0; v < file->count; v++) {
    const sr__nc_variable *variable = &file->variables[v];
    for (int64_t step = 0; variable->wanted && step < variable->steps; step++) {
      if (!variable->wanted[step]) continue;
      (*names)[next] = name_step(ctx, file, variable, step);
      if (!(*names)[next++]) SR_TRY(SR_ERROR_MEMORY);
    }
  }
cleanup:
  return status;
}

static sr_status read_grid(sr_context *ctx, sr__nc_file *file, nc_target *target, sr__grid *grid,
                           const char ***names) {
  sr_status status = SR_OK;
  double *values = NULL;
  int64_t feature = 0;
  for (int64_t v = 0; v < file->count; v++) {
    const sr__nc_variable *variable = &file->variables[v];
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
  SR_NEW(ctx, values, grid->rows * grid->columns);
  for (int64_t v = 0; v < file->count; v++)
    SR_TRY(read_variable(ctx, file, &file->variables[v], grid, values, &feature));
  if (target->variable) {
    const sr__nc_packing p = sr__nc_packing_of(file, target->variable);
    SR_TRY(read_step(ctx, file, target->variable, target->step, &p, grid->target));
  }
  SR_TRY(sr__nc_place_cells(ctx, file, grid));
cleanup:
  sr__free(ctx, values);
  return status;
}

static sr_status read_netcdf(sr_context *ctx, const char *path, const sr_read_options *options,
                             sr_table **table) {
  sr_status status = SR_OK;
  sr__nc_file opened = {.path = path, .id = -1}, *file = &opened;
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
    status = sr__nc_fail(ctx, file, code, "the file as NetCDF");
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

/* The file is made in memory and written whole, as all others are. */
static sr_status write_netcdf(sr_context *ctx, const sr_table_view *t, const char *path) {
  sr_status status = SR_OK;
  sr__nc_file made = {.path = path, .id = -1}, *file = &made;
  NC_memio memory = {0};
  sr__writer *writer = NULL;
  nc_session session;
  SR_TRY(sr__memory_check(ctx, HDF5_BYTES));
  enter_library(&session);
  int code = nc_create_mem(path, NC_NETCDF4, 0, &file->id);
  if (code != NC_NOERR) status = sr__nc_fail(ctx, file, code, "a new file in memory");
  if (status == SR_OK) {
    status = sr__nc_fill(ctx, file, t);
    code = nc_close_memio(file->id, &memory);
    if (status == SR_OK && code != NC_NOERR) status = sr__nc_fail(ctx, file, code, "the file");
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
