#include "learner.h"

#define SR_ENTRY(name) extern const sr__learner sr__learner_##name;
#include "methods.def"
#undef SR_ENTRY

static const sr__learner *const learners[] = {
#define SR_ENTRY(name) &sr__learner_##name,
#include "methods.def"
#undef SR_ENTRY
};

const sr_method *sr_learner_method(int index) {
  int count = (int)(sizeof learners / sizeof *learners);
  return index >= 0 && index < count ? &learners[index]->about : NULL;
}

sr_status sr__learner_check_table(sr_context *ctx, const sr__learner *learner,
                                  const sr_table *table) {
  const sr_table_view *view = sr_table_get(table);
  const char *name = learner->about.name;
  bool features = (learner->flags & SR_LEARNER_TAKES_FEATURES) && view->features > 0;
  bool series = (learner->flags & SR_LEARNER_TAKES_SERIES) && view->channels > 0;
  if (view->rows < 1)
    return sr__fail(ctx, SR_ERROR_DATA, "the table has no rows; learning needs at least one");
  if (!features && !series)
    return sr__fail(ctx, SR_ERROR_DATA, "the table has no %s; learner %s needs them",
                    learner->flags & SR_LEARNER_TAKES_FEATURES ? "features" : "series", name);
  if (view->value)
    return sr__fail(
        ctx, SR_ERROR_UNSUPPORTED,
        "the target is a number, and learner %s takes classes; compare it with a number "
        "to make two, as in \"%s > median\"",
        name, view->target_name ? view->target_name : "target");
  if (!view->label || view->classes.count < 1)
    return sr__fail(ctx, SR_ERROR_DATA, "the table has no classes; name the target column");
  return SR_OK;
}
