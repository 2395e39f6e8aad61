#include "text.h"

sr_status sr__text_reserve(sr_context *ctx, sr__text *text, int64_t count) {
  sr_status status = SR_OK;
  SR_GROW(ctx, text->bytes, text->capacity, text->length + count + 1);
cleanup:
  return status;
}

sr_status sr__text_put(sr_context *ctx, sr__text *text, const char *bytes, int64_t count) {
  sr_status status = sr__text_reserve(ctx, text, count);
  if (status != SR_OK) return status;
  if (count) memcpy(text->bytes + text->length, bytes, (size_t)count);
  text->length += count;
  text->bytes[text->length] = '\0';
  return SR_OK;
}

sr_status sr__text_string(sr_context *ctx, sr__text *text, const char *string) {
  return sr__text_put(ctx, text, string, (int64_t)strlen(string));
}

sr_status sr__text_print(sr_context *ctx, sr__text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int count = vsnprintf(NULL, 0, format, arguments);
  sr_status status = sr__text_reserve(ctx, text, count);
  if (status == SR_OK) {
    vsnprintf(text->bytes + text->length, (size_t)count + 1, format, again);
    text->length += count;
  }
  va_end(again);
  va_end(arguments);
  return status;
}

bool sr__ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}
