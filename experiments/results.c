#include "results.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include <jansson.h>

const char *experiment_scale_name(experiment_scale scale) {
  return scale == SCALE_FULL ? "full" : "quick";
}

void results_path(const char *folder, const experiment *e, experiment_scale scale, char *path,
                  size_t size) {
  snprintf(path, size, "%s/%s-%s.jsonl", folder, e->measured_by ? e->measured_by : e->about.name,
           experiment_scale_name(scale));
}

/* ---- measurements ------------------------------------------------------------------------- */

void experiment_measure(measurement *out, const char *name, double value) {
  if (out->count == MAX_VALUES) return;
  snprintf(out->name[out->count], VALUE_NAME_SIZE, "%s", name);
  out->value[out->count++] = value;
}

sr_status experiment_refuse(measurement *out, sr_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out->reason, sizeof out->reason, format, arguments);
  va_end(arguments);
  return status;
}

/* ---- lines -------------------------------------------------------------------------------- */

static bool parse_values(json_t *values, measurement *out) {
  const char *name;
  json_t *value;
  if (!json_is_object(values)) return false;
  json_object_foreach(values, name, value) {
    if (!json_is_number(value) && !json_is_null(value)) return false;
    experiment_measure(out, name, json_is_null(value) ? NAN : json_number_value(value));
  }
  return true;
}

static bool parse_line(const char *line, size_t length, result *out) {
  memset(out, 0, sizeof *out);
  json_t *object = json_loadb(line, length, 0, NULL);
  const char *name = json_string_value(json_object_get(object, "case"));
  const char *commit = json_string_value(json_object_get(object, "commit"));
  json_t *seed = json_object_get(object, "seed");
  bool good = name && strlen(name) < CASE_NAME_SIZE && json_is_integer(seed) &&
              parse_values(json_object_get(object, "values"), &out->measured);
  if (good) {
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->commit, sizeof out->commit, "%s", commit ? commit : "unknown");
    out->seed = (uint64_t)json_integer_value(seed);
    out->seconds = json_number_value(json_object_get(object, "seconds"));
  }
  json_decref(object);
  return good;
}

/* The case's name says its parameters: "T=10 plan=uniform" -> {"T":10,"plan":"uniform"}. */
static json_t *parameters_of(const char *case_name) {
  json_t *object = json_object();
  char copy[CASE_NAME_SIZE], *rest = copy, *word;
  snprintf(copy, sizeof copy, "%s", case_name);
  while ((word = strsep(&rest, " "))) {
    char *value = strchr(word, '='), *end = NULL;
    if (!value) continue;
    *value++ = '\0';
    double number = strtod(value, &end);
    bool numeric = end != value && *end == '\0' && isfinite(number);
    bool whole = numeric && number == floor(number) && fabs(number) < 1e15;
    json_object_set_new(object, word,
                        whole     ? json_integer((json_int_t)number)
                        : numeric ? json_real(number)
                                  : json_string(value));
  }
  return object;
}

static json_t *values_of(const measurement *m) {
  json_t *object = json_object();
  for (int i = 0; i < m->count; i++)
    json_object_set_new(object, m->name[i],
                        isfinite(m->value[i]) ? json_real(m->value[i]) : json_null());
  return object;
}

sr_status results_append(FILE *file, const experiment *e, experiment_scale scale,
                         const result *one) {
  sr_build build = sr_build_info();
  char built[96];
  snprintf(built, sizeof built, "%s, %s", build.build_type, build.compiler);
  json_t *object =
      json_pack("{s:s,s:s,s:s,s:I,s:o,s:o,s:f,s:s,s:s}", "experiment", e->about.name, "scale",
                experiment_scale_name(scale), "case", one->name, "seed", (json_int_t)one->seed,
                "parameters", parameters_of(one->name), "values", values_of(&one->measured),
                "seconds", one->seconds, "commit", build.commit, "build", built);
  char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(object);
  if (!line) return SR_ERROR_MEMORY;
  int failed = fprintf(file, "%s\n", line) < 0 || fflush(file) != 0;
  free(line);
  return failed ? SR_ERROR_OUTPUT : SR_OK;
}

/* ---- files -------------------------------------------------------------------------------- */

sr_status results_add(results *r, const result *one) {
  if (r->count == r->capacity) {
    int64_t capacity = r->capacity ? 2 * r->capacity : 64;
    result *grown = realloc(r->item, (size_t)capacity * sizeof *grown);
    if (!grown) return SR_ERROR_MEMORY;
    r->item = grown;
    r->capacity = capacity;
  }
  r->item[r->count++] = *one;
  return SR_OK;
}

void results_free(results *r) {
  free(r->item);
  *r = (results){0};
}

const result *results_find(const results *r, const char *case_name, uint64_t seed) {
  for (int64_t i = 0; i < r->count; i++)
    if (r->item[i].seed == seed && strcmp(r->item[i].name, case_name) == 0) return &r->item[i];
  return NULL;
}

/* A kill may tear the last line, never its beginning: anything else is not ours to remove. */
static bool is_torn(const char *line, size_t length) {
  static const char begin[] = "{\"experiment\":\"";
  size_t common = length < sizeof begin - 1 ? length : sizeof begin - 1;
  return line[length - 1] != '\n' && strncmp(line, begin, common) == 0;
}

static sr_status read_lines(sr_context *ctx, FILE *file, const char *path, results *out,
                            char *reason, size_t reason_size) {
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  sr_status status = SR_OK;
  long number = 0;
  while (status == SR_OK && (length = getline(&line, &room, file)) > 0) {
    if (number++ % 64 == 0 && sr_context_interrupted(ctx)) {
      status = SR_ERROR_INTERRUPTED;
      break;
    }
    result one;
    bool whole = line[length - 1] == '\n';
    bool parsed = whole && parse_line(line, (size_t)length, &one);
    if (!parsed && is_torn(line, (size_t)length)) break; /* the unit runs again */
    if (!parsed) {
      snprintf(reason, reason_size, "%s:%ld: not a result line; remove it or the file", path,
               number);
      status = SR_ERROR_FORMAT;
      break;
    }
    if (!results_find(out, one.name, one.seed)) status = results_add(out, &one);
    out->good_bytes = ftell(file);
  }
  free(line);
  return status;
}

sr_status results_read(sr_context *ctx, const char *path, results *out, char *reason,
                       size_t reason_size) {
  out->good_bytes = 0;
  FILE *file = fopen(path, "re");
  if (!file && errno == ENOENT) return SR_OK;
  if (!file) {
    snprintf(reason, reason_size, "cannot read %s: %s", path, strerror(errno));
    return SR_ERROR_IO;
  }
  sr_status status = read_lines(ctx, file, path, out, reason, reason_size);
  fclose(file);
  if (status == SR_ERROR_MEMORY) snprintf(reason, reason_size, "out of memory reading %s", path);
  return status;
}

FILE *results_open(const char *path, char *reason, size_t reason_size) {
  FILE *file = fopen(path, "ae");
  if (!file) {
    snprintf(reason, reason_size, "cannot write %s: %s", path, strerror(errno));
    return NULL;
  }
  if (flock(fileno(file), LOCK_EX | LOCK_NB) != 0) {
    snprintf(reason, reason_size, "another run is writing %s; wait for it or give another -o DIR",
             path);
    fclose(file);
    return NULL;
  }
  return file;
}
