/* The one place that parses, checks and prints options. */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "suggest.h"

static bool is_word(const char *word, const char *text, size_t length) {
  return strlen(word) == length && memcmp(word, text, length) == 0;
}

static int choice_index(const char *choices, const char *text, size_t length) {
  int index = 0;
  for (const char *c = choices; c; index++) {
    size_t width = strcspn(c, "|");
    if (width == length && memcmp(c, text, length) == 0) return index;
    c = c[width] ? c + width + 1 : NULL;
  }
  return -1;
}

static const char *number_word(const sr_option *o) {
  return o->type == SR_OPTION_INTEGER ? "whole number" : "number";
}

/* Whole numbers may be written as 1e6; doubles hold every one up to 2^53. */
static sr_status store_number(sr_context *ctx, const char *what, const sr_option *o,
                              const char *value, char *to) {
  char *end;
  errno = 0;
  double real = strtod(value, &end);
  bool whole = o->type != SR_OPTION_INTEGER || real == floor(real);
  bool valid = end != value && *end == '\0' && errno == 0 && isfinite(real) && whole;
  if (!valid || real < o->low || real > o->high)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s: %s is '%s', expected a %s from %g to %g", what,
                    o->key, value, number_word(o), o->low, o->high);
  int64_t integer = (int64_t)real;
  if (o->type == SR_OPTION_INTEGER)
    memcpy(to, &integer, sizeof integer);
  else
    memcpy(to, &real, sizeof real);
  return SR_OK;
}

static int choice_count(const char *choices) {
  int count = 1;
  for (const char *c = choices; *c; c++) count += *c == '|';
  return count;
}

sr_status sr__options_check(sr_context *ctx, const char *what, const sr_option *list,
                            const void *options) {
  for (const sr_option *o = list; o->key; o++) {
    const char *from = (const char *)options + o->offset;
    int64_t integer;
    double real = NAN;
    int index;
    if (o->type == SR_OPTION_INTEGER) {
      memcpy(&integer, from, sizeof integer);
      real = (double)integer;
    } else if (o->type == SR_OPTION_REAL) {
      memcpy(&real, from, sizeof real);
    } else if (o->type != SR_OPTION_TEXT) {
      memcpy(&index, from, sizeof index);
      if (index < 0 || index >= choice_count(o->choices))
        return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s: %s is %d, which stands for none of %s", what,
                        o->key, index, o->choices);
      continue;
    } else {
      continue;
    }
    if (!(real >= o->low && real <= o->high))
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s: %s is %.15g, expected a %s from %g to %g", what,
                      o->key, real, number_word(o), o->low, o->high);
  }
  return SR_OK;
}

static sr_status store(sr_context *ctx, const char *what, const sr_option *o, const char *value,
                       void *options) {
  char *to = (char *)options + o->offset;
  if (o->type == SR_OPTION_TEXT) {
    memcpy(to, &value, sizeof value);
    return SR_OK;
  }
  if (o->type == SR_OPTION_INTEGER || o->type == SR_OPTION_REAL)
    return store_number(ctx, what, o, value, to);
  int index = choice_index(o->choices, value, strlen(value));
  if (index < 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s: %s is '%s', expected one of %s", what, o->key,
                    value, o->choices);
  memcpy(to, &index, sizeof index);
  return SR_OK;
}

static sr_status unknown_key(sr_context *ctx, const char *what, const sr_option *list,
                             const char *key) {
  const char *nearest = NULL;
  int distance = INT_MAX;
  char known[512] = "";
  size_t used = 0;
  for (const sr_option *o = list; o && o->key; o++) {
    if (sr_suggest(key, o->key, &distance)) nearest = o->key;
    int written = snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", o->key);
    if (written > 0 && used + (size_t)written < sizeof known) used += (size_t)written;
  }
  if (nearest)
    return sr__fail(ctx, SR_ERROR_NOT_FOUND, "%s has no option '%s'; did you mean '%s'?", what, key,
                    nearest);
  if (!used)
    return sr__fail(ctx, SR_ERROR_NOT_FOUND, "%s has no option '%s'; it has none", what, key);
  return sr__fail(ctx, SR_ERROR_NOT_FOUND, "%s has no option '%s'; it has %s", what, key, known);
}

