#include "print_number.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *put_text(const char *text, char *to) {
  size_t length = strlen(text);
  memcpy(to, text, length);
  return to + length;
}

/* ---- digits ------------------------------------------------------------------------------- */

/* Decimal digits of m, most significant first; gives how many. */
static int put_digits(uint64_t m, char *digits) {
  char reversed[20];
  int count = 0;
  do {
    reversed[count++] = (char)('0' + m % 10);
    m /= 10;
  } while (m);
  for (int i = 0; i < count; i++) digits[i] = reversed[count - 1 - i];
  return count;
}

/* m / 10^scale without trailing zeros; scale may be negative. */
static char *put_scaled(uint64_t m, int scale, char *to) {
  char digits[20];
  while (scale > 0 && m % 10 == 0) {
    m /= 10;
    scale--;
  }
  int count = put_digits(m, digits);
  int whole = count - scale; /* digits before the point */
  if (whole <= 0) {
    to = put_text("0.", to);
    for (; whole < 0; whole++) *to++ = '0';
    memcpy(to, digits, (size_t)count);
    return to + count;
  }
  for (int i = 0; i < whole; i++) *to++ = i < count ? digits[i] : '0';
  if (whole >= count) return to;
  *to++ = '.';
  memcpy(to, digits + whole, (size_t)(count - whole));
  return to + (count - whole);
}

/* ---- the C library's way ------------------------------------------------------------------ */

/* The fewest digits that come back; the locale of this thread is set aside meanwhile. */
static char *put_by_library(double value, bool single, char *to) {
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
  int most = single ? 9 : 17;
  for (int digits = single ? 6 : 15;; digits++) {
    int length = snprintf(to, SR_NUMBER_BYTES, "%.*g", digits, value);
    bool same = single ? strtof(to, NULL) == (float)value : strtod(to, NULL) == value;
    if (same || digits == most) {
      to += length;
      break;
    }
  }
  if (c_locale) {
    uselocale(before);
    freelocale(c_locale);
  }
  return to;
}

/* ---- floats ------------------------------------------------------------------------------- */

static const double power_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Whether m / 10^scale is read as `value`: one correctly rounded division, then the rounding to
 * float, which is safe away from the middle between two floats. */
static bool reads_back(uint64_t m, int scale, float value) {
  double read = (double)m / power_of_ten[scale];
  uint64_t bits;
  memcpy(&bits, &read, sizeof bits);
  return (float)read == value && (bits & 0x1FFFFFFF) != 0x10000000;
}

/* Any decimal of at most six digits is the six-digit rounding of its float, so trying six to nine
 * digits and dropping zeros finds the shortest text. */
static char *put_positive_float(float value, char *to) {
  enum { FEWEST = 6, MOST = 9 };
  if (value < 1e7f && value == (float)(uint32_t)value) {
    return to + put_digits((uint32_t)value, to);
  }
  if (value < 1e-4f || value >= 1e9f) return put_by_library((double)value, true, to);
  int whole = 1; /* digits before the point; 0 for 0.0d, -1 for 0.00d ... */
  while (whole < 10 && (double)value >= power_of_ten[whole]) whole++;
  if (value < 1.0f) {
    for (whole = 0; (double)value * power_of_ten[1 - whole] < 1.0; whole--) {
    }
  }
  for (int digits = FEWEST; digits <= MOST; digits++) {
    int scale = digits - whole;
    if (scale < 0) continue;
    uint64_t m = (uint64_t)((double)value * power_of_ten[scale] + 0.5);
    if (reads_back(m, scale, value)) return put_scaled(m, scale, to);
  }
  return put_by_library((double)value, true, to);
}

char *sr__print_float(float value, char *to) {
  if (isnan(value)) return put_text("NA", to);
  if (signbit(value)) *to++ = '-';
  if (isinf(value)) return put_text("inf", to);
  return put_positive_float(fabsf(value), to);
}

char *sr__print_double(double value, char *to) {
  if (isnan(value)) return put_text("NA", to);
  if (signbit(value)) *to++ = '-';
  value = fabs(value);
  if (isinf(value)) return put_text("inf", to);
  if (value < 1e15 && value == (double)(uint64_t)value) return to + put_digits((uint64_t)value, to);
  return put_by_library(value, false, to);
}
