#include "target.h"

#include <math.h>
#include <stdlib.h>

#include "column_roles.h"
#include "core/sort.h"
#include "core/text.h"
#include "parse_number.h"
#include "print_number.h"

/* Longer signs first, so that >= is not taken for >. Each is followed by its opposite. */
static const char *const signs[] = {">=", "<", "<=", ">", "==", "!="};
enum { SIGNS = sizeof signs / sizeof *signs };

static bool is_column(const char *const *names, int64_t count, const char *text) {
  for (int64_t j = 0; j < count; j++) {
    if (strcmp(names[j], text) == 0) return true;
  }
  return false;
}

/* The last sign of the text; *relation is its index. NULL where there is none. */
static const char *find_sign(const char *text, int *relation) {
  const char *found = NULL;
  for (const char *at = text; *at; at++) {
    for (int k = 0; k < SIGNS; k++) {
      size_t length = strlen(signs[k]);
      bool longer = length == 1 && at[1] == '='; /* another entry has it */
      if (strncmp(at, signs[k], length) != 0 || longer) continue;
      *relation = k;
      found = at;
    }
  }
  return found;
}

static sr_status parse_threshold(sr_context *ctx, const char *file, const char *text,
                                 const char *right, sr__target_rule *rule) {
  size_t length = strlen(right);
  right = sr__trim(right, &length);
  rule->with_median = length == strlen("median") && strncmp(right, "median", length) == 0;
  if (rule->with_median ||
      (sr__whole_double(right, length, &rule->threshold) && isfinite(rule->threshold)))
    return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_ARGUMENT, file, 0, 0,
                     "target '%s' compares with '%.*s', expected a number or median", text,
                     (int)(length < 40 ? length : 40), right);
}

sr_status sr__find_target(sr_context *ctx, sr__file_columns columns, const sr_read_options *options,
                          sr__target_rule *rule, int64_t *column) {
  sr_status status = SR_OK;
  char *left = NULL;
  const char *text = options->target, *sign;
  *column = -1;
  *rule = (sr__target_rule){.form = options->target_kind == SR_TARGET_NUMBER ? SR__NUMBERS
                                                                             : SR__CLASSES};
  if (!text) return SR_OK;
  sign = is_column(columns.names, columns.count, text) ? NULL : find_sign(text, &rule->relation);
  if (!sign && strchr(text, '=') && !is_column(columns.names, columns.count, text))
    return sr__fail_at(ctx, SR_ERROR_ARGUMENT, columns.file, 0, 0,
                       "target '%.100s' has one '='; compare with '==', or with >, >=, <, <= or !=",
                       text);
  if (!sign) return sr__find_column(ctx, columns, "target", text, column);
  rule->form = SR__COMPARISON;
  SR_TRY(parse_threshold(ctx, columns.file, text, sign + strlen(signs[rule->relation]), rule));
  size_t length = (size_t)(sign - text);
  text = sr__trim(text, &length);
  left = sr__strdup(ctx, text);
  if (!left) SR_TRY(SR_ERROR_MEMORY);
  left[length] = '\0';
  SR_TRY(sr__find_column(ctx, columns, "target", left, column));
cleanup:
  sr__free(ctx, left);
  return status;
}

/* ---- classes of a number ------------------------------------------------------------------ */

static sr_status median_of(sr_context *ctx, const char *column, const double *value, int64_t rows,
                           double *median) {
  sr_status status = SR_OK;
  double *sorted = NULL;
  int64_t count = 0;
  SR_NEW(ctx, sorted, rows);
  for (int64_t i = 0; i < rows; i++) {
    if (!isnan(value[i])) sorted[count++] = value[i];
  }
  if (count == 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "target '%s' is missing in every row, so it has no median; give a number",
                    column));
  SR_TRY(sr__sort(ctx, sorted, count, sizeof *sorted, sr__compare_doubles));
  *median = count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
cleanup:
  sr__free(ctx, sorted);
  return status;
}

static bool holds(int relation, double value, double threshold) {
  switch (relation) {
    case 0:
      return value >= threshold;
    case 1:
      return value < threshold;
    case 2:
      return value <= threshold;
    case 3:
      return value > threshold;
    case 4:
      return value == threshold;
    default:
      return value != threshold;
  }
}

static sr_status name_relation(sr_context *ctx, const char *column, int relation, double threshold,
                               char **name) {
  char number[SR_NUMBER_BYTES + 1];
  *sr__print_double(threshold, number) = '\0';
  size_t size = strlen(column) + sizeof number + 8;
  *name = sr__alloc(ctx, (int64_t)size, 1);
  if (!*name) return SR_ERROR_MEMORY;
  snprintf(*name, size, "%s %s %s", column, signs[relation], number);
  return SR_OK;
}

