#include "column_roles.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "core/suggest.h"
#include "parse_number.h"

/* ---- finding a column --------------------------------------------------------------------- */

enum { FAR = INT_MAX };

/* How far a name is from the one that was meant: one that holds it, or is held, is as near as by
 * one letter, and of a short name two thirds may be wrong. */
static int name_distance(const char *name, const char *reference) {
  enum { CLOSE = 3, TELLING = 3 };
  size_t lengths[] = {strlen(name), strlen(reference)};
  size_t longer = lengths[0] > lengths[1] ? lengths[0] : lengths[1];
  bool held = lengths[1] > 0 && strcasestr(name, reference);
  bool holds = lengths[0] >= TELLING && strcasestr(reference, name);
  int edits = sr__edit_distance(name, lengths[0], reference);
  if (held || holds) return edits < 1 ? edits : 1;
  return edits <= CLOSE && 3 * (size_t)edits <= 2 * longer ? edits : FAR;
}

/* The three closest names as "did you mean 'a', 'b', 'c'"; where none is close, false and the first
 * of the file. */
static bool list_close_names(const char *const *names, int64_t count, const char *reference,
                             char *list, size_t size) {
  enum { SHOWN = 3 };
  int64_t best[SHOWN];
  int distance[SHOWN], found = 0;
  for (int64_t j = 0; j < count; j++) {
    int here = name_distance(names[j], reference);
    if (here == FAR) continue;
    int place = found;
    while (place > 0 && distance[place - 1] > here) place--;
    if (place == SHOWN) continue;
    if (found < SHOWN) found++;
    for (int k = found - 1; k > place; k--) {
      distance[k] = distance[k - 1];
      best[k] = best[k - 1];
    }
    distance[place] = here;
    best[place] = j;
  }
  bool none = found == 0;
  if (none) found = count < SHOWN ? (int)count : SHOWN;
  size_t used = (size_t)snprintf(list, size, none ? "the file begins with" : "did you mean");
  for (int i = 0; i < found && used < size; i++)
    used += (size_t)snprintf(list + used, size - used, "%s '%.60s'", i ? "," : "",
                             names[none ? i : best[i]]);
  return !none;
}

sr_status sr__find_column(sr_context *ctx, sr__file_columns columns, const char *option,
                          const char *reference, int64_t *column) {
  *column = -1;
  for (int64_t j = 0; j < columns.count; j++) {
    if (strcmp(columns.names[j], reference) != 0) continue;
    if (*column >= 0)
      return sr__fail_at(ctx, SR_ERROR_NOT_FOUND, columns.file, 0, 0,
                         "%s '%s' names columns %lld and %lld; give the number instead", option,
                         reference, (long long)*column + 1, (long long)j + 1);
    *column = j;
  }
  if (*column >= 0) return SR_OK;
  char *end;
  long long number = strtoll(reference, &end, 10);
  if (isdigit((unsigned char)reference[0]) && *end == '\0') {
    if (number >= 1 && number <= columns.count) {
      *column = number - 1;
      return SR_OK;
    }
    return sr__fail_at(ctx, SR_ERROR_NOT_FOUND, columns.file, 0, 0,
                       "%s is column %s, but the file has columns 1 to %lld", option, reference,
                       (long long)columns.count);
  }
  char list[300];
  bool close = list_close_names(columns.names, columns.count, reference, list, sizeof list);
  return sr__fail_at(ctx, SR_ERROR_NOT_FOUND, columns.file, 0, 0,
                     "%s '%.100s' is no column; %s (%lld columns)%s", option, reference, list,
                     (long long)columns.count, close ? "?" : "");
}

/* ---- roles -------------------------------------------------------------------------------- */

static const char *role_name(sr__role role) {
  static const char *const names[] = {"feature", "target",     "time",   "group",
                                      "region",  "coordinate", "weight", "drop"};
  return names[role];
}

typedef struct assignment {
  sr__file_columns columns;
  sr__column_role *roles;
} assignment;

static sr_status assign_column(sr_context *ctx, const assignment *to, int64_t column, sr__role role,
                               int32_t place) {
  sr_status status = SR_OK;
  sr__column_role *now = &to->roles[column];
  if (now->role != SR_ROLE_FEATURE && now->role != SR_ROLE_DROP)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_ARGUMENT, to->columns.file, 0, 0,
                       "column '%s' cannot be both %s and %s", to->columns.names[column],
                       role_name(now->role), role_name(role)));
  now->role = role;
  now->place = place;
cleanup:
  return status;
}

static sr_status assign(sr_context *ctx, const assignment *to, const char *reference, sr__role role,
                        int32_t place) {
  sr_status status = SR_OK;
  int64_t column;
  if (!reference) return SR_OK;
  SR_TRY(sr__find_column(ctx, to->columns, role_name(role), reference, &column));
  SR_TRY(assign_column(ctx, to, column, role, place));
cleanup:
  return status;
}

static sr_status assign_target(sr_context *ctx, const assignment *to,
                               const sr_read_options *options) {
  sr_status status = SR_OK;
  sr__target_rule rule;
  int64_t column;
  SR_TRY(sr__find_target(ctx, to->columns, options, &rule, &column));
  if (column < 0) return SR_OK;
  SR_TRY(assign_column(ctx, to, column, SR_ROLE_TARGET, 0));
  to->roles[column].rule = rule;
cleanup:
  return status;
}

