/* Decimal text to numbers, correctly rounded, whatever the locale. Internal to src/data. */
#ifndef SR_DATA_PARSE_NUMBER_H
#define SR_DATA_PARSE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Reads [+-]digits[.digits][e[+-]digits] at `text` and gives the first character after it, or NULL
 * where there is no number. Reads up to eight bytes past the number, so the buffer must go on for
 * that long with anything but a digit. The result is that of strtod or strtof in the C locale;
 * values outside the range become infinite or zero, as there. */
const char *sr__parse_double(const char *text, double *value);
const char *sr__parse_float(const char *text, float *value);

/* The whole of text[0..length) as a number, also inf, infinity and nan with a sign; false where it
 * is none. Needs no bytes after `length`. */
bool sr__whole_double(const char *text, size_t length, double *value);
bool sr__whole_float(const char *text, size_t length, float *value);

#endif
