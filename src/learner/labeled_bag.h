/* Labels and weights of training rows, and the rows of a bag that can teach: those with a class and
 * a weight above 0. Internal. */
#ifndef SR_LEARNER_LABELED_BAG_H
#define SR_LEARNER_LABELED_BAG_H

#include <specroute/data.h>

#include "data/bag.h"

typedef struct sr__labeled_bag {
  const int32_t *all_labels; /* of the training rows; -1: no class */
  const float *all_weights;  /* of the training rows; NULL: 1 each */
  int64_t length;
  int32_t *row;    /* increasing */
  int32_t *label;  /* of each */
  int32_t *count;  /* of each: how often it was drawn */
  double *weight;  /* of each: its weight times the count */
  int64_t given;   /* rows of the bag, with those that cannot teach */
  sr_context *ctx; /* while it is read */
  int64_t row_capacity, label_capacity, count_capacity, weight_capacity;
} sr__labeled_bag;

/* SR_ERROR_DATA where no row can teach. Free with sr__labeled_bag_free, also after a failure. */
SR_MUST_CHECK sr_status sr__labeled_bag_read(sr_context *ctx, const sr__bag *bag,
                                             const int32_t *label, const float *weight,
                                             sr__labeled_bag *labeled);
/* SR_ERROR_DATA, with a sentence: no row of a bag of so many can teach. */
SR_MUST_CHECK sr_status sr__fail_empty_bag(sr_context *ctx, int64_t rows);
void sr__labeled_bag_free(sr_context *ctx, sr__labeled_bag *labeled);

/* Freed with sr__free or sr__release; *weight is NULL where the table has none. SR_ERROR_DATA for a
 * weight that is negative or not finite. */
SR_MUST_CHECK sr_status sr__copy_labels(sr_context *ctx, const sr_table_view *view,
                                        int32_t **label);
SR_MUST_CHECK sr_status sr__copy_weights(sr_context *ctx, const sr_table_view *view,
                                         float **weight);

#endif
