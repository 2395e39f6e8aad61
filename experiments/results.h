/* Result files: one JSON object a line, appended and flushed as soon as a unit is finished. */
#ifndef SR_EXPERIMENTS_RESULTS_H
#define SR_EXPERIMENTS_RESULTS_H

#include <stdio.h>

#include "experiment.h"

typedef struct result {
  char name[CASE_NAME_SIZE];
  uint64_t seed;
  measurement measured;
  double seconds;
  char commit[48];
} result;

typedef struct results {
  result *item;
  int64_t count, capacity;
  long good_bytes; /* where the whole lines of the file end */
} results;

/* DIR/NAME-quick.jsonl or DIR/NAME-full.jsonl. */
void results_path(const char *folder, const experiment *e, experiment_scale scale, char *path,
                  size_t size);
const char *experiment_scale_name(experiment_scale scale);

/* Reads what a file holds; a file that is not there holds nothing. A last line that a kill tore is
 * left out. Any other bad line is an SR_ERROR_FORMAT with a sentence in `reason`. */
SR_MUST_CHECK sr_status results_read(sr_context *ctx, const char *path, results *out, char *reason,
                                     size_t reason_size);
void results_free(results *r);
SR_MUST_CHECK sr_status results_add(results *r, const result *one);
const result *results_find(const results *r, const char *case_name, uint64_t seed);

/* A file open for appending, locked against a second run; NULL with a reason. */
FILE *results_open(const char *path, char *reason, size_t reason_size);
SR_MUST_CHECK sr_status results_append(FILE *file, const experiment *e, experiment_scale scale,
                                       const result *one);

#endif
