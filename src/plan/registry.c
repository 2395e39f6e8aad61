#include "plan.h"

#define SR_ENTRY(name) extern const sr__scheme sr__scheme_##name;
#include "methods.def"
#undef SR_ENTRY

static const sr__scheme *const schemes[] = {
#define SR_ENTRY(name) &sr__scheme_##name,
#include "methods.def"
#undef SR_ENTRY
};

const sr_method *sr_plan_method(int index) {
  int count = (int)(sizeof schemes / sizeof *schemes);
  return index >= 0 && index < count ? &schemes[index]->about : NULL;
}
