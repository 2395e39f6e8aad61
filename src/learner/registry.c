#include "learner.h"

extern const sr__learner sr__learner_tree, sr__learner_ridge;

/* One line a learner. */
static const sr__learner *const learners[] = {
    &sr__learner_tree,
    &sr__learner_ridge,
};

enum { LEARNERS = sizeof learners / sizeof *learners };

const sr__learner *sr__learner_at(int index) {
  return index >= 0 && index < LEARNERS ? learners[index] : NULL;
}

const sr_method_info *sr_learner_registered(int index) {
  const sr__learner *learner = sr__learner_at(index);
  return learner ? &learner->info : NULL;
}

void sr_learner_options_init(sr_learner_options *options) {
  *options = (sr_learner_options){.name = "tree",
                                  .criterion = SR_CRITERION_GINI,
                                  .min_leaf = 1,
                                  .max_bins = 256};
}

static sr_status fail_unknown(sr_context *ctx, const char *name) {
  char known[256] = "";
  for (int i = 0; i < LEARNERS; i++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", learners[i]->info.name);
  }
  return sr__fail(ctx, SR_ERROR_NOT_FOUND, "there is no learner \"%s\"; choose one of: %s",
                  name ? name : "", known);
}

sr_status sr__learner_find(sr_context *ctx, const char *name, const sr__learner **learner) {
  *learner = NULL;
  for (int i = 0; name && i < LEARNERS; i++) {
    if (strcmp(learners[i]->info.name, name) != 0) continue;
    *learner = learners[i];
    return SR_OK;
  }
  return fail_unknown(ctx, name);
}

sr_status sr__learner_check_input(sr_context *ctx, const sr__learner *learner,
                                  const sr__input *input) {
  bool is_table = input->table != NULL;
  if (is_table ? !learner->takes_table : !learner->takes_series)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED, "the learner \"%s\" does not take %s",
                    learner->info.name, is_table ? "tables; give series" : "series; give a table");
  if (!is_table) return SR_OK;
  const sr_table_view *view = sr_table_get(input->table);
  if (view->rows < 1 || view->features < 1)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the table has %lld rows and %lld features; learning needs at least one each",
                    (long long)view->rows, (long long)view->features);
  if (!view->label || view->classes.count < 1)
    return sr__fail(ctx, SR_ERROR_DATA, "the table has no classes; name the target column");
  return SR_OK;
}
