/* Sets of a folder of UCR files: NAME/NAME_TRAIN.tsv and _TEST.tsv (or .ts, .txt; also .gz), in
 * folders of their own or side by side. */
#ifndef SR_EXPERIMENTS_UCR_SETS_H
#define SR_EXPERIMENTS_UCR_SETS_H

#include "experiment.h"

enum { UCR_ARCHIVE_SETS = 128, UCR_MOST_SETS = 512 };
/* The names of the archive in its order, then those that were met since. */
int ucr_set_count(void);
const char *ucr_set_name(int set);
/* What an experiment's `know` is: the sets of a folder, or the one that a case names. */
void ucr_know_sets(const char *data, const char *case_name);

typedef struct ucr_set {
  sr_table *train, *test, *pooled; /* codes of classes are the same in all */
  bool partial;                    /* the folder's INDEX.tsv says that cases are missing */
  double lag1;                     /* mean lag-1 autocorrelation inside the series */
} ucr_set;

/* Whether both files are there; `data` may be NULL. */
bool ucr_set_available(const char *data, const char *name);
/* Free with ucr_set_free, also after a failure. */
SR_MUST_CHECK sr_status ucr_set_read(sr_context *ctx, const char *data, const char *name,
                                     ucr_set *set);
void ucr_set_free(ucr_set *set);

/* At most `most` rows of a table, a random choice that the seed names, in their order. */
SR_MUST_CHECK sr_status ucr_sample(sr_context *ctx, const sr_table *table, int64_t most,
                                   uint64_t seed, sr_table **sample);
/* fold[i] in [0, folds): classes spread evenly over the folds. */
SR_MUST_CHECK sr_status ucr_folds(const sr_table *table, int folds, uint64_t seed, int32_t *fold);

#endif
