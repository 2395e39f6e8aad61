/* The methods that the UCR experiments compare, and one set under one of them. */
#ifndef SR_EXPERIMENTS_UCR_METHODS_H
#define SR_EXPERIMENTS_UCR_METHODS_H

#include "ucr_sets.h"

/* In the order of the paper's table, then what it has not. */
typedef enum ucr_method_name {
  UCR_RF,
  UCR_LAG,
  UCR_AUTO_BLOCK,
  UCR_STATIONARY,
  UCR_TSF,
  UCR_RF_SPECTRAL,
  UCR_ROCKET,
  UCR_ROCKET_ROUTED,
  UCR_PAPER_METHODS,
  UCR_RF_ROUTED = UCR_PAPER_METHODS,
  /* Bags as large as those of the spectral forest, the routed forest and the routed ROCKET, drawn
   * anywhere; the graph, and with it the units that ROCKET judges its penalty by, is the same. */
  UCR_RF_SPECTRAL_SIZE,
  UCR_RF_SIZE,
  UCR_ROCKET_SIZE,
  UCR_ROCKET_UNIFORM,
  UCR_ARSENAL,
  UCR_MINIROCKET,
  UCR_QUANT,
  UCR_AUTO,
  UCR_METHODS
} ucr_method_name;

typedef struct ucr_method {
  const char *name, *label;          /* in case names, and in tables */
  double paper_accuracy, paper_rank; /* Table 3; NaN where the paper has none */
} ucr_method;
const ucr_method *ucr_method_at(int method);

/* The cases of the experiment that measures all sets under all methods; others read them. */
int ucr_count_cases(experiment_scale scale);
void ucr_name_case(experiment_scale scale, int index, char *name, size_t size);
SR_MUST_CHECK sr_status ucr_run_unit(sr_context *ctx, const experiment_unit *unit,
                                     measurement *out);

/* Cases are sets x methods. */
void ucr_case_name(int set, int method, char *name, size_t size);
/* Case c of all: set c / UCR_METHODS, method c % UCR_METHODS. */
int ucr_case_of(const char *set, int method);

/* One repetition of ten-fold cross-validation on the pooled cases ("cv"), and the default split
 * ("default"); the forest also tells lag1 and partial. Quick: at most 150 pooled cases, 200 of each
 * half of the split, a tenth of the kernels and 40 trees. */
SR_MUST_CHECK sr_status ucr_run(sr_context *ctx, const experiment_unit *unit, const char *set,
                                int method, measurement *out);

/* Accuracy of a method on a set: mean over the seeds, NaN where it was not measured. */
double ucr_accuracy(conclusion *c, int set, int method, const char *value);
/* Sets on which all of methods[0 .. count) were measured, without partial ones: their numbers go to
 * `set` (UCR_MOST_SETS of room), their accuracies, sets x count, to `accuracy`. */
int64_t ucr_complete_sets(conclusion *c, const int *methods, int count, int *set, double *accuracy);
/* The name of a set in a table: marked where it was measured only in part. */
void ucr_row_name(conclusion *c, int set, char *name, size_t size);
/* A remark that names the marked sets and says what they are left out of ("": nothing); none where
 * there are none. These two ask for cases of `ucr`; with cases of its own an experiment lists the
 * names and says them. */
void ucr_add_partial_remark(conclusion *c, const char *left_out_of);
void ucr_list_name(const char *name, char *list, size_t size);
void ucr_say_partial(conclusion *c, const char *names, const char *left_out_of);

/* Mean over sets of a minus b with its 95 % interval (bootstrap over sets); NaN below three sets.
 */
sr_interval ucr_gain(conclusion *c, int a, int b, int64_t *sets);
/* Mean of some values with its 95 % interval (bootstrap); NaN below three of them. */
sr_interval ucr_mean(conclusion *c, int64_t count, const double *value);
/* A gain over a rival of none: reproduced where the interval lies above 0 and comes within a
 * quarter of the claim; not reproduced where it stays below three quarters of the claim; else it
 * cannot be told. */
verdict ucr_gain_verdict(const sr_interval *gain, double claim);

#endif