static sr_status assign_coordinates(sr_context *ctx, const assignment *to,
                                    const char *const *references) {
  sr_status status = SR_OK;
  int32_t count = 0;
  while (references && references[count]) count++;
  if (references && count != 2 && count != 3)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_ARGUMENT, to->columns.file, 0, 0,
                       "%d coordinate columns were named, expected 2 or 3", count));
  for (int32_t c = 0; c < count; c++) SR_TRY(assign(ctx, to, references[c], SR_ROLE_COORDINATE, c));
cleanup:
  return status;
}

/* One column, or several with commas between them where no column has that very name. */
static sr_status assign_list(sr_context *ctx, const assignment *to, const char *references,
                             sr__role role) {
  sr_status status = SR_OK;
  char *copy = NULL;
  int32_t place = 0;
  if (!references) return SR_OK;
  for (int64_t j = 0; j < to->columns.count; j++) {
    if (strcmp(to->columns.names[j], references) == 0) return assign(ctx, to, references, role, 0);
  }
  copy = sr__strdup(ctx, references);
  if (!copy) SR_TRY(SR_ERROR_MEMORY);
  for (char *at = copy; at;) {
    char *comma = strchr(at, ',');
    if (comma) *comma = '\0';
    SR_TRY(assign(ctx, to, at, role, place++));
    at = comma ? comma + 1 : NULL;
  }
cleanup:
  sr__free(ctx, copy);
  return status;
}

/* A feature of the schema is read as it was in training. */
static sr_status follow_schema(sr_context *ctx, const sr_table_view *schema, const assignment *to) {
  sr_status status = SR_OK;
  sr__names known = {0};
  int32_t code;
  if (!schema || !schema->feature_names) return SR_OK;
  for (int64_t j = 0; j < schema->features; j++)
    SR_TRY(sr__names_add(ctx, &known, schema->feature_names[j], strlen(schema->feature_names[j]), j,
                         &code));
  for (int64_t j = 0; j < to->columns.count; j++) {
    code = sr__names_find(&known, to->columns.names[j], strlen(to->columns.names[j]));
    if (code < 0) continue;
    bool text = sr__categories_of(schema, known.line[code]).count > 0;
    to->roles[j].categorical = text;
    to->roles[j].numeric = !text;
  }
cleanup:
  sr__names_free(ctx, &known);
  return status;
}

/* What is kept is looked up by name once the features are known. */
static sr_status check_kept(sr_context *ctx, const assignment *to, const char *const *keep) {
  sr_status status = SR_OK;
  int64_t column;
  for (; keep && *keep; keep++) {
    SR_TRY(sr__find_column(ctx, to->columns, "keep", *keep, &column));
    if (strcmp(to->columns.names[column], *keep) != 0)
      SR_TRY(sr__fail_at(ctx, SR_ERROR_NOT_FOUND, to->columns.file, 0, 0,
                         "keep is column %s; give its name '%.100s' instead", *keep,
                         to->columns.names[column]));
  }
cleanup:
  return status;
}

sr_status sr__assign_roles(sr_context *ctx, const char *file, const char *const *names,
                           int64_t count, const sr_read_options *options, sr__column_role *roles) {
  sr_status status = SR_OK;
  const assignment to = {{file, names, count}, roles};
  memset(roles, 0, (size_t)count * sizeof *roles);
  for (const char *const *name = options->drop; name && *name; name++)
    SR_TRY(assign(ctx, &to, *name, SR_ROLE_DROP, 0));
  SR_TRY(assign_target(ctx, &to, options));
  SR_TRY(assign_list(ctx, &to, options->time, SR_ROLE_TIME));
  SR_TRY(assign_list(ctx, &to, options->group, SR_ROLE_GROUP));
  SR_TRY(assign_list(ctx, &to, options->region, SR_ROLE_REGION));
  SR_TRY(assign(ctx, &to, options->weight, SR_ROLE_WEIGHT, 0));
  SR_TRY(assign_coordinates(ctx, &to, options->coordinates));
  for (const char *const *name = options->categorical; name && *name; name++) {
    int64_t column;
    SR_TRY(sr__find_column(ctx, to.columns, "categorical", *name, &column));
    roles[column].categorical = true;
  }
  SR_TRY(check_kept(ctx, &to, options->keep));
  SR_TRY(follow_schema(ctx, options->schema, &to));
cleanup:
  return status;
}

sr_status sr__refuse_roles(sr_context *ctx, const char *file, const char *format,
                           const sr_read_options *options) {
  const char *asked = options->target        ? "target"
                      : options->time        ? "time"
                      : options->group       ? "group"
                      : options->region      ? "region"
                      : options->coordinates ? "coordinates"
                      : options->weight      ? "weight"
                      : options->drop        ? "drop"
                      : options->categorical ? "categorical"
                                             : NULL;
  if (!asked) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_UNSUPPORTED, file, 0, 0,
                     "a %s file has no columns to choose from, so '%s' cannot be set; convert it "
                     "to csv to name columns",
                     format, asked);
}
