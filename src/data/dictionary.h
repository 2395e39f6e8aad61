/* Dictionaries: copied, stored, and matched by name against those of another table. Internal. */
#ifndef SR_DATA_DICTIONARY_H
#define SR_DATA_DICTIONARY_H

#include <specroute/data.h>

#include "core/bytes.h"
#include "core/core.h"

/* Copies names into one allocation, pointers first, then characters. */
SR_MUST_CHECK sr_status sr__copy_names(sr_context *ctx, const char *const *names, int64_t count,
                                       const char *const **copy);
/* A copy whose names are one allocation, or NULL for count 0; free with sr__dictionary_free. */
SR_MUST_CHECK sr_status sr__dictionary_copy(sr_context *ctx, sr_dictionary from, sr_dictionary *to);
void sr__dictionary_free(const sr_allocator *allocator, sr_dictionary *dictionary);
void sr__dictionary_save(sr_dictionary dictionary, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__dictionary_load(sr__byte_reader *reader, sr_dictionary *dictionary);
/* For each code of `given` the code of the same name in `known`, or -1. Gives an array of
 * given.count entries to be freed by sr__free. */
SR_MUST_CHECK sr_status sr__dictionary_match(sr_context *ctx, sr_dictionary known,
                                             sr_dictionary given, int32_t **code);
/* The same for classes, where a number that is not found as it is written is found by its value
 * ("0" as "0.0"). */
SR_MUST_CHECK sr_status sr__classes_match(sr_context *ctx, sr_dictionary known, sr_dictionary given,
                                          int32_t **code);
/* The same for categories, where only one known name may have the value. */
SR_MUST_CHECK sr_status sr__categories_match(sr_context *ctx, sr_dictionary known,
                                             sr_dictionary given, int32_t **code);
/* The same names in the same order. */
bool sr__dictionary_equal(sr_dictionary a, sr_dictionary b);
/* The categories of feature j; count 0 where it is numeric. */
sr_dictionary sr__categories_of(const sr_table_view *view, int64_t j);
/* That the table's features are as many as in training. */
SR_MUST_CHECK sr_status sr__check_feature_count(sr_context *ctx, const sr_table_view *view,
                                                int64_t features);
/* That a feature is text where it was text in training, when its categories were `known`; then
 * sr__dictionary_match. *code stays NULL for a number. */
SR_MUST_CHECK sr_status sr__feature_match(sr_context *ctx, const sr_table_view *view,
                                          int64_t feature, sr_dictionary known, int32_t **code);

#endif
