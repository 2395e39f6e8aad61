/* Plans by name, and the rules that choose among them. */
#include "train.h"

#define SR_ENTRY(name) extern const sr__chooser sr__chooser_##name;
#include "methods.def"
#undef SR_ENTRY

static const sr__chooser *const choosers[] = {
#define SR_ENTRY(name) &sr__chooser_##name,
#include "methods.def"
#undef SR_ENTRY
};
enum { CHOOSERS = sizeof choosers / sizeof *choosers };

const sr_method *sr_train_plan_method(int index) {
  int schemes = 0;
  if (index < 0) return NULL;
  while (schemes <= index && sr_plan_method(schemes)) schemes++;
  if (index < schemes) return sr_plan_method(index);
  return index - schemes < CHOOSERS ? &choosers[index - schemes]->about : NULL;
}

static const sr__chooser *chooser_of(const sr_method *method) {
  for (int k = 0; k < CHOOSERS; k++) {
    if (&choosers[k]->about == method) return choosers[k];
  }
  return NULL;
}

bool sr__plan_chooses(const sr__configuration *plan) { return chooser_of(plan->method) != NULL; }

const char *sr__plan_search(const sr_method *method) {
  return chooser_of(method) ? NULL : ((const sr__scheme *)method)->search;
}

sr_status sr__choose(sr_context *ctx, const sr__configuration *plan, const sr__choose_input *input,
                     sr__mix *mix, sr_vote *vote, sr__trial *trial) {
  sr_status status = SR_OK;
  char *text = NULL;
  const sr__chooser *chooser = chooser_of(plan->method);
  *vote = input->vote;
  if (chooser) return chooser->choose(ctx, input, plan->options, mix, vote, trial);
  SR_TRY(sr__mix_new(ctx, 1, mix));
  text = sr__configuration_text(ctx, plan->method, plan->options);
  if (!text) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(sr__configure(ctx, "plan", sr_plan_method, text, &mix->entry[0].plan));
  mix->entry[0].members = input->members;
  mix->entry[0].weight = 1.0;
  mix->reason = sr__strdup(ctx, "named by the user");
  if (!mix->reason) SR_TRY(SR_ERROR_MEMORY);
cleanup:
  sr__free(ctx, text);
  return status;
}
