/* Every experiment, in the order of the report. */
#include <string.h>

#include "experiment.h"

#define SR_ENTRY(name) extern const experiment experiment_##name;
#include "methods.def"
#undef SR_ENTRY
#define SR_ENTRY(name) &experiment_##name,
static const experiment *const registered[] = {
#include "methods.def"
};
#undef SR_ENTRY
enum { EXPERIMENT_COUNT = sizeof registered / sizeof *registered };

const experiment *experiment_at(int index) {
  return index >= 0 && index < EXPERIMENT_COUNT ? registered[index] : NULL;
}

const sr_method *experiment_method(int index) {
  return experiment_at(index) ? &registered[index]->about : NULL;
}

const experiment *experiment_find(const char *name) {
  for (int i = 0; i < EXPERIMENT_COUNT; i++)
    if (strcmp(registered[i]->about.name, name) == 0) return registered[i];
  return NULL;
}
