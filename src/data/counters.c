/* Columns that count or name the rows. They tell a learner where a row stands, not what it is. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "core/sort.h"
#include "field_text.h"
#include "settle.h"

enum { FEWEST_ROWS = 50, FEWEST_VALUES = 3 };

/* A few values may be missing. */
#define MOST_MISSING 0.05
/* Two files one after the other begin to count anew; so may a few more. What begins anew again and
 * again is a season. */
#define RESTARTS_SHARE 0.02
enum { MOST_RESTARTS = 20 };

static bool is_whole(const float *x, int64_t rows) {
  int64_t missing = 0;
  for (int64_t i = 0; i < rows; i++) {
    missing += isnan(x[i]);
    if (!isnan(x[i]) && (!(x[i] == floorf(x[i])) || !isfinite(x[i]))) return false;
  }
  return (double)missing <= MOST_MISSING * (double)rows;
}

/* A clock: never falls, or never rises, inside any group, with several values in one of them. */
static bool is_clock(const sr_table_view *view, const float *x, float *last, int32_t *changes) {
  int32_t groups = view->group ? view->groups.count : 1, most = 0;
  int64_t missing = 0;
  bool rises = true, falls = true;
  for (int32_t g = 0; g < groups; g++) {
    last[g] = NAN;
    changes[g] = 0;
  }
  for (int64_t i = 0; i < view->rows && (rises || falls); i++) {
    int32_t g = view->group ? view->group[i] : 0;
    missing += isnan(x[i]);
    if (isnan(x[i])) continue;
    rises &= !(x[i] < last[g]);
    falls &= !(x[i] > last[g]);
    changes[g] += !isnan(last[g]) && x[i] != last[g];
    last[g] = x[i];
    if (changes[g] > most) most = changes[g];
  }
  return (rises || falls) && most + 1 >= FEWEST_VALUES &&
         (double)missing <= MOST_MISSING * (double)view->rows;
}

/* Goes on by 1 from row to row, but for a few that begin anew. */
static bool counts_by_one(const sr_table_view *view, const float *x) {
  int64_t steps = 0, other = 0;
  for (int64_t i = 1; i < view->rows; i++) {
    if (isnan(x[i]) || isnan(x[i - 1])) continue;
    steps++;
    other += x[i] - x[i - 1] != 1.0f;
  }
  int64_t missing = view->rows - 1 - steps; /* a missing value takes two steps */
  return (double)missing <= 2 * MOST_MISSING * (double)view->rows && other <= MOST_RESTARTS &&
         (double)other <= RESTARTS_SHARE * (double)steps;
}

static bool has_word(const char *name, const char *word) {
  size_t length = strlen(word);
  for (const char *at = strcasestr(name, word); at; at = strcasestr(at + 1, word)) {
    bool starts = at == name || !isalpha((unsigned char)at[-1]) ||
                  (islower((unsigned char)at[-1]) && isupper((unsigned char)at[0]));
    bool ends = !isalpha((unsigned char)at[length]) ||
                (islower((unsigned char)at[length - 1]) && isupper((unsigned char)at[length]));
    if (starts && ends) return true;
  }
  return false;
}

/* Of numbers that differ in every row, which few measurements do: "CustomerId", "objectid". */
static bool is_name_of_ids(const char *name) {
  static const char *const words[] = {"id",     "index", "unnamed", "row",      "rowid",    "no",
                                      "nr",     "num",   "number",  "key",      "seq",      "code",
                                      "serial", "ssn",   "date",    "datetime", "timestamp"};
  size_t length = strlen(name);
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    if (has_word(name, words[w])) return true;
  }
  return length > 2 && strcasecmp(name + length - 2, "id") == 0;
}

/* How many whole numbers one float stands for. */
static double numbers_of(float x) {
  double gap = (double)nextafterf(fabsf(x), INFINITY) - (double)fabsf(x);
  return gap > 1 ? gap + 1 : 1;
}

/* The numbers of the rows in any order: whole, each once, and without gaps or called so. */
static sr_status is_shuffled_counter(sr_context *ctx, const float *x, int64_t rows,
                                     const char *name, bool *counts) {
  sr_status status = SR_OK;
  float *sorted = NULL;
  *counts = is_whole(x, rows);
  if (!*counts) return SR_OK;
  SR_NEW(ctx, sorted, rows);
  int64_t present = 0;
  for (int64_t i = 0; i < rows; i++)
    if (!isnan(x[i])) sorted[present++] = x[i];
  double missing = (double)(rows - present);
  rows = present;
  SR_TRY(sr__sort(ctx, sorted, rows, sizeof *sorted, sr__compare_floats));
  for (int64_t i = 0, first = 0; i < rows && *counts; i++) {
    if (sorted[i] != sorted[first]) first = i;
    *counts = (double)(i - first) < numbers_of(sorted[i]);
  }
  double gaps = (double)sorted[rows - 1] - (double)sorted[0] - (double)(rows - 1);
  double rounded = numbers_of(sorted[0]) + numbers_of(sorted[rows - 1]) - 2;
  *counts &= fabs(gaps) <= rounded + missing || is_name_of_ids(name);
cleanup:
  sr__free(ctx, sorted);
  return status;
}

