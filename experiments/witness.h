/* The AR(1) witness that most experiments train on, and the exact excess risk of a vote. */
#ifndef SR_EXPERIMENTS_WITNESS_H
#define SR_EXPERIMENTS_WITNESS_H

#include <stdbool.h>

#include "experiment.h"

typedef enum noise_kind { NOISE_IID, NOISE_AR } noise_kind;

typedef struct witness {
  int64_t rows;
  int32_t features;
  double tmix;
  noise_kind noise_kind;
  double noise_sd;
  int32_t members;
} witness;

/* A plan of the cases, and what it is given. */
typedef struct planned {
  const char *plan;    /* as sr_train takes it */
  const char *learner; /* NULL: tree */
  bool knows_tmix;     /* the true T is given; else it is estimated */
} planned;

enum { WITNESS_TEXT = 160 };
/* The witness as sr_simulate takes it. */
void witness_text(const witness *w, char text[WITNESS_TEXT]);

/* Trains on replicate `replicate` of the witness. */
SR_MUST_CHECK sr_status witness_train(sr_context *ctx, const witness *w, const planned *p,
                                      uint64_t seed, uint64_t replicate, sr_ensemble **ensemble);

/* Fresh independent rows of the same witness and 2 eta - 1 at each. `contrast` is freed with free.
 */
SR_MUST_CHECK sr_status witness_test_rows(sr_context *ctx, const witness *w, uint64_t seed,
                                          int64_t rows, sr_table **table, double **contrast);

/* Excess risk over the Bayes rule: the mean of |2 eta - 1| where the vote differs from it. */
SR_MUST_CHECK sr_status witness_excess_risk(sr_context *ctx, const sr_ensemble *ensemble,
                                            const sr_table *test, const double *contrast,
                                            double *risk);

/* Train and judge in one call; measures "risk", "tmix" (what the plan worked with) and
 * "fit_seconds". */
SR_MUST_CHECK sr_status witness_measure(sr_context *ctx, const witness *w, const planned *p,
                                        const experiment_unit *unit, int64_t test_rows,
                                        measurement *out);

const char *witness_noise_name(noise_kind kind);

#endif
