/* Plans side by side on tables whose test rows are told apart by a rule: for the experiments on
 * maps and on tabular data. */
#ifndef SR_EXPERIMENTS_ROUTING_STUDY_H
#define SR_EXPERIMENTS_ROUTING_STUDY_H

#include "experiment.h"

/* The arms of a comparison; the size control draws as many rows as routing does. */
typedef struct study_arm {
  const char *label, *plan;
  const char *graph; /* NULL: that of the set */
} study_arm;

/* A file below the data folder (environment variable SPECROUTE_DATA), read as the options say.
 * SR_ERROR_IO with a sentence where it is not there. */
SR_MUST_CHECK sr_status routing_read(sr_context *ctx, const char *file,
                                     const sr_read_options *options, measurement *out,
                                     sr_table **table);

/* What is fitted. */
typedef struct study_fit {
  const study_arm *arm;
  const char *graph; /* of the set */
  const char *learner;
  int64_t members;
  bool gated;  /* members weigh by how near their parts lie to the row */
  bool chosen; /* the plan chooses on held-out rows, so training is one call */
} study_fit;

/* Fits on rows with test[i] == 0 and measures the error on those with 1 (2: left out). */
SR_MUST_CHECK sr_status routing_test_error(sr_context *ctx, const sr_table *table,
                                           const uint8_t *test, const study_fit *fit, uint64_t seed,
                                           double *error);

/* Mean over seeds of a - b, paired by seed, with Student's interval; NaN ends below two. The level
 * is 95 % for all `comparisons` of a table together. */
sr_interval routing_paired(const result_sample *a, const result_sample *b, int comparisons);

/* The rule of every claim, written before it was run. An arm helps where the interval of (arm -
 * plain) lies below zero; by place where (arm - control) does too: bags of the same size, or what
 * else the claim names. `where` names the set. Adds +1 to helps, by_place, harms (arm - plain above
 * zero) or open. */
typedef struct routing_tally {
  int sets, helps, by_place, harms, open, missing;
  char names[256];                          /* of sets where routing helps by place */
  char only[256], worse[256], unclear[256]; /* where it helps alone, harms, is open */
  double most;                              /* gain that an open interval leaves possible */
} routing_tally;
void routing_count(routing_tally *tally, const char *where, const sr_interval *against_plain,
                   const sr_interval *against_size);
/* Where an arm helps and where not, with the names of the sets, as a remark. `control` names what
 * it is set beside. */
void routing_say_where(conclusion *c, const routing_tally *tally, const char *words,
                       const char *control);
/* All sets help by place: reproduced. None does and none is open: not reproduced. Some: partly,
 * with their names. Else it cannot be told with these seeds. */
void routing_decide(conclusion *c, const routing_tally *tally, const char *claim);

#endif