static const sr_option *find_option(const sr_option *list, const char *key, size_t length) {
  for (const sr_option *o = list; o && o->key; o++) {
    if (is_word(o->key, key, length)) return o;
  }
  return NULL;
}

sr_status sr_options_set(sr_context *ctx, const char *what, const sr_option *list, void *options,
                         const char *key, const char *value) {
  const sr_option *o = find_option(list, key, strlen(key));
  return o ? store(ctx, what, o, value, options) : unknown_key(ctx, what, list, key);
}

/* Defaults are the library's own and tested to parse, so they need no context for messages. */
void sr_options_init(const sr_option *list, void *options) {
  for (const sr_option *o = list; o && o->key; o++) {
    char *to = (char *)options + o->offset;
    const char *text = o->fallback;
    if (o->type == SR_OPTION_TEXT) {
      memcpy(to, &text, sizeof text);
    } else if (o->type == SR_OPTION_INTEGER) {
      int64_t integer = (int64_t)strtod(text, NULL);
      memcpy(to, &integer, sizeof integer);
    } else if (o->type == SR_OPTION_REAL) {
      double real = strtod(text, NULL);
      memcpy(to, &real, sizeof real);
    } else {
      int index = choice_index(o->choices, text, strlen(text));
      memcpy(to, &index, sizeof index);
    }
  }
}

/* ---- methods ------------------------------------------------------------------------------ */

static sr_status find_method(sr_context *ctx, const char *kind, sr_method_at at, const char *name,
                             const sr_method **found) {
  const sr_method *nearest = NULL;
  int distance = INT_MAX;
  char known[512] = "";
  size_t used = 0;
  for (int i = 0; at(i); i++) {
    if (strcmp(at(i)->name, name) == 0) {
      *found = at(i);
      if (!(*found)->missing) return SR_OK;
      return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "%s %s needs %s, which this build lacks", kind,
                      name, (*found)->missing);
    }
    if (sr_suggest(name, at(i)->name, &distance)) nearest = at(i);
    int written = snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", at(i)->name);
    if (written > 0 && used + (size_t)written < sizeof known) used += (size_t)written;
  }
  if (nearest)
    return sr__fail(ctx, SR_ERROR_NOT_FOUND, "there is no %s '%s'; did you mean '%s'?", kind, name,
                    nearest->name);
  return sr__fail(ctx, SR_ERROR_NOT_FOUND, "there is no %s '%s'; known: %s", kind, name, known);
}

/* Sets the option of the item at `item` and gives the next item. Marks of the grammar become ends
 * of texts, so that values can be referred to where they stand. */
static sr_status parse_item(sr_context *ctx, const char *what, const sr_method *method, bool first,
                            char **item, void *options) {
  char *text = *item, *value = text + strcspn(text, "=,");
  const sr_option *o = NULL;
  if (*value == '=') {
    o = find_option(method->options, text, (size_t)(value - text));
    *value++ = '\0';
    if (!o) return unknown_key(ctx, what, method->options, text);
  } else if (first && method->options && method->options->key) {
    o = method->options;
    value = text;
  } else {
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "%s: '%s' is not KEY=VALUE", what, text);
  }
  size_t width = o->type == SR_OPTION_TEXT ? strlen(value) : strcspn(value, ",");
  *item = value + width + (value[width] == ',');
  value[width] = '\0';
  return store(ctx, what, o, value, options);
}

sr_status sr__configure(sr_context *ctx, const char *kind, sr_method_at at, const char *text,
                        sr__configuration *configuration) {
  sr_status status = SR_OK;
  const sr_method *method = NULL;
  char *block = NULL, what[160];
  size_t bytes = strlen(text) + 1, length = strcspn(text, ":");
  char name[64];
  *configuration = (sr__configuration){0};
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
  SR_TRY(find_method(ctx, kind, at, name, &method));
  snprintf(what, sizeof what, "%s %s", kind, name);
  SR_NEW_ZERO(ctx, block, (int64_t)(method->options_size + bytes));
  char *item = block + method->options_size;
  memcpy(item, text, bytes);
  item += text[length] ? length + 1 : length;
  sr_options_init(method->options, block);
  for (bool first = true; *item; first = false)
    SR_TRY(parse_item(ctx, what, method, first, &item, block));
  for (const sr_option *o = method->options; o && o->key; o++) {
    const char *given = NULL;
    if (o->type == SR_OPTION_TEXT) memcpy(&given, block + o->offset, sizeof given);
    if (!o->fallback && (!given || !*given))
      SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "%s needs %s: %s:%s=... (%s)", what, o->key, name,
                      o->key, o->help));
  }
  *configuration = (sr__configuration){method, block};
  block = NULL;