/* Numbers such as 20131231; from 2^24 on a float is one off. */
static bool are_dates(const float *x, int64_t rows) {
  for (int64_t i = 0; i < rows; i++) {
    if (isnan(x[i]) && i > 0) continue;
    if (!(x[i] >= 19000101 && x[i] <= 20991232)) return false;
    bool date = false;
    for (int32_t number = (int32_t)x[i] - 1; number <= (int32_t)x[i] + 1; number++) {
      int32_t month = number / 100 % 100, day = number % 100;
      date |= month >= 1 && month <= 12 && day >= 1 && day <= 31;
    }
    if (!date) return false;
  }
  return true;
}

/* "01 Jan 2020", "March 3, 2021", "2020-W07": a month by its name or a week, and numbers. */
static bool is_worded_date(const char *text) {
  static const char months[] = "janfebmaraprmayjunjulaugsepoctnovdec";
  int numbers = 0, words = 0;
  for (const char *at = text; *at;) {
    size_t digits = strspn(at, "0123456789"), letters = 0;
    while (isalpha((unsigned char)at[letters])) letters++;
    if (letters == 1 && toupper((unsigned char)*at) == 'W' && isdigit((unsigned char)at[1])) {
      words++;
    } else if (letters >= 3) {
      char month[4] = {0};
      for (int k = 0; k < 3; k++) month[k] = (char)tolower((unsigned char)at[k]);
      const char *found = strstr(months, month);
      if (!found || (found - months) % 3) return false;
      words++;
    } else if (letters || digits > 4) {
      return false;
    }
    numbers += digits > 0;
    at += digits + letters;
    if (!digits && !letters) at++;
  }
  return words == 1 && numbers >= 1 && numbers <= 5;
}

/* Whether all texts are dates of one form. */
static bool are_text_dates(sr_dictionary texts) {
  static const sr__date_order orders[] = {SR__YEAR_FIRST, SR__DAY_FIRST, SR__MONTH_FIRST};
  double seconds;
  int32_t c = 0;
  while (c < texts.count && sr__parse_iso_time(texts.names[c], strlen(texts.names[c]), &seconds))
    c++;
  for (size_t k = 0; c < texts.count && k < sizeof orders / sizeof *orders; k++) {
    c = 0;
    while (c < texts.count &&
           sr__parse_date(texts.names[c], strlen(texts.names[c]), orders[k], &seconds))
      c++;
  }
  if (c == texts.count) return true;
  for (c = 0; c < texts.count; c++) {
    if (!is_worded_date(texts.names[c])) return false;
  }
  return true;
}

/* Text that differs in every row names the rows; so does a date. */
static bool names_rows(const sr_table_view *view, int64_t feature) {
  sr_dictionary texts = sr__categories_of(view, feature);
  if (texts.count >= view->rows) return true;
  return texts.count >= FEWEST_VALUES && are_text_dates(texts);
}

/* Parts of a date: each goes on inside the one before it, where that stays as it is. */
static bool continues_date(const sr_table_view *view, const float *before, const float *x) {
  if (!is_whole(x, view->rows)) return false;
  bool several = false;
  for (int64_t i = 1; i < view->rows; i++) {
    bool same_group = !view->group || view->group[i] == view->group[i - 1];
    if (same_group && before[i] == before[i - 1] && x[i] < x[i - 1]) return false;
    several |= x[i] != x[i - 1];
  }
  return several;
}

/* Hours and what is below tell the time of day, which is a feature like others. */
static void find_date_parts(const sr_table_view *view, bool *counts) {
  static const char *const parts[] = {"year", "month", "day"};
  const float *before = NULL;
  for (int p = 0; p < 3; p++) {
    int64_t found = -1;
    for (int64_t j = 0; j < view->features && found < 0; j++) {
      if (has_word(view->feature_names[j], parts[p]) && !sr__categories_of(view, j).count)
        found = j;
    }
    if (found < 0) continue;
    const float *x = view->x + found * view->rows;
    bool constant = true;
    for (int64_t i = 1; i < view->rows && constant; i++) constant = x[i] == x[0];
    if (constant) continue; /* of one year */
    if (before ? !continues_date(view, before, x) : !counts[found]) return;
    counts[found] = true;
    before = x;
  }
}

sr_status sr__find_counters(sr_context *ctx, const sr_table_view *view, bool *counts) {
  sr_status status = SR_OK;
  float *last = NULL;
  int32_t *changes = NULL, groups = view->group ? view->groups.count : 1;
  memset(counts, 0, (size_t)view->features * sizeof *counts);
  if (view->rows < FEWEST_ROWS) return SR_OK;
  SR_NEW(ctx, last, groups);
  SR_NEW(ctx, changes, groups);
  for (int64_t j = 0; j < view->features; j++) {
    const float *x = view->x + j * view->rows;
    const char *name = view->feature_names ? view->feature_names[j] : "";
    if (sr__categories_of(view, j).count)
      counts[j] = names_rows(view, j);
    else if (is_clock(view, x, last, changes) || counts_by_one(view, x) || are_dates(x, view->rows))
      counts[j] = true;
    else
      SR_TRY(is_shuffled_counter(ctx, x, view->rows, name, &counts[j]));
  }
  if (view->feature_names) find_date_parts(view, counts);
cleanup:
  sr__free(ctx, changes);
  sr__free(ctx, last);
  return status;
}

