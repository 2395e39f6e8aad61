/* What a learner is to the rest of the library: one operations table. A new learner is one file
 * that defines such a table and one line in registry.c. Internal.
 *
 * A learner works with four objects of its own kind, opaque to everybody else:
 *   shared    what all members have in common and prediction needs: bin edges, scaling, class
 * count. Stored once in a model file. training  the training rows in the form that fit likes, made
 * once for all members. rows      rows in the form that predict likes, made once for all members
 * (encode). member    one fitted model. prepare and encode use the context's threads; fit and
 * predict run on the caller's thread and may be called from many threads at once with a context
 * each. Results depend on the arguments alone, never on the thread count. */
#ifndef SR_LEARNER_LEARNER_H
#define SR_LEARNER_LEARNER_H

#include <specroute/learner.h>

#include "core/bytes.h"
#include "core/core.h"
#include "core/random.h"

typedef struct sr__shared sr__shared;
typedef struct sr__training sr__training;
typedef struct sr__rows sr__rows;
typedef struct sr__member sr__member;

/* Exactly one is set. Learners copy what they need of it. */
typedef struct sr__input {
  const sr_table *table;
  const sr_series *series;
} sr__input;

/* Takes a piece of a bag. */
typedef sr_status (*sr__bag_taker)(void *data, const int32_t *rows, const int32_t *counts,
                                   int64_t length);

/* The rows of one member: distinct and increasing, each `counts` >= 1 times (NULL = once each).
 * They stand in arrays, or `read` makes them and hands them over in increasing pieces, the same
 * ones each time. Rows whose label is missing are passed over. Cost and memory of fit follow the
 * bag, not the table. */
typedef struct sr__bag {
  const int32_t *rows;
  const int32_t *counts;
  int64_t length;
  sr_status (*read)(sr_context *ctx, const void *maker, sr__bag_taker take, void *data);
  const void *maker;
} sr__bag;

SR_MUST_CHECK static inline sr_status sr__bag_read(sr_context *ctx, const sr__bag *bag,
                                                   sr__bag_taker take, void *data) {
  return bag->read ? bag->read(ctx, bag->maker, take, data)
                   : take(data, bag->rows, bag->counts, bag->length);
}

typedef struct sr__learner {
  sr_method_info info;
  bool takes_table, takes_series;

  /* SR_ERROR_ARGUMENT where an option that this learner reads is out of range. */
  sr_status (*check)(sr_context *ctx, const sr_learner_options *options);
  /* Looks at all rows, labels and weights of the input. */
  sr_status (*prepare)(sr_context *ctx, const sr__input *input, const sr_learner_options *options,
                       sr__shared **shared, sr__training **training);
  /* The training rows as prediction sees them (row i of the input is row i here); owned by
   * `training`. This is how out-of-bag rows are judged without encoding again. */
  const sr__rows *(*training_rows)(const sr__training *training);
  /* `random` is the member's own stream. A bag without a labelled row is an SR_ERROR_DATA. */
  sr_status (*fit)(sr_context *ctx, const sr__shared *shared, const sr__training *training,
                   const sr_learner_options *options, const sr__bag *bag, sr__random *random,
                   sr__member **member);

  /* Rows [first, first + count) of an input; labels and weights are not looked at. SR_ERROR_DATA
   * where the input does not have the features of the training input. */
  sr_status (*encode)(sr_context *ctx, const sr__shared *shared, const sr__input *input,
                      int64_t first, int64_t count, sr__rows **rows);
  /* For i < count, row r = index ? index[i] : i of `rows`: vote[i] the class of the member, and
   * proba[i * classes ...] its class probabilities. Either output may be NULL. Members never vote
   * for a class that their bag did not hold; ties go to the lower class. */
  sr_status (*predict)(sr_context *ctx, const sr__shared *shared, const sr__member *member,
                       const sr__rows *rows, const int32_t *index, int64_t count, int32_t *vote,
                       float *proba);
  /* rows_to's feature j becomes that of `from`, taken from row source[i] for row i (NULL: row i).
   * Both hold the same number of rows and were made by the same `shared`. For permutation
   * importance; NULL where the learner has no features. */
  void (*copy_feature)(const sr__shared *shared, const sr__rows *from, int64_t feature,
                       const int32_t *source, sr__rows *to);
  sr_status (*copy_rows)(sr_context *ctx, const sr__shared *shared, const sr__rows *from,
                         sr__rows **copy);

  int32_t (*classes)(const sr__shared *shared);
  int64_t (*features)(const sr__shared *shared); /* 0 where the learner takes series */

  /* Sticky writers and readers: see core/bytes.h. A loader checks every number it reads, so that no
   * bytes can make predict leave its arrays; it gives the reader's status. */
  void (*save_shared)(const sr__shared *shared, sr__bytes *bytes);
  sr_status (*load_shared)(sr__byte_reader *reader, sr__shared **shared);
  void (*save_member)(const sr__shared *shared, const sr__member *member, sr__bytes *bytes);
  sr_status (*load_member)(sr__byte_reader *reader, const sr__shared *shared, sr__member **member);

  /* Null-safe. */
  void (*free_shared)(sr__shared *shared);
  void (*free_training)(sr__training *training);
  void (*free_rows)(sr__rows *rows);
  void (*free_member)(sr__member *member);
} sr__learner;

/* SR_ERROR_NOT_FOUND with the known names where there is none. */
SR_MUST_CHECK sr_status sr__learner_find(sr_context *ctx, const char *name,
                                         const sr__learner **learner);
/* In a fixed order; NULL past the end. */
const sr__learner *sr__learner_at(int index);
/* That the learner takes such an input and the input has classes and features. */
SR_MUST_CHECK sr_status sr__learner_check_input(sr_context *ctx, const sr__learner *learner,
                                                const sr__input *input);

#endif