cleanup:
  sr__free(ctx, block);
  return status;
}

void sr__configuration_free(const sr_allocator *allocator, sr__configuration *configuration) {
  sr__release(allocator, configuration->options);
  *configuration = (sr__configuration){0};
}

sr_status sr_method_check(sr_context *ctx, const char *kind, sr_method_at at, const char *text,
                          const sr_method **method) {
  sr__configuration configuration;
  sr_allocator allocator = sr__allocator(ctx);
  sr_status status = sr__configure(ctx, kind, at, text, &configuration);
  if (method) *method = configuration.method;
  sr__configuration_free(&allocator, &configuration);
  return status;
}

/* ---- printing ----------------------------------------------------------------------------- */

void sr_option_print(const sr_option *option, const void *options, char *text, size_t size) {
  const char *from = (const char *)options + option->offset, *word;
  int64_t integer;
  double real;
  int index;
  if (option->type == SR_OPTION_INTEGER) {
    memcpy(&integer, from, sizeof integer);
    snprintf(text, size, "%lld", (long long)integer);
  } else if (option->type == SR_OPTION_REAL) { /* the shortest text that reads back alike */
    memcpy(&real, from, sizeof real);
    for (int digits = 1; digits <= 17; digits++) {
      snprintf(text, size, "%.*g", digits, real);
      if (strtod(text, NULL) == real) return;
    }
  } else if (option->type == SR_OPTION_TEXT) {
    memcpy(&word, from, sizeof word);
    snprintf(text, size, "%s", word ? word : "");
  } else {
    memcpy(&index, from, sizeof index);
    for (word = option->choices; index > 0; index--) word = strchr(word, '|') + 1;
    snprintf(text, size, "%.*s", (int)strcspn(word, "|"), word);
  }
}

static bool is_default(const sr_option *o, const char *value, const void *options) {
  if (!o->fallback) return !value[0];
  if (o->type != SR_OPTION_REAL) return strcmp(value, o->fallback) == 0;
  double real;
  memcpy(&real, (const char *)options + o->offset, sizeof real);
  return real == strtod(o->fallback, NULL);
}

char *sr__configuration_text(sr_context *ctx, const sr_method *method, const void *options) {
  enum { NUMBER = 64 };
  size_t size = strlen(method->name) + 1;
  for (const sr_option *o = method->options; o && o->key; o++) {
    const char *word = NULL;
    if (o->type == SR_OPTION_TEXT) memcpy(&word, (const char *)options + o->offset, sizeof word);
    size += strlen(o->key) + 2 + (word ? strlen(word) : NUMBER);
  }
  char *text = sr__alloc(ctx, (int64_t)size, 1), mark = ':';
  char *value = sr__alloc(ctx, (int64_t)size, 1);
  if (text && value) {
    size_t used = (size_t)snprintf(text, size, "%s", method->name);
    for (const sr_option *o = method->options; o && o->key; o++) {
      sr_option_print(o, options, value, size);
      if (is_default(o, value, options)) continue;
      used += (size_t)snprintf(text + used, size - used, "%c%s=%s", mark, o->key, value);
      mark = ',';
    }
  } else {
    sr__free(ctx, text);
    text = NULL;
  }
  sr__free(ctx, value);
  return text;
}

int32_t sr_methods_split(const char *list, int32_t most, const char **start, size_t *length) {
  int32_t count = 0;
  while (*list) {
    size_t width = strcspn(list, ","), equals = strcspn(list, "=,"), colon = strcspn(list, ":=,");
    if (list[equals] == '=' && list[colon] != ':' && count > 0) {
      if (count <= most) length[count - 1] = (size_t)(list - start[count - 1]) + width;
    } else {
      if (count < most) {
        start[count] = list;
        length[count] = width;
      }
      count++;
    }
    list += width + (list[width] == ',');
  }
  return count;
}
