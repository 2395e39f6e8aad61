/* Runs the units of an experiment on threads and keeps each result at once. */
#ifndef SR_EXPERIMENTS_RUNNER_H
#define SR_EXPERIMENTS_RUNNER_H

#include "results.h"

typedef struct run_options {
  const char *folder; /* where result files live; made where it is missing */
  experiment_scale scale;
  int seeds; /* 0: what the experiment asks for at this scale */
  uint64_t first_seed;
  const char *data; /* folder of data; NULL: none */
  void (*progress)(void *data, const char *name, int64_t done, int64_t total);
  void *progress_data;
} run_options;

typedef struct run_report {
  int64_t units, found, finished; /* in all, already in the file, run now */
  double seconds;
  char reason[REASON_SIZE]; /* why it failed; "" */
} run_report;

/* SR_OK when every unit has its result. SR_ERROR_INTERRUPTED when `ctx` was interrupted: what was
 * finished is in the file. `ctx` gives the thread count and the interrupt. */
SR_MUST_CHECK sr_status experiment_run(sr_context *ctx, const experiment *e,
                                       const run_options *options, run_report *report);

#endif
