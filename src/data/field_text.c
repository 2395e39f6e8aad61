#include "field_text.h"

#include <ctype.h>
#include <stdint.h>
#include <strings.h>

bool sr__is_missing(const char *text, size_t length) {
  switch (length) {
    case 0:
      return true;
    case 1:
      return *text == '?';
    case 2:
      return strncasecmp(text, "NA", 2) == 0;
    case 3:
      return strncasecmp(text, "NaN", 3) == 0 || strncasecmp(text, "N/A", 3) == 0;
    case 4:
      return strncasecmp(text, "null", 4) == 0 || strncasecmp(text, "-nan", 4) == 0;
    default:
      return false;
  }
}

typedef struct cursor {
  const char *at, *end;
} cursor;

static bool take_char(cursor *text, char wanted) {
  if (text->at == text->end || *text->at != wanted) return false;
  text->at++;
  return true;
}

static bool take_digits(cursor *text, int digits, int lowest, int highest, int *value) {
  *value = 0;
  for (int i = 0; i < digits; i++) {
    if (text->at == text->end || !isdigit((unsigned char)*text->at)) return false;
    *value = *value * 10 + (*text->at++ - '0');
  }
  return *value >= lowest && *value <= highest;
}

/* Days since 1970-01-01 in the Gregorian calendar: years start in March, so that the leap day is
 * their last. */
static int64_t days_since_1970(int64_t year, int month, int day) {
  if (month <= 2) year--;
  int64_t era = (year >= 0 ? year : year - 399) / 400, year_of_era = year - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

static bool day_exists(int year, int month, int day) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= days[month - 1] + (month == 2 && leap);
}

static bool take_zone(cursor *text, double *offset) {
  *offset = 0;
  if (text->at == text->end || take_char(text, 'Z')) return true;
  double sign = take_char(text, '-') ? -1 : take_char(text, '+') ? 1 : 0;
  int hours, minutes = 0;
  if (sign == 0 || !take_digits(text, 2, 0, 23, &hours)) return false;
  bool colon = take_char(text, ':');
  if ((colon || text->at < text->end) && !take_digits(text, 2, 0, 59, &minutes)) return false;
  *offset = sign * (hours * 3600.0 + minutes * 60.0);
  return true;
}

static bool take_clock(cursor *text, double *seconds) {
  int hours, minutes, whole = 0;
  if (!take_digits(text, 2, 0, 24, &hours) || !take_char(text, ':') ||
      !take_digits(text, 2, 0, 59, &minutes))
    return false;
  if (take_char(text, ':') && !take_digits(text, 2, 0, 60, &whole)) return false;
  double fraction = 0, place = 0.1;
  if (take_char(text, '.')) {
    for (; text->at < text->end && isdigit((unsigned char)*text->at); text->at++, place /= 10)
      fraction += place * (*text->at - '0');
  }
  double offset;
  if (!take_zone(text, &offset)) return false;
  *seconds = hours * 3600.0 + minutes * 60.0 + whole + fraction - offset;
  return true;
}

/* A number of one to `digits` digits. */
static bool take_number(cursor *text, int digits, int *value) {
  int taken = 0;
  *value = 0;
  for (; taken < digits && text->at < text->end && isdigit((unsigned char)*text->at); taken++)
    *value = *value * 10 + (*text->at++ - '0');
  return taken > 0;
}

/* Hours of one or two digits, with AM or PM behind them. */
static bool take_loose_clock(cursor *text, double *seconds) {
  int hours, minutes = 0, whole = 0;
  if (!take_number(text, 2, &hours) || !take_char(text, ':') ||
      !take_digits(text, 2, 0, 59, &minutes))
    return false;
  if (take_char(text, ':') && !take_digits(text, 2, 0, 60, &whole)) return false;
  take_char(text, ' ');
  bool late = text->end - text->at == 2 && strncasecmp(text->at, "PM", 2) == 0;
  bool early = text->end - text->at == 2 && strncasecmp(text->at, "AM", 2) == 0;
  if (late || early) {
    if (hours < 1 || hours > 12) return false;
    hours = hours % 12 + (late ? 12 : 0);
    text->at += 2;
  }
  *seconds = hours * 3600.0 + minutes * 60.0 + whole;
  return hours <= 24;
}

bool sr__parse_date(const char *text, size_t length, sr__date_order order, double *seconds) {
  cursor at = {text, text + length};
  int part[3];
  double clock = 0;
  for (int k = 0; k < 3; k++) {
    if (!take_number(&at, 4, &part[k])) return false;
    if (k == 2) break;
    if (!take_char(&at, '/') && !take_char(&at, '.') && !take_char(&at, '-')) return false;
  }
  int year = part[order == SR__YEAR_FIRST ? 0 : 2];
  int month = part[order == SR__MONTH_FIRST ? 0 : 1];
  int day = part[order == SR__DAY_FIRST ? 0 : order == SR__MONTH_FIRST ? 1 : 2];
  if (year < 100 && order != SR__YEAR_FIRST) year += year < 70 ? 2000 : 1900;
  if (year < 1000 || month < 1 || month > 12 || day < 1 || !day_exists(year, month, day))
    return false;
  if ((take_char(&at, ' ') || take_char(&at, 'T')) && !take_loose_clock(&at, &clock)) return false;
  *seconds = (double)days_since_1970(year, month, day) * 86400.0 + clock;
  return at.at == at.end;
}

bool sr__parse_iso_time(const char *text, size_t length, double *seconds) {
  cursor at = {text, text + length};
  int year, month, day = 1;
  double clock = 0;
  if (!take_digits(&at, 4, 0, 9999, &year)) return false;
  char between = at.at < at.end ? *at.at : 0;
  if ((between != '-' && between != '/') || !take_char(&at, between) ||
      !take_digits(&at, 2, 1, 12, &month))
    return false;
  if (take_char(&at, between) && !take_digits(&at, 2, 1, 31, &day)) return false;
  if (!day_exists(year, month, day)) return false;
  if ((take_char(&at, 'T') || take_char(&at, ' ')) && !take_clock(&at, &clock)) return false;
  *seconds = (double)days_since_1970(year, month, day) * 86400.0 + clock;
  return at.at == at.end;
}
