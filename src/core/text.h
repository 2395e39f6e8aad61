/* Text that grows in memory, and blanks around a text. Internal. */
#ifndef SR_CORE_TEXT_H
#define SR_CORE_TEXT_H

#include <ctype.h>
#include <stdarg.h>

#include "core.h"

/* The text without the blanks around it: where it begins, and its length. */
static inline const char *sr__trim(const char *text, size_t *length) {
  while (*length && isspace((unsigned char)*text)) text++, --*length;
  while (*length && isspace((unsigned char)text[*length - 1])) --*length;
  return text;
}

/* A struct of zeros is empty text; free `bytes` with sr__free. */
typedef struct sr__text {
  char *bytes; /* zero terminated after put, string and print */
  int64_t length, capacity;
} sr__text;

/* Makes room for `count` more bytes and a final zero. */
SR_MUST_CHECK sr_status sr__text_reserve(sr_context *ctx, sr__text *text, int64_t count);
SR_MUST_CHECK sr_status sr__text_put(sr_context *ctx, sr__text *text, const char *bytes,
                                     int64_t count);
SR_MUST_CHECK sr_status sr__text_string(sr_context *ctx, sr__text *text, const char *string);
/* The value at three digits, to be printed with %.9g: 5270, not 5.27e+03. */
double sr__three_digits(double value);
SR_MUST_CHECK sr_status sr__text_print(sr_context *ctx, sr__text *text, const char *format, ...)
    SR_PRINTF(3, 4);

/* Adds a sentence to the text in a buffer of `size` bytes, a blank between two; what does not fit
 * is cut off. */
void sr__add_sentence(char *text, size_t size, const char *format, va_list arguments);

/* Whether the text ends in `ending`, letter by letter. */
bool sr__ends_in(const char *text, const char *ending);

/* The next character of a text that may be no UTF-8: its bytes, or those of U+FFFD for a byte that
 * belongs to none; gives how many and moves *text on. */
size_t sr__utf8_next(const unsigned char **text, const char **bytes);

/* sr_text_clean, for rooms below it. */
void sr__text_clean(const char *text, bool controls, char *out, size_t size);

#endif
