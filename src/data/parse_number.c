#include "parse_number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "powers_of_five.h"

/* A decimal number: (negative ? -1 : 1) * digits * 10^power. */
typedef struct decimal {
  uint64_t digits; /* the first 19 significant digits */
  int64_t power;
  bool negative;
  bool exact; /* no digit was left out */
} decimal;

enum { MAX_DIGITS = 19 };

/* ---- reading digits ----------------------------------------------------------------------- */

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* Bits in the bytes that are no digits: the high half of a digit is 3, and adding 6 does not carry
 * out of the low one. Only the first such byte is told surely. */
static uint64_t not_digits(uint64_t bytes) {
  return ((bytes & 0xF0F0F0F0F0F0F0F0u) ^ 0x3030303030303030u) |
         (((bytes + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) ^ 0x3030303030303030u);
}

/* Eight digits, first one in the lowest byte: pairs, then fours, then all. */
static uint32_t value_of_eight(uint64_t bytes) {
  bytes -= 0x3030303030303030u;
  bytes = bytes * 10 + (bytes >> 8);
  uint64_t low = (bytes & 0x000000FF000000FFu) * (100 + (1000000ull << 32));
  uint64_t high = ((bytes >> 16) & 0x000000FF000000FFu) * (1 + (10000ull << 32));
  return (uint32_t)((low + high) >> 32);
}

static const char *read_digits(const char *text, uint64_t *digits) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  static const uint32_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  uint64_t bytes, end;
  while (memcpy(&bytes, text, sizeof bytes), (end = not_digits(bytes)) == 0) {
    *digits = *digits * 100000000 + value_of_eight(bytes);
    text += 8;
  }
  int bits = __builtin_ctzll(end) & ~7; /* of the digits that are left, without a loop */
  if (bits == 0) return text;
  bytes = bytes << (64 - bits) | 0x3030303030303030u >> bits;
  *digits = *digits * tens[bits / 8] + value_of_eight(bytes);
  return text + bits / 8;
#else
  for (; is_digit(*text); text++) *digits = *digits * 10 + (uint64_t)(*text - '0');
  return text;
#endif
}

/* Most numbers are short: digits, a point and digits, eight in all, with no exponent. They are put
 * together before they are valued. NULL where a number is not of this kind. */
static const char *read_short(const char *text, decimal *number) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const char *at = text + (*text == '-');
  uint64_t whole, fraction;
  memcpy(&whole, at, sizeof whole);
  int bits =
      __builtin_ctzll(not_digits(whole) | 1ull << 63) & ~7; /* of the digits before the point */
  const char *point = at + bits / 8;
  if (bits == 0 || *point != '.') return NULL;
  memcpy(&fraction, point + 1, sizeof fraction);
  int more = __builtin_ctzll(not_digits(fraction) | 1ull << 63) & ~7;
  const char *end = point + 1 + more / 8;
  if (more == 0 || bits + more > 64 || is_digit(*end) || (*end | 0x20) == 'e') return NULL;
  whole = (whole & ((1ull << bits) - 1)) | fraction << bits;
  if (bits + more < 64) whole = whole << (64 - bits - more) | 0x3030303030303030u >> (bits + more);
  number->digits = value_of_eight(whole);
  number->power = -(more / 8);
  number->negative = *text == '-';
  number->exact = true;
  return end;
#else
  (void)text, (void)number;
  return NULL;
#endif
}

static const char *read_exponent(const char *text, int64_t *power) {
  const char *at = text + 1;
  bool negative = *at == '-';
  if (*at == '-' || *at == '+') at++;
  if (!is_digit(*at)) return text; /* the e belongs to what follows */
  int64_t exponent = 0;
  for (; is_digit(*at); at++) {
    if (exponent < 1000000) exponent = exponent * 10 + (*at - '0');
  }
  *power += negative ? -exponent : exponent;
  return at;
}

/* More than 19 digits: keeps the first 19 that count. */
static void keep_leading_digits(const char *start, const char *stop, decimal *number) {
  number->digits = 0;
  int kept = 0;
  int64_t dropped_whole = 0, kept_fraction = 0;
  bool after_point = false;
  for (const char *at = start; at < stop; at++) {
    if (*at == '.') {
      after_point = true;
    } else if (kept < MAX_DIGITS) {
      number->digits = number->digits * 10 + (uint64_t)(*at - '0');
      if (number->digits) kept++;
      if (after_point) kept_fraction++;
    } else {
      if (*at != '0') number->exact = false;
      if (!after_point) dropped_whole++;
    }
  }
  number->power = dropped_whole - kept_fraction;
}

static const char *read_decimal(const char *text, decimal *number) {
  const char *at = text;
  number->negative = *at == '-';
  if (*at == '-' || *at == '+') at++;
  const char *start = at;
  number->digits = 0;
  number->power = 0;
  number->exact = true;
  at = read_digits(at, &number->digits);
  int64_t count = at - start;
  if (*at == '.') {
    const char *fraction = at + 1;
    at = read_digits(fraction, &number->digits);
    number->power = fraction - at;
    count += at - fraction;
  }
  if (count == 0) return NULL;
  if (count > MAX_DIGITS) keep_leading_digits(start, at, number);
  if (*at == 'e' || *at == 'E') at = read_exponent(at, &number->power);
  return at;
}

/* ---- rounding ----------------------------------------------------------------------------- */

/* Eisel and Lemire: digits * 5^power in 128 bits decides the rounding of all but very few numbers
 * ("Number parsing at a gigabyte per second", 2021). False where it does not. */
