/* Text that grows, and HTML escapes. */
#include "page.h"

sr_status sr__text_put(sr_context *ctx, sr__text *text, const char *bytes, int64_t count) {
  sr_status status = SR_OK;
  SR_GROW(ctx, text->bytes, text->capacity, text->length + count + 1);
  if (count) memcpy(text->bytes + text->length, bytes, (size_t)count);
  text->length += count;
  text->bytes[text->length] = '\0';
cleanup:
  return status;
}

sr_status sr__text_string(sr_context *ctx, sr__text *text, const char *string) {
  return sr__text_put(ctx, text, string, (int64_t)strlen(string));
}

sr_status sr__text_print(sr_context *ctx, sr__text *text, const char *format, ...) {
  sr_status status = SR_OK;
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int count = vsnprintf(NULL, 0, format, arguments);
  SR_GROW(ctx, text->bytes, text->capacity, text->length + count + 1);
  vsnprintf(text->bytes + text->length, (size_t)count + 1, format, again);
  text->length += count;
cleanup:
  va_end(again);
  va_end(arguments);
  return status;
}

static const char *entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return NULL;
  }
}

sr_status sr__text_escaped(sr_context *ctx, sr__text *text, const char *string) {
  sr_status status = SR_OK;
  const char *plain = string;
  for (const char *c = string; *c; c++) {
    const char *entity = entity_of(*c);
    if (!entity) continue;
    SR_TRY(sr__text_put(ctx, text, plain, c - plain));
    SR_TRY(sr__text_string(ctx, text, entity));
    plain = c + 1;
  }
  SR_TRY(sr__text_string(ctx, text, plain));
cleanup:
  return status;
}
