/* A growing set of texts, each with a code: classes, groups, categories. Internal to src/data. */
#ifndef SR_DATA_NAMES_H
#define SR_DATA_NAMES_H

#include "table.h"

/* A struct of zeros is an empty set. Codes count from 0 in the order of adding. */
typedef struct sr__names {
  char *text; /* all names, each with its final zero */
  int64_t text_used, text_capacity;
  int64_t *start; /* of each name in text */
  int64_t *line;  /* where each was seen first */
  int64_t count, capacity, line_capacity;
  int32_t *slot; /* open addressing: code + 1, 0 = free */
  int64_t slots;
} sr__names;

/* The code of the text, which is added where it is new. */
SR_MUST_CHECK sr_status sr__names_add(sr_context *ctx, sr__names *names, const char *text,
                                      size_t length, int64_t line, int32_t *code);
/* The code of the text, or -1. */
int32_t sr__names_find(const sr__names *names, const char *text, size_t length);
const char *sr__names_get(const sr__names *names, int64_t code);
size_t sr__names_length(const sr__names *names, int64_t code);
/* Numbers first, by value, then text by its bytes; rank[code] is the place of each name. */
SR_MUST_CHECK sr_status sr__names_sort(sr_context *ctx, const sr__names *names, int32_t *rank,
                                       sr_dictionary *sorted);
/* Whether all texts of this value mean one number: beyond 2^53 a double stands for several whole
 * numbers, such as ids, and infinity for all that are too large. */
bool sr__names_one_number(double value);
/* The same for classes: texts of one number ("1", "+1", "1.0") are one class, by its shortest text,
 * whatever the other classes are. */
SR_MUST_CHECK sr_status sr__names_sort_classes(sr_context *ctx, const sr__names *names,
                                               int32_t *rank, sr_dictionary *sorted);
/* The names in the order of their codes. */
SR_MUST_CHECK sr_status sr__names_dictionary(sr_context *ctx, const sr__names *names,
                                             sr_dictionary *dictionary);
void sr__names_clear(sr__names *names);
void sr__names_free(sr_context *ctx, sr__names *names);

#endif
