/* The pieces of a diagnosis. Internal to src/dependence.
 *
 * Rows are gathered once into runs that are never joined: each group in its order, the whole cut
 * once more into two halves. Every sum over pairs of rows is kept by block (a stretch of one half),
 * so that any statistic of those sums has a block jackknife. */
#ifndef SR_DEPENDENCE_DEPENDENCE_H
#define SR_DEPENDENCE_DEPENDENCE_H

#include <specroute/dependence.h>

#include "core/core.h"
#include "core/dense.h"
#include "reach.h"

enum { SR__MAX_BLOCKS = 40, SR__MAX_WARNINGS = 24, SR__MAX_SCALES = 12, SR__MAX_IMPLIED = 16 };

/* Positions [start, end) of one run inside one block; position t has successors below limit. */
typedef struct sr__piece {
  int64_t start, end, limit;
  int32_t block;
} sr__piece;

typedef struct sr__rows {
  int64_t n;
  int64_t *order; /* row of the table at each position */
  int64_t cut;    /* first position of the second half */
  int64_t longest_run;
  int32_t blocks; /* even; the first half of them lies below the cut */
  int64_t piece_count;
  sr__piece *piece; /* increasing */
  int64_t groups;
  int64_t *group_start; /* positions of group g: [group_start[g], group_start[g + 1]) */
  bool time_missing;    /* in some row */
  bool time_disordered; /* it goes back somewhere inside a group */
  bool time_irregular;  /* steps of very different length */
} sr__rows;

/* Standardized columns in position order: column j is value + j * n, 0 where missing. */
typedef struct sr__columns {
  int64_t n, count;
  float *value;
  uint8_t *present;                         /* count * n flags, or NULL where nothing is missing */
  int64_t *feature;                         /* where the column comes from; -1 for a derived one */
  int64_t constant, empty, many_categories; /* features that were left out, and why */
  double missing_share;
} sr__columns;

SR_MUST_CHECK sr_status sr__rows_gather(sr_context *ctx, const sr_table_view *table,
                                        sr__rows *rows);
void sr__rows_free(sr_context *ctx, sr__rows *rows);
/* Features winsorized at median +- 4 (q90 - q10), mean 0, variance 1; small categories as
 * indicators. */
SR_MUST_CHECK sr_status sr__columns_standardize(sr_context *ctx, const sr_table_view *table,
                                                const int64_t *order, sr__columns *columns);
/* One centered indicator a class, for at most 16 classes; rows without a label are missing. */
SR_MUST_CHECK sr_status sr__columns_labels(sr_context *ctx, const sr_table_view *table,
                                           const int64_t *order, sr__columns *columns);
/* Takes from the label columns what a linear fit on the features explains. */
SR_MUST_CHECK sr_status sr__columns_residuals(sr_context *ctx, const sr__columns *features,
                                              sr__columns *labels);
/* Sum of squared correlations of the columns / d^2: 1 / d for unrelated ones, 1 for copies. The
 * variance of a mean over the columns is that of one column times this. */
double sr__columns_alike(const sr__columns *columns);
void sr__columns_free(sr_context *ctx, sr__columns *columns);

/* ---- autocorrelation ---------------------------------------------------------------------- */

/* Sums of products at the lags of one grid: every lag to 32, then 16 an octave. */
typedef struct sr__lags {
  int32_t count;
  int32_t blocks;
  double *sum, *pairs; /* [lag][block] */
  double rows, alike;  /* of the columns: see sr__columns_alike */
} sr__lags;

typedef struct sr__integrated {
  double iact;   /* 1 + 2 sum rho_k, Geyer's initial monotone sequence */
  int64_t cut;   /* first lag that is left out */
  bool finished; /* the sequence ended inside the lags there are */
  double period; /* where the correlation comes back after it had fallen; NaN */
} sr__integrated;

int64_t sr__lag_at(int32_t index);
int32_t sr__lag_index_limit(int64_t longest); /* how many grid lags lie below `longest` */
/* Extends the lags until the integrated time is known or the runs are too short. */
SR_MUST_CHECK sr_status sr__lags_measure(sr_context *ctx, const sr__rows *rows,
                                         const sr__columns *columns, sr__lags *lags,
                                         sr__integrated *integrated);
void sr__lags_free(sr_context *ctx, sr__lags *lags);
/* Correlation at grid lag i without block `left_out` (-1: none left out). */
double sr__lags_correlation(const sr__lags *lags, int32_t index, int32_t left_out);
/* T from the first lag and from the integrated time, with jackknife intervals at quantile z. */
sr_scale sr__lags_first(const sr__lags *lags, const char *method, double z);
sr_scale sr__lags_integrated_scale(const sr__lags *lags, const sr__integrated *integrated,
                                   const char *method, double z);

/* n values with mean 0, in pieces. */
typedef struct sr__centered_runs {
  const float *value;
  int64_t n;
  const sr__piece *piece;
  int64_t piece_count;
} sr__centered_runs;

/* Politis and White on a centered series, pairs inside the runs only; n >= 10. */
SR_MUST_CHECK sr_status sr__politis_white_runs(sr_context *ctx, const sr__centered_runs *runs,
                                               sr_politis_white_form form,
                                               sr_politis_white *length);

