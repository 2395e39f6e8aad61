/* What an experiment is: cases x seeds that are measured, then a conclusion beside the paper.
 *
 * To add one: a file that defines `const experiment experiment_NAME` (examples/templates has one to
 * copy), one line in methods.def, and a page docs/methods/experiment-NAME.md. Only the public
 * header may be used. */
#ifndef SR_EXPERIMENTS_EXPERIMENT_H
#define SR_EXPERIMENTS_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <specroute/specroute.h>

typedef enum experiment_scale { SCALE_QUICK, SCALE_FULL } experiment_scale;

enum { CASE_NAME_SIZE = 256, VALUE_NAME_SIZE = 32, MAX_VALUES = 32, REASON_SIZE = 768 };

/* One unit of work: a case of the grid under one seed. */
typedef struct experiment_unit {
  experiment_scale scale;
  int index; /* of the case */
  uint64_t seed;
  const char *data; /* folder that the user named; NULL: none */
} experiment_unit;

/* The named numbers that one unit measured. */
typedef struct measurement {
  int count;
  char name[MAX_VALUES][VALUE_NAME_SIZE];
  double value[MAX_VALUES];
  char reason[REASON_SIZE]; /* why the unit failed, where no library call did */
} measurement;

/* Adds a number; at most MAX_VALUES a unit. */
void experiment_measure(measurement *out, const char *name, double value);
/* `return experiment_refuse(out, SR_ERROR_DATA, "...")` fails a unit with a sentence of its own. */
SR_MUST_CHECK sr_status experiment_refuse(measurement *out, sr_status status, const char *format,
                                          ...) SR_PRINTF(3, 4);

typedef struct conclusion conclusion;

/* Begins with its sr_method, as every registered method does. */
typedef struct experiment {
  sr_method about;   /* name ("table1", "claim-cut") and one line; experiments have no options */
  const char *place; /* where the paper says it: "Table 1, Section 5.1" */
  const char *needs; /* data: "nothing: simulated" */
  int seeds[2];      /* how many at quick and full scale */
  double core_seconds[2]; /* about how long all units take on one core, for --list */
  /* The experiment whose result file is shared, where cases of the same names are the same; NULL:
   * its own. */
  const char *measured_by;
  int (*case_count)(experiment_scale scale);
  /* Where cases depend on what there is: called before the others, with the user's folder of data
   * or with the name of a case that has a result (the other one is NULL). NULL: they do not. */
  void (*know)(const char *data, const char *case_name);
  /* Writes "key=value key=value ...": every parameter that changes the numbers, because results are
   * found again by this name. Words without spaces. */
  void (*case_name)(experiment_scale scale, int index, char *name, size_t size);
  /* Whether a case can be run with the user's folder of data (may be NULL); NULL: always. Cases
   * that cannot are left out, and conclusions see what was measured. */
  bool (*available)(const char *data, experiment_scale scale, int index);
  /* Called from several threads, each with its own single-threaded context. Must depend on the unit
   * alone. SR_ERROR_MEMORY, interrupts and library failures may be passed on as they are. */
  sr_status (*run)(sr_context *ctx, const experiment_unit *unit, measurement *out);
  /* Reads the results and says what they show. Results may be missing (interrupted runs): then
   * samples are short or empty and means are NaN. */
  sr_status (*conclude)(conclusion *c);
} experiment;

/* The registry: in the order of the report; NULL past the end. */
const experiment *experiment_at(int index);
const sr_method *experiment_method(int index);
const experiment *experiment_find(const char *name);

/* ---- reading results ---------------------------------------------------------------------- */

/* The values of one case over its seeds, in the order of the seeds; valid as long as `c`. */
typedef struct result_sample {
  int64_t count;
  const double *value;
  const uint64_t *seed;
  double mean, sd; /* NaN and 0 where there are none */
} result_sample;

result_sample conclusion_sample(conclusion *c, int case_index, const char *value_name);
experiment_scale conclusion_scale(const conclusion *c);
sr_context *conclusion_context(const conclusion *c);

/* ---- what they show ----------------------------------------------------------------------- */

/* Opens a table; cells that follow go there. Without it one table has the experiment's title. */
void conclusion_begin_table(conclusion *c, const char *caption);
/* A cell: mean, sd and n of a sample beside the paper's value (NaN: the paper has none). Rows and
 * columns appear in the order in which they are first named. */
void conclusion_add_cell(conclusion *c, const char *row, const char *column, double paper,
                         double paper_sd, const result_sample *measured);
/* A cell with a derived number and its interval, such as a fitted exponent. Ends of NaN: a number
 * that has none; infinite ends: too few seeds for one, which the table says. */
void conclusion_add_estimate(conclusion *c, const char *row, const char *column, double paper,
                             const sr_interval *measured);
/* Sets the color of the last cell, where the common rule (within two standard deviations or 15 %
 * agrees, within a factor of two is partly) does not say what the experiment asks. */
void conclusion_set_agreement(conclusion *c, sr_agreement agreement);
/* Drawn where the conclusion is read for a page; nothing elsewhere. */
void conclusion_add_plot(conclusion *c, const sr_plot *plot);
void conclusion_add_ranks(conclusion *c, const char *title, int32_t count, const char *const *names,
                          const double *ranks, double critical_difference);
/* A sentence below the tables. */
void conclusion_add_remark(conclusion *c, const char *format, ...) SR_PRINTF(2, 3);

typedef enum verdict {
  VERDICT_NONE,
  VERDICT_REPRODUCED,
  VERDICT_PARTLY,
  VERDICT_NOT_REPRODUCED,
  VERDICT_CANNOT_BE_TESTED
} verdict;

/* The verdict with its reason in one sentence; numbers in it are measured, never typed. */
void conclusion_decide(conclusion *c, verdict v, const char *format, ...) SR_PRINTF(3, 4);

#endif
