/* Attributes of NetCDF variables, and what their stored numbers stand for. */
#include <math.h>
#include <strings.h>

#include "netcdf_file.h"

sr_status sr__nc_fail(sr_context *ctx, const sr__nc_file *file, int code, const char *what) {
  enum { LEAST_BYTES = 8 << 20 };
  if (sr__memory_check(ctx, LEAST_BYTES) != SR_OK) return SR_ERROR_MEMORY;
  return sr__fail_at(ctx, code == NC_ENOMEM ? SR_ERROR_MEMORY : SR_ERROR_FORMAT, file->path, 0, 0,
                     "cannot read or write %s: %s", what,
                     code == NC_ENOMEM ? "out of memory" : nc_strerror(code));
}

bool sr__nc_is_number(nc_type type) {
  return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR;
}

void sr__nc_text(const sr__nc_file *file, int id, const char *name, char *text, size_t size) {
  size_t length;
  nc_type type;
  memset(text, 0, size);
  if (nc_inq_att(file->id, id, name, &type, &length) != NC_NOERR || type != NC_CHAR ||
      length >= size || nc_get_att_text(file->id, id, name, text) != NC_NOERR)
    text[0] = '\0';
}

static bool number_attribute(const sr__nc_file *file, int id, const char *name, double *values,
                             size_t most, size_t *count) {
  nc_type type;
  size_t length;
  *count = 0;
  if (nc_inq_att(file->id, id, name, &type, &length) != NC_NOERR || !sr__nc_is_number(type) ||
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

static double unsigned_wrap(const sr__nc_file *file, const sr__nc_variable *variable) {
  char text[16];
  sr__nc_text(file, variable->id, "_Unsigned", text, sizeof text);
  if (strncasecmp(text, "true", 4) != 0) return 0;
  return variable->type == NC_BYTE    ? 256
         : variable->type == NC_SHORT ? 65536
         : variable->type == NC_INT   ? 4294967296.0
                                      : 0;
}

sr__nc_packing sr__nc_packing_of(const sr__nc_file *file, const sr__nc_variable *variable) {
  sr__nc_packing p = {.scale = 1, .lowest = -INFINITY, .highest = INFINITY};
  double range[2];
  size_t count;
  int id = variable->id;
  if (number_attribute(file, id, "_FillValue", p.missing, 1, &count))
    p.missing_count = 1;
  else
    p.missing_count = default_fill(variable->type, &p.missing[0]);
  if (number_attribute(file, id, "missing_value", p.missing + p.missing_count,
                       SR__NC_MISSING - p.missing_count, &count))
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

double sr__nc_unpack(const sr__nc_packing *p, double stored) {
  for (size_t m = 0; m < p->missing_count; m++) {
    if (stored == p->missing[m]) return NAN;
  }
  if (p->wrap > 0 && stored < 0) stored += p->wrap;
  if (!(stored >= p->lowest && stored <= p->highest)) return NAN;
  return stored * p->scale + p->offset;
}