/* ---- T of rows in order ------------------------------------------------------------------- */

/* Labels that remember so many times as long as features and their sizes are called slow. */
#define SR__SLOW_LABELS 3.0

typedef struct sr__row_scale {
  sr__reach features, sizes, labels; /* ranks; how far they lie from the middle; class indicators */
  sr__reach all;                     /* the largest */
  double quarters;                   /* median T of the four quarters; NaN: not looked at */
  double period;                     /* of the first feature or class that has one; NaN: none */
  bool endless;                      /* the features' correlation falls ever more slowly */
} sr__row_scale;
/* `slow` (may be NULL) is looked at where there are more features than are looked at one by one. */
SR_MUST_CHECK sr_status sr__row_scale_measure(sr_context *ctx, const sr__rows *rows,
                                              const sr__columns *columns, const sr__columns *labels,
                                              const float *slow, sr__row_scale *scale);

/* ---- the slow coordinate and its transition graph ---------------------------------------------
 */

/* `slow` holds n floats: the direction fitted on one half, applied to the other, standardized
 * there. *found is false where no direction could be fitted. */
SR_MUST_CHECK sr_status sr__slow_coordinate(sr_context *ctx, const sr__rows *rows,
                                            const sr__columns *columns, float *slow, bool *found);

typedef struct sr__transition_modes {
  double lambda;       /* second eigenvalue at lag 1, noise floor removed */
  double spectrum[16]; /* second, third ... eigenvalue at lag 1, mean of the halves, as measured */
  int32_t spectrum_count;
  int32_t cells; /* of the finer half */
  bool connected;
  sr_scale scale;
  int32_t implied_count;
  double implied_lag[SR__MAX_IMPLIED], implied_timescale[SR__MAX_IMPLIED];
  bool implied_bends; /* implied timescales differ by more than noise: no one-step memory */
} sr__transition_modes;

/* `eigenvector` (n floats) gets the second eigenvector at each position. */
SR_MUST_CHECK sr_status sr__transition_modes_estimate(sr_context *ctx, const sr__rows *rows,
                                                      const float *slow, double z,
                                                      sr__transition_modes *transition,
                                                      float *eigenvector);
/* The `count` largest eigenvalues (decreasing) and vectors (columns; may be NULL) of a symmetric
 * matrix, which is overwritten. */
SR_MUST_CHECK sr_status sr__symmetric_top(sr_context *ctx, double *matrix, int32_t size,
                                          int32_t count, double *value, double *vector);

/* ---- drift -------------------------------------------------------------------------------- */

typedef struct sr__drift {
  double change, score; /* total linear change in standard deviations; over its standard error */
  int64_t feature;      /* -1 where it cannot be told */
} sr__drift;
SR_MUST_CHECK sr_status sr__drift_measure(sr_context *ctx, const sr__columns *columns,
                                          sr__drift *drift);

/* ---- graphs ------------------------------------------------------------------------------- */

typedef struct sr__correlogram {
  int32_t count;       /* distances 0 .. count - 1 in steps */
  double *correlation; /* [count] */
  double lambda;       /* correlation at one step */
  double crossing;     /* distance at which the measured curve falls to 1/e */
  sr_scale range;      /* steps, from the first step */
  sr_scale nodes, sum; /* correlated nodes: from the first step, and from the measured curve */
} sr__correlogram;
SR_MUST_CHECK sr_status sr__correlogram_measure(sr_context *ctx, const sr_graph_view *graph,
                                                const sr__columns *columns, double z, uint64_t seed,
                                                sr__correlogram *correlogram);
void sr__correlogram_free(sr_context *ctx, sr__correlogram *correlogram);

/* ---- the object --------------------------------------------------------------------------- */

struct sr_dependence {
  sr_allocator allocator;
  sr_dependence_view view;
  sr_scale scales[SR__MAX_SCALES];
  char reason[320];
  int32_t free_warnings; /* the first ones, which do not speak of the order of the rows */
  char text[SR__MAX_WARNINGS][384];
  const char *warnings[SR__MAX_WARNINGS];
  double implied_lag[SR__MAX_IMPLIED], implied_timescale[SR__MAX_IMPLIED];
  double eigenvalue[16];
  double *lag, *correlation, *slow_correlation; /* owned */
  float *slow;                                  /* owned */
};

/* Fill the object; `z` is the quantile of the interval. */
SR_MUST_CHECK sr_status sr__estimate_time(sr_context *ctx, const sr_table_view *table, double z,
                                          sr_dependence *d);
SR_MUST_CHECK sr_status sr__estimate_graph(sr_context *ctx, const sr_table_view *table,
                                           const sr_graph *graph, uint64_t seed, double z,
                                           sr_dependence *d);
/* What the columns leave out and why, in words. */
void sr__warn_columns(sr_dependence *d, const sr_table_view *table, const sr__columns *columns);
void sr__dependence_warn(sr_dependence *d, const char *format, ...) SR_PRINTF(2, 3);
void sr__dependence_add(sr_dependence *d, sr_scale scale);
/* The order of the rows means nothing, and neither does what was found in it: all of it is unknown
 * then, for the reason given. */
void sr__dependence_deny_order(sr_dependence *d, const char *reason);

#endif
