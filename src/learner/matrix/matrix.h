/* Features as rows of floats, for learners that work on a matrix. Its functions are operations of a
 * learner (learner/learner.h): a learner that takes them has a member of its own alone. Internal.
 */
#ifndef SR_LEARNER_MATRIX_MATRIX_H
#define SR_LEARNER_MATRIX_MATRIX_H

#include "learner/learner.h"

/* How the words of a feature become numbers. */
typedef enum sr__word_form {
  SR__WORD_CODE,   /* one column: the word's number */
  SR__WORD_COLUMNS /* a column per word: 1 where it is the row's, else 0 */
} sr__word_form;

struct sr__encoder {
  sr_allocator allocator;
  int32_t classes;
  sr__word_form form;
  int64_t features;
  int64_t columns;
  int64_t *first;       /* column of each feature; features + 1 of them */
  sr_dictionary *names; /* count 0: a number */
};

struct sr__encoded {
  sr_allocator allocator;
  int64_t count, columns;
  float *x; /* row-major; NaN = missing: no number, or a word that training did not know */
};

struct sr__training {
  sr_allocator allocator;
  sr__encoded *rows;
  int32_t *label;
  float *weight; /* NULL: all 1 */
};

/* SR_ERROR_DATA for a weight below 0 or without end. */
SR_MUST_CHECK sr_status sr__matrix_prepare(sr_context *ctx, const sr_table *table,
                                           sr__word_form form, sr__encoder **encoder,
                                           sr__training **training);
SR_MUST_CHECK sr_status sr__matrix_encode(sr_context *ctx, const sr__encoder *encoder,
                                          const sr_table *table, int64_t first, int64_t count,
                                          sr__encoded **rows);
SR_MUST_CHECK sr_status sr__matrix_copy_encoded(sr_context *ctx, const sr__encoder *encoder,
                                                const sr__encoded *from, sr__encoded **copy);
void sr__matrix_copy_feature(const sr__encoder *encoder, const sr__encoded *from, int64_t feature,
                             const int32_t *source, sr__encoded *to);
const sr__encoded *sr__matrix_training_encoded(const sr__training *training);
int32_t sr__matrix_classes(const sr__encoder *encoder);
int64_t sr__matrix_features(const sr__encoder *encoder);

/* The form is the learner's and is not stored. */
void sr__matrix_save_encoder(const sr__encoder *encoder, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__matrix_load_encoder(sr__byte_reader *reader, sr__word_form form,
                                                uint32_t most_classes, sr__encoder **encoder);

/* Null-safe. */
void sr__matrix_free_encoder(sr__encoder *encoder);
void sr__matrix_free_encoded(sr__encoded *rows);
void sr__matrix_free_training(sr__training *training);

#define SR__MATRIX_LEARNER_OPERATIONS                                                  \
  .flags = SR_LEARNER_TAKES_FEATURES, .training_encoded = sr__matrix_training_encoded, \
  .encode = sr__matrix_encode, .copy_feature = sr__matrix_copy_feature,                \
  .copy_encoded = sr__matrix_copy_encoded, .classes = sr__matrix_classes,              \
  .features = sr__matrix_features, .save_encoder = sr__matrix_save_encoder,            \
  .free_encoder = sr__matrix_free_encoder, .free_training = sr__matrix_free_training,  \
  .free_encoded = sr__matrix_free_encoded

#endif
