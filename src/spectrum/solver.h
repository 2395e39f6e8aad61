/* The solver registry from inside. */
#ifndef SR_SPECTRUM_SOLVER_H
#define SR_SPECTRUM_SOLVER_H

#include "spectrum.h"

/* A connected graph with at least two nodes, and what is asked of it. */
typedef struct sr__problem {
  sr__csr graph;
  int32_t window; /* > 0: one run of a pure window graph; graph.offset etc. are still there */
  int32_t pairs;  /* below the number of nodes */
  const sr_spectrum_options *options;
  uint64_t seed;   /* of a start vector drawn at random */
  const void *own; /* the solver's own options */
} sr__problem;

/* vector + p * nodes is pair p. The caller orders signs and measures residuals; values are replaced
 * by Rayleigh quotients unless they are better than those. */
typedef struct sr__answer {
  double *value;
  double *vector; /* NULL until there is room: sr__answer_room */
  int64_t room;   /* entries it gets */
  int64_t iterations;
  bool converged;
  bool value_is_exact;
  const char *solver; /* where it is not the one that was asked */
} sr__answer;

typedef struct sr__solver {
  sr_method about;
  sr_status (*solve)(sr_context *ctx, const sr__problem *problem, sr__answer *answer);
  bool makes_room; /* calls sr__answer_room itself, once it has freed what it needed */
} sr__solver;

/* Makes room for the vectors, all zero, if there is none yet. */
SR_MUST_CHECK sr_status sr__answer_room(sr_context *ctx, sr__answer *answer);

/* Those that others hand a problem on to. */
extern const sr__solver sr__solver_dense;
extern const sr__solver sr__solver_window;
extern const sr__solver sr__solver_multilevel;

/* Nodes up to which the dense solver accepts a graph. */
enum { SR__DENSE_LIMIT = 3000 };
/* Whether the closed form of a window graph answers to this tolerance. */
bool sr__window_answers(int64_t nodes, int32_t window, int32_t pairs, double tolerance);

#endif
