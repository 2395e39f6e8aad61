/* What the text of one field stands for. Internal to src/data. */
#ifndef SR_DATA_FIELD_TEXT_H
#define SR_DATA_FIELD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* An unquoted field that stands for a missing value: empty, NA, N/A, NaN, null or ?. */
bool sr__is_missing(const char *text, size_t length);
/* YYYY-MM[-DD[(T| )HH:MM[:SS[.f]][Z|(+|-)HH[:]MM]]], also with / between: seconds since 1970. */
bool sr__parse_iso_time(const char *text, size_t length, double *seconds);

#endif
