/* How many rows a series remembers. Internal; used by dependence, evaluate and train. */
#ifndef SR_DEPENDENCE_REACH_H
#define SR_DEPENDENCE_REACH_H

#include <math.h>
#include <stdbool.h>

#include "core/core.h"
#include "core/fft.h"

/* A shorter run than this has fewer lags than a reach is measured from. */
enum { SR__SHORTEST_RUN = 5 };

/* Positions [start[k], start[k + 1]) are one run; runs are never joined. */
typedef struct sr__runs {
  int64_t count;
  const int64_t *start; /* count + 1 */
} sr__runs;

typedef struct sr__reach {
  double estimate; /* rows; 1 where no memory is clear */
  double careful;  /* the same with a later end of the sum: rather too long than too short */
  double period;   /* lag at which the correlation comes back, again and again; NaN: it does not */
  double slowing;  /* standard errors by which the correlation falls faster at first than twice its
                      later pace; NaN: it cannot be told. Above 0 there is no one scale */
  double together, together_careful; /* the same from the sum of many correlations, which is clear
                                        where each of them is faint; 1 where it was not asked */
} sr__reach;
#define SR__NO_REACH ((sr__reach){1.0, 1.0, NAN, NAN, 1.0, 1.0})

typedef struct sr__reach_asked {
  double clear;  /* see sr__reach_clear */
  bool together; /* look at many correlations together as well */
} sr__reach_asked;

/* How clearly the first correlation must be there, in standard errors of independent rows. */
double sr__reach_clear(int64_t features);

/* Relative standard error of a reach of T rows among n, from measurements on first-order chains:
 * what the end of the sum leaves to chance, and what n rows can tell of T at all. */
double sr__reach_noise(double reach, int64_t rows);

/* What all series over the same runs share: made once, read by many threads. */
typedef struct sr__reach_plan {
  sr__runs runs;
  int64_t rows, most; /* the largest lag that is looked at */
  double *pairs;      /* of rows at each lag up to `most` */
  int64_t fft_count;
  sr__fft fft[48]; /* of 2^k numbers, where a run needs it */
} sr__reach_plan;

/* The runs must live as long. Free with sr__reach_plan_free, also after a failure. */
SR_MUST_CHECK sr_status sr__reach_plan_new(sr_context *ctx, const sr__runs *runs,
                                           sr__reach_plan *plan);
void sr__reach_plan_free(sr_context *ctx, sr__reach_plan *plan);
/* One or two series at once (`second` may be NULL), in the order of the runs; they need not be
 * centered. `reach` gets one entry per series. Cost O(n log n). */
SR_MUST_CHECK sr_status sr__reach_measure(sr_context *ctx, const sr__reach_plan *plan,
                                          const double *first, const double *second,
                                          sr__reach_asked asked, sr__reach *reach);
/* The same in memory of the caller, sr__reach_memory numbers that need not be cleared. */
int64_t sr__reach_memory(const sr__reach_plan *plan);
void sr__reach_measure_in(const sr__reach_plan *plan, const double *first, const double *second,
                          sr__reach_asked asked, double *memory, sr__reach *reach);

/* The sum and the cut from a given autocorrelation r_0 = 1 .. r_most of `rows` rows: for tests.
 * `scratch` holds 3 (most + 2) numbers. */
double sr__reach_of(const double *correlation, int64_t most, int64_t rows, double clear,
                    double cut_at, double *scratch);
double sr__reach_together(const double *correlation, int64_t most, int64_t rows, double cut_at,
                          double *scratch);

#endif
