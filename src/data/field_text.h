/* What the text of one field stands for. Internal to src/data. */
#ifndef SR_DATA_FIELD_TEXT_H
#define SR_DATA_FIELD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* An unquoted field that stands for a missing value: empty, NA, N/A, NaN, null or ?. */
bool sr__is_missing(const char *text, size_t length);
/* Dates such as 31/12/2010, 12/31/10 or 31.12.2010 18:30, in the order that is said, with hours of
 * one or two digits and AM or PM; as seconds since 1970. */
typedef enum sr__date_order { SR__YEAR_FIRST, SR__DAY_FIRST, SR__MONTH_FIRST } sr__date_order;
bool sr__parse_date(const char *text, size_t length, sr__date_order order, double *seconds);
/* YYYY-MM[-DD[(T| )HH:MM[:SS[.f]][Z|(+|-)HH[:]MM]]], also with / between: seconds since 1970. */
bool sr__parse_iso_time(const char *text, size_t length, double *seconds);

#endif
