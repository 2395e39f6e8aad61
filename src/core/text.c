#include "text.h"

#include <math.h>
#include <stdlib.h>

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

double sr__three_digits(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.3g", value);
  return isfinite(value) ? strtod(text, NULL) : value;
}

void sr__add_sentence(char *text, size_t size, const char *format, va_list arguments) {
  size_t used = strlen(text);
  if (used > 0 && used + 2 < size) {
    memcpy(text + used, " ", 2);
    used++;
  }
  vsnprintf(text + used, size - used, format, arguments);
}

bool sr__ends_in(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/* Bytes of the UTF-8 character at `text`, which ends with a zero; 0 where there is none. */
static size_t utf8_length(const unsigned char *text) {
  static const struct {
    unsigned char low, high, second_low, second_high;
    size_t length;
  } kind[] = {{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
              {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
              {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
              {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
              {0xf4, 0xf4, 0x80, 0x8f, 4}};
  for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
    if (text[0] < kind[k].low || text[0] > kind[k].high) continue;
    if (kind[k].length > 1 && (text[1] < kind[k].second_low || text[1] > kind[k].second_high))
      return 0;
    for (size_t i = 2; i < kind[k].length; i++)
      if (text[i] < 0x80 || text[i] > 0xbf) return 0;
    return kind[k].length;
  }
  return 0;
}

size_t sr__utf8_next(const unsigned char **text, const char **bytes) {
  static const char unknown[] = "\xef\xbf\xbd";
  size_t length = utf8_length(*text);
  *bytes = length ? (const char *)*text : unknown;
  *text += length ? length : 1;
  return length ? length : sizeof unknown - 1;
}

static bool is_control(const unsigned char *text, size_t length) {
  if (length == 1) return (text[0] < 0x20 && text[0] != '\n' && text[0] != '\t') || text[0] == 0x7f;
  return length == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

void sr__text_clean(const char *text, bool controls, char *out, size_t size) {
  static const char unknown[] = "\xef\xbf\xbd";
  const unsigned char *from = (const unsigned char *)text;
  size_t used = 0;
  while (*from && size > 0) {
    const char *bytes;
    size_t length = sr__utf8_next(&from, &bytes);
    if (!controls && is_control((const unsigned char *)bytes, length)) {
      bytes = unknown;
      length = sizeof unknown - 1;
    }
    if (used + length >= size) break;
    memcpy(out + used, bytes, length);
    used += length;
  }
  if (size > 0) out[used] = '\0';
}
