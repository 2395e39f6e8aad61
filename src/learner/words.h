/* Dictionaries that a model keeps: copied, stored, and matched by name against a new table's. */
#ifndef SR_LEARNER_WORDS_H
#define SR_LEARNER_WORDS_H

#include <specroute/data.h>

#include "core/bytes.h"
#include "core/core.h"

/* `to` owns its names even where the copy failed half way; free with sr__words_free. */
SR_MUST_CHECK sr_status sr__words_copy(sr_context *ctx, sr_dictionary from, sr_dictionary *to);
void sr__words_free(const sr_allocator *allocator, sr_dictionary *names);
void sr__words_save(sr_dictionary names, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__words_load(sr__byte_reader *reader, sr_dictionary *names);
/* For each code of `given` the code of the same name in `known`, or -1. Gives an array of
 * given.count entries to be freed by sr__free. */
SR_MUST_CHECK sr_status sr__words_match(sr_context *ctx, sr_dictionary known, sr_dictionary given,
                                        int32_t **code);
/* The dictionary of feature j; count 0 where it is numeric. */
sr_dictionary sr__words_of(const sr_table_view *view, int64_t j);
/* That the table's features are as many as in training, and text where they were text.
 * `known(data, j)` gives the dictionary of feature j in training. */
SR_MUST_CHECK sr_status sr__words_check_features(sr_context *ctx, const sr_table_view *view,
                                                 int64_t features,
                                                 sr_dictionary (*known)(const void *, int64_t),
                                                 const void *data);

#endif
