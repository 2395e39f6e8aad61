/* One object in the format that was asked for. */
#include "describe.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "core/bytes.h"

void sr__description_add(sr__description *lines, const char *format, ...) {
  char line[1024];
  va_list arguments;
  if (lines->status != SR_OK) return;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof line) length = (int)sizeof line - 1;
  lines->status = sr__text_put(lines->ctx, &lines->text, line, length);
}

void sr__description_add_warnings(sr__description *lines, int32_t count,
                                  const char *const *warnings) {
  for (int32_t i = 0; i < count; i++)
    sr__description_add(lines, "%s %s\n", i ? "         " : "to know  ", warnings[i]);
}

json_t *sr__json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *sr__json_scale(double estimate, double low, double high, const char *method) {
  json_t *value = json_pack("{s:o,s:o,s:o}", "estimate", sr__json_real(estimate), "low",
                            sr__json_real(low), "high", sr__json_real(high));
  if (value) json_object_set_new(value, "method", method ? json_string(method) : json_null());
  return value;
}

json_t *sr__json_text(const char *text) {
  size_t size = 3 * strlen(text) + 1;
  char *clean = malloc(size);
  if (!clean) return NULL;
  sr_text_clean(text, true, clean, size);
  json_t *value = json_string(clean);
  free(clean);
  return value;
}

json_t *sr__json_strings(int32_t count, const char *const *strings) {
  json_t *list = json_array();
  for (int32_t i = 0; i < count; i++) json_array_append_new(list, sr__json_text(strings[i]));
  return list;
}

static sr_status say_json(sr_context *ctx, const sr__describer *describer, const void *object,
                          char **text) {
  json_t *value = describer->to_json(object);
  char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
  sr_status status = dumped ? sr__give_text(ctx, dumped, (int64_t)strlen(dumped), text)
                            : sr__fail(ctx, SR_ERROR_MEMORY, "out of memory for a JSON object");
  json_decref(value);
  free(dumped);
  return status;
}

static sr_status say_page(sr_context *ctx, const sr__describer *describer, const void *object,
                          sr_page_format format, char **text) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  sr_page_options options;
  sr_page_options_init(&options);
  options.title = describer->title;
  options.format = format;
  SR_TRY(sr_page_new(ctx, &options, &page));
  SR_TRY(describer->add_to_page(ctx, page, object));
  SR_TRY(sr_page_to_text(ctx, page, text));
cleanup:
  sr_page_free(&page);
  return status;
}

sr_status sr__describe(sr_context *ctx, const sr__describer *describer, const void *object,
                       sr_description format, char **text) {
  sr_status status = SR_OK;
  sr__description lines = {.ctx = ctx};
  *text = NULL;
  switch (format) {
    case SR_DESCRIPTION_TEXT:
      describer->add_lines(&lines, object);
      SR_TRY(lines.status);
      SR_TRY(sr__give_text(ctx, lines.text.bytes, lines.text.length, text));
      break;
    case SR_DESCRIPTION_JSON:
      SR_TRY(say_json(ctx, describer, object, text));
      break;
    case SR_DESCRIPTION_HTML:
      SR_TRY(say_page(ctx, describer, object, SR_PAGE_HTML, text));
      break;
    case SR_DESCRIPTION_MARKDOWN:
      SR_TRY(say_page(ctx, describer, object, SR_PAGE_MARKDOWN, text));
      break;
    default:
      SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "there is no description %d; see sr_description",
                      (int)format));
  }
cleanup:
  sr__free(ctx, lines.text.bytes);
  return status;
}