/* ---- the target in disguise --------------------------------------------------------------- */

/* Whether the classes lie in intervals of the feature that do not meet. */
static bool tells_class(const sr_table_view *view, const float *x) {
  enum { MOST_CLASSES = 64 };
  float low[MOST_CLASSES], high[MOST_CLASSES];
  int64_t used = 0;
  int32_t seen = 0;
  if (view->classes.count > MOST_CLASSES) return false;
  for (int32_t c = 0; c < view->classes.count; c++) {
    low[c] = INFINITY;
    high[c] = -INFINITY;
  }
  for (int64_t i = 0; i < view->rows; i++) {
    int32_t c = view->label[i];
    if (c < 0 || isnan(x[i])) continue;
    if (x[i] < low[c]) low[c] = x[i];
    if (x[i] > high[c]) high[c] = x[i];
    used++;
  }
  for (int32_t c = 0; c < view->classes.count; c++) {
    seen += low[c] <= high[c];
    for (int32_t other = 0; other < c; other++) {
      bool meet = low[c] <= high[other] && low[other] <= high[c];
      if (meet) return false;
    }
  }
  return seen >= 2 && used * 10 >= view->rows * 9;
}

/* Whether each category belongs to one class. */
static bool category_tells_class(const sr_table_view *view, const float *x, int32_t categories,
                                 int32_t *class_of) {
  int32_t first = -1;
  bool several = false;
  for (int32_t c = 0; c < categories; c++) class_of[c] = -1;
  for (int64_t i = 0; i < view->rows; i++) {
    int32_t c = view->label[i];
    if (c < 0 || isnan(x[i])) continue;
    int32_t *known = &class_of[(int32_t)x[i]];
    if (*known >= 0 && *known != c) return false;
    *known = c;
    if (first < 0) first = c;
    several |= c != first;
  }
  return several;
}

/* Whether a number of few values tells the class, each value one, but for next to no rows. *wrong
 * says how many. */
static bool values_tell_class(const sr_table_view *view, const float *x, int64_t *wrong) {
  enum { MOST_VALUES = 64, MOST_CLASSES = 16, ROWS_PER_VALUE = 5, ROWS_PER_SLIP = 200 };
  float value[MOST_VALUES];
  int32_t count[MOST_VALUES][MOST_CLASSES] = {{0}};
  int64_t of_class[MOST_CLASSES] = {0}, total = 0, right = 0, largest = 0;
  int32_t used = 0, told = 0, classes = view->classes.count;
  bool named[MOST_CLASSES] = {false};
  if (classes > MOST_CLASSES) return false;
  for (int64_t i = 0; i < view->rows; i++) {
    int32_t c = view->label[i], v = 0;
    if (c < 0 || isnan(x[i])) continue;
    while (v < used && value[v] != x[i]) v++;
    if (v == MOST_VALUES) return false;
    if (v == used) value[used++] = x[i];
    count[v][c]++;
    of_class[c]++;
    total++;
  }
  for (int32_t v = 0; v < used; v++) {
    int32_t best = 0;
    for (int32_t c = 1; c < classes; c++)
      if (count[v][c] > count[v][best]) best = c;
    right += count[v][best];
    told += !named[best];
    named[best] = true;
  }
  for (int32_t c = 0; c < classes; c++)
    if (of_class[c] > largest) largest = of_class[c];
  *wrong = total - right;
  bool next_to_none = *wrong * ROWS_PER_SLIP <= total && 20 * *wrong <= total - largest;
  return told >= 2 && next_to_none && (int64_t)used * ROWS_PER_VALUE <= total;
}

sr_status sr__find_disguised_target(sr_context *ctx, const sr_table_view *view, int64_t *feature,
                                    int64_t *wrong) {
  enum { FEWEST_TELLING = 20 };
  sr_status status = SR_OK;
  int32_t *class_of = NULL;
  *feature = -1;
  *wrong = 0;
  if (!view->label || view->rows < FEWEST_TELLING) return SR_OK;
  for (int64_t j = 0; j < view->features && *feature < 0; j++) {
    const float *x = view->x + j * view->rows;
    int32_t categories = sr__categories_of(view, j).count;
    if (categories > view->rows / 5) continue; /* too few rows per category to say so */
    if (categories) {
      SR_NEW(ctx, class_of, categories);
      if (category_tells_class(view, x, categories, class_of)) *feature = j;
      sr__free(ctx, class_of);
      class_of = NULL;
    } else if (tells_class(view, x)) {
      *feature = j;
      *wrong = 0;
    } else if (values_tell_class(view, x, wrong)) {
      *feature = j;
    }
  }
cleanup:
  sr__free(ctx, class_of);
  return status;
}