static bool round_by_product(uint64_t digits, int64_t power, double *value) {
  if (power < SR_LOWEST_POWER || power > SR_HIGHEST_POWER) return false;
  const uint64_t *five = sr__power_of_five[power - SR_LOWEST_POWER];
  int shift = __builtin_clzll(digits);
  unsigned __int128 product = (unsigned __int128)(digits << shift) * five[0];
  uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
  if ((high & 0x1FF) == 0x1FF) {
    uint64_t more = (uint64_t)(((unsigned __int128)(digits << shift) * five[1]) >> 64);
    low += more;
    if (low < more) high++;
  }
  if (low == UINT64_MAX && (power < -27 || power > 55)) return false;
  int top = (int)(high >> 63);
  uint64_t mantissa = high >> (top + 9);
  int64_t binary = ((217706 * power) >> 16) + 63 + top - shift + 1023;
  if (binary <= 0 || binary >= 2046) return false; /* near the ends of the range */
  /* Exactly half way: to even. */
  if (low <= 1 && power >= -4 && power <= 23 && (mantissa & 3) == 1 &&
      mantissa << (top + 9) == high)
    mantissa &= ~(uint64_t)1;
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >> 53) {
    mantissa = (uint64_t)1 << 52;
    binary++;
  }
  uint64_t bits = (mantissa & (((uint64_t)1 << 52) - 1)) | (uint64_t)binary << 52;
  memcpy(value, &bits, sizeof *value);
  return true;
}

/* |number|, correctly rounded; false where the C library has to do it. */
static bool round_to_double(const decimal *number, double *value) {
  static const double exact_power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (!number->exact) return false;
  /* Clinger: both numbers are exact doubles, so one operation rounds once. */
  if (number->digits <= (uint64_t)1 << 53 && number->power >= -22 && number->power <= 22) {
    double digits = (double)number->digits;
    *value = number->power < 0 ? digits / exact_power[-number->power]
                               : digits * exact_power[number->power];
    return true;
  }
  if (number->digits == 0) {
    *value = 0.0;
    return true;
  }
  return round_by_product(number->digits, number->power, value);
}

enum { LONGEST_NUMBER = 1000 };

/* The C library's answer for text[0..length), in the C locale and without bytes after the end.
 * False where the text is longer than any number is written. */
static bool library_value(const char *text, size_t length, double *value, float *single) {
  char copy[LONGEST_NUMBER + 1];
  if (length > LONGEST_NUMBER) return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale) return false;
  if (value) *value = strtod_l(copy, NULL, c_locale);
  if (single) *single = strtof_l(copy, NULL, c_locale);
  freelocale(c_locale);
  return true;
}

const char *sr__parse_double(const char *text, double *value) {
  decimal number;
  const char *end = read_decimal(text, &number);
  if (!end) return NULL;
  double magnitude;
  if (round_to_double(&number, &magnitude))
    *value = number.negative ? -magnitude : magnitude;
  else if (!library_value(text, (size_t)(end - text), value, NULL))
    return NULL;
  return end;
}

/* Rounding a correctly rounded double again gives the right float, unless the double lies exactly
 * between two floats or outside their normal range. */
static bool rounds_alike(double magnitude) {
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  return (bits & 0x1FFFFFFF) != 0x10000000 &&
         ((magnitude >= (double)FLT_MIN && magnitude <= (double)FLT_MAX) || magnitude == 0.0);
}

const char *sr__parse_float(const char *text, float *value) {
  decimal number;
  const char *end = read_short(text, &number);
  if (!end) end = read_decimal(text, &number);
  if (!end) return NULL;
  double magnitude;
  if (round_to_double(&number, &magnitude) && rounds_alike(magnitude))
    *value = (float)(number.negative ? -magnitude : magnitude);
  else if (!library_value(text, (size_t)(end - text), NULL, value))
    return NULL;
  return end;
}

/* ---- whole fields ------------------------------------------------------------------------- */

static bool named_value(const char *text, size_t length, double *value) {
  bool negative = length && *text == '-';
  if (length && (*text == '-' || *text == '+')) {
    text++;
    length--;
  }
  double magnitude;
  if ((length == 3 && strncasecmp(text, "inf", 3) == 0) ||
      (length == 8 && strncasecmp(text, "infinity", 8) == 0))
    magnitude = INFINITY;
  else if (length == 3 && strncasecmp(text, "nan", 3) == 0)
    magnitude = NAN;
  else
    return false;
  *value = negative ? -magnitude : magnitude;
  return true;
}

enum { PADDED_BYTES = 512, PADDING = 16 };

/* A copy with bytes to read past; NULL where the text is too long for a number. */
static const char *padded(const char *text, size_t length, char *buffer) {
  if (length == 0 || length > PADDED_BYTES - PADDING) return NULL;
  memcpy(buffer, text, length);
  memset(buffer + length, 0, PADDING);
  return buffer;
}

bool sr__whole_double(const char *text, size_t length, double *value) {
  char buffer[PADDED_BYTES];
  const char *copy = padded(text, length, buffer);
  if (!copy) return false;
  const char *end = sr__parse_double(copy, value);
  return end == copy + length || named_value(text, length, value);
}

bool sr__whole_float(const char *text, size_t length, float *value) {
  char buffer[PADDED_BYTES];
  const char *copy = padded(text, length, buffer);
  if (!copy) return false;
  if (sr__parse_float(copy, value) == copy + length) return true;
  double named;
  if (!named_value(text, length, &named)) return false;
  *value = (float)named;
  return true;
}
