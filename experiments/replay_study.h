/* Games x samplers x seeds: what a run measures, and the tables and plots of its results. Used by
 * the experiments on replay and by `specroute rl compare`. */
#ifndef SR_EXPERIMENTS_REPLAY_STUDY_H
#define SR_EXPERIMENTS_REPLAY_STUDY_H

#include "experiment.h"

enum { STUDY_CURVE_POINTS = 10, STUDY_MOST_SEEDS = 64, STUDY_LABEL_SIZE = 48 };

typedef struct replay_study {
  int games, samplers;
  const char *const *game, *const *sampler; /* NAME[:KEY=VALUE,...] */
  sr_agent_options agent;                   /* game and sampler are the case's */
  int64_t episodes;                         /* of the evaluation after training, at epsilon .01 */
  const char *folder; /* keeps the agent of an interrupted run; NULL: nothing is kept */
} replay_study;

/* Quick runs on grids learn faster at the price of their end, so that 10^4 steps show learning at
 * all. */
void study_learn_fast(sr_agent_options *agent);

/* The cases are sampler-major, so that a run that is cut short has every game of the first
 * samplers. */
int study_case(const replay_study *study, int game, int sampler);
void study_case_name(const replay_study *study, int index, char *name, size_t size);
/* Trains, evaluates and measures: "return" (mean over the evaluation), "target-variance" and
 * "target-mean" (of the targets that the run learned from), "c1" to "c10" (return in training). */
SR_MUST_CHECK sr_status study_run(sr_context *ctx, const replay_study *study, int index,
                                  uint64_t seed, measurement *out);

/* Returns of random play and of the game's written player, over 200 games each; the scale on which
 * games are averaged. Both are NaN where the game has no written player. */
typedef struct study_scale {
  double random, player;
  bool assumed; /* not played: no row of a table may show them as returns */
} study_scale;
SR_MUST_CHECK sr_status study_measure_scale(sr_context *ctx, const char *game, study_scale *scale);

/* Seeds that every game has under every one of these samplers, in order; gives how many. */
int study_common_seeds(conclusion *c, const replay_study *study, int samplers, const int *sampler,
                       uint64_t *seed);
/* Two samplers that are compared. */
typedef struct study_pair {
  int a, b;
} study_pair;
/* Mean over games of the difference of scaled returns between two samplers, one number per common
 * seed; gives how many. The games are those with chosen[game] (NULL: all). */
int study_differences(conclusion *c, const replay_study *study, const study_scale *scale,
                      const bool *chosen, study_pair pair, double *difference);
/* The same for log(Var(y) of a / Var(y) of b). */
int study_log_variance_ratios(conclusion *c, const replay_study *study, const bool *chosen,
                              study_pair pair, double *ratio);
/* Mean with Student's 95 % interval; from minus to plus infinity below two values. */
sr_interval study_interval(int count, const double *value);
/* The smallest mean difference that `count` paired seeds show four times of five at 5 %:
 * (t(.975) + t(.8)) sd / sqrt(count). */
double study_smallest_difference(int count, const double *difference);
/* The same of as many seeds as the paper has, from the spread of these. */
enum { STUDY_PAPER_SEEDS = 10 };
double study_smallest_of_ten(int count, const double *difference);
/* ", 10 seeds would show differences from X UNIT on", or that one seed has no spread to tell it
 * from.
 */
void study_say_smallest(int count, const double *difference, double factor, const char *unit,
                        char *text, size_t size);
/* Ends that one seed cannot give. */
sr_interval study_without_ends(int seeds, sr_interval interval);

/* Tables of returns, scaled IQM, probability of improvement over sampler `base`, the run's own
 * targets (variance beside mean), and the plots: learning curves with bands, performance profiles.
 */
SR_MUST_CHECK sr_status study_tables(conclusion *c, const replay_study *study,
                                     const study_scale *scale, int base);

#endif
