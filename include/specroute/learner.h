/* Learners: an operations table each. */
#ifndef SPECROUTE_LEARNER_H
#define SPECROUTE_LEARNER_H

#include <specroute/data.h>
#include <specroute/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sr_criterion { SR_CRITERION_GINI, SR_CRITERION_ENTROPY } sr_criterion;

/* Options of all learners; each reads its own. */
typedef struct sr_learner_options {
  const char *name;       /* tree, ridge */
  sr_criterion criterion; /* tree */
  int32_t max_features;   /* tree: 0 = sqrt(d), -1 = all */
  int32_t max_depth;      /* tree: 0 = no limit */
  int32_t min_leaf;       /* tree: 1 */
  int32_t max_bins;       /* tree: 256 */
} sr_learner_options;

SR_API void sr_learner_options_init(sr_learner_options *options);
SR_API const sr_method_info *sr_learner_registered(int index);

#ifdef __cplusplus
}
#endif
#endif
