/* Ridge as a classifier: +-1 targets, one against the rest, and one factor that makes the
 * scores into probabilities. Internal. */
#ifndef SR_LEARNER_LINEAR_CLASSES_H
#define SR_LEARNER_LINEAR_CLASSES_H

#include "linear.h"

/* Two classes share one target, +1 for the second; a single class has none. Probabilities of the
 * classes that training held are softmax(sharpness x score); others have none. */
typedef struct sr__linear_classes {
  sr_allocator allocator;
  int32_t classes;
  int32_t known;           /* classes that training held */
  int32_t *class_of;       /* known, increasing */
  double sharpness;        /* one over the temperature */
  int64_t judged, wrong;   /* rows that were left out, and those of them that were told wrong */
  int64_t sets;            /* of rows left out together; 0: each row by itself */
  sr__linear_model *model; /* NULL where known is 1 */
} sr__linear_classes;

typedef struct sr__linear_classes_options {
  double most_penalty; /* 0: sr__linear_most_penalty */
  int64_t memory;      /* bytes, see sr__linear_problem */
} sr__linear_classes_options;

typedef struct sr__classes_problem {
  const sr__feature_maker *maker;
  const int32_t *label; /* one of [0, classes) per row of the maker */
  const double *weight; /* NULL: 1 each */
  int32_t classes;
  const sr__left_out *left_out; /* NULL: every row by itself */
  sr__linear_classes_options options;
} sr__classes_problem;

/* What the left-out rows say. */
typedef struct sr__classes_report {
  sr__linear_report linear;
  int64_t judged; /* rows */
  int64_t wrong;  /* of these */
} sr__classes_report;

/* `proba` (may be NULL): rows x classes left-out probabilities, NaN for rows that are not judged.
 * Free with sr__linear_classes_free. */
SR_MUST_CHECK sr_status sr__linear_classes_fit(sr_context *ctx, const sr__classes_problem *problem,
                                               float *proba, sr__classes_report *report,
                                               sr__linear_classes **model);
void sr__linear_classes_free(sr__linear_classes *model);

/* One row: score[t * stride] of each target. Gives the class of the largest score, the lower one of
 * equals; `proba` (may be NULL) gets `classes` numbers. */
int32_t sr__linear_classes_vote(const sr__linear_classes *model, const double *score,
                                int64_t stride, float *proba);
/* All rows of a maker; vote[i] or proba[i * classes ..] may be NULL. order[i] is where the answer
 * for the maker's row i goes (NULL: i). */
SR_MUST_CHECK sr_status sr__linear_classes_predict(sr_context *ctx, const sr__linear_classes *model,
                                                   const sr__feature_maker *maker,
                                                   const int32_t *order, int32_t *vote,
                                                   float *proba);

void sr__linear_classes_save(const sr__linear_classes *model, sr__bytes *bytes);
SR_MUST_CHECK sr_status sr__linear_classes_load(sr__byte_reader *reader, int32_t classes,
                                                sr__linear_classes **model);

#endif