sr_status sr__set_number_target(sr_context *ctx, const char *column, const sr__target_rule *rule,
                                double *value, sr_table_view *view) {
  sr_status status = SR_OK;
  char *name[2] = {NULL, NULL}; /* where it does not hold, and where it does */
  double threshold = rule->threshold;
  int32_t *label = NULL;
  if (rule->form == SR__NUMBERS) {
    view->value = value;
    view->target_name = sr__strdup(ctx, column);
    return view->target_name ? SR_OK : SR_ERROR_MEMORY;
  }
  if (rule->with_median) SR_TRY(median_of(ctx, column, value, view->rows, &threshold));
  SR_TRY(name_relation(ctx, column, rule->relation ^ 1, threshold, &name[0]));
  SR_TRY(name_relation(ctx, column, rule->relation, threshold, &name[1]));
  SR_NEW(ctx, label, view->rows);
  view->label = label;
  for (int64_t i = 0; i < view->rows; i++)
    label[i] = isnan(value[i]) ? -1 : holds(rule->relation, value[i], threshold);
  SR_TRY(sr__dictionary_copy(ctx, (sr_dictionary){2, (const char *const *)name}, &view->classes));
  view->target_name = name[1];
  name[1] = NULL;
cleanup:
  sr__free(ctx, name[0]);
  sr__free(ctx, name[1]);
  sr__free(ctx, value);
  return status;
}

/* ---- what is no class --------------------------------------------------------------------- */

/* How long the number is that the text begins with; 0: none. What follows may be a unit. */
static size_t number_at_front(const char *text, size_t length) {
  size_t digits = 0;
  double value;
  while (digits < length && strchr("+-.0123456789", text[digits]) && text[digits]) digits++;
  return digits && sr__whole_double(text, digits, &value) ? digits : 0;
}

sr_status sr__check_classes(sr_context *ctx, const char *file, const char *name,
                            const sr__names *classes, int64_t rows, bool sure) {
  enum { MOST_FRACTIONS = 20, MOST_NUMBERS = 100, MOST_TEXTS = 1000 };
  int64_t numbers = 0, fractions = 0, plain = 0;
  const char *unit = NULL, *other = NULL; /* the first of each */
  size_t unit_length = 0;
  if (sure || classes->count <= MOST_FRACTIONS) return SR_OK;
  for (int64_t c = 0; c < classes->count; c++) {
    const char *text = sr__names_get(classes, c);
    size_t length = sr__names_length(classes, c), digits = length;
    double value;
    bool is_plain = sr__whole_double(text, length, &value);
    if (!is_plain) digits = number_at_front(text, length);
    if (!is_plain && !other) other = text;
    if (digits && digits < length && !unit) {
      unit = text + digits;
      unit_length = length - digits;
    }
    bool same_unit = digits < length && unit_length == length - digits &&
                     memcmp(text + digits, unit, unit_length) == 0;
    if (!digits || (!is_plain && !same_unit)) continue;
    plain += is_plain;
    numbers++;
    if (!is_plain) sr__whole_double(text, digits, &value);
    fractions += value != floor(value);
  }
  /* a few cells that are none do not make classes of the others */
  bool mostly = numbers == classes->count || 20 * (classes->count - numbers) <= classes->count;
  bool measured = mostly && (fractions > 0 || numbers > MOST_NUMBERS);
  if (measured && plain < classes->count)
    return sr__fail_at(ctx, SR_ERROR_DATA, file, 0, 0,
                       "target '%s' has %lld different values in %lld rows, most of them "
                       "measurements, but '%.40s' is no number; write numbers without units and NA "
                       "where a value is missing, then make two classes with the target "
                       "\"%s > median\", or name it as categorical too if they are classes",
                       name, (long long)classes->count, (long long)rows, other, name);
  bool names_rows = classes->count > MOST_TEXTS && classes->count > rows / 2;
  if (measured)
    return sr__fail_at(ctx, SR_ERROR_DATA, file, 0, 0,
                       "target '%s' has %lld different numbers in %lld rows, which look like "
                       "measurements, not classes; make two classes of it with the target "
                       "\"%s > median\" (or any number), or name it as categorical too if they are "
                       "classes",
                       name, (long long)classes->count, (long long)rows, name);
  if (!names_rows) return SR_OK;
  return sr__fail_at(ctx, SR_ERROR_DATA, file, 0, 0,
                     "target '%s' has %lld different values in %lld rows, which are not classes; "
                     "name another column, or name it as categorical too if they are",
                     name, (long long)classes->count, (long long)rows);
}
