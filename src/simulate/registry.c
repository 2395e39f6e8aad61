#include "simulate.h"

#define SR_ENTRY(name) extern const sr__simulator sr__simulator_##name;
#include "methods.def"
#undef SR_ENTRY

static const sr__simulator *const simulators[] = {
#define SR_ENTRY(name) &sr__simulator_##name,
#include "methods.def"
#undef SR_ENTRY
};
enum { SIMULATORS = sizeof simulators / sizeof *simulators };

const sr__simulator *sr__simulator_at(int index) {
  return index >= 0 && index < SIMULATORS ? simulators[index] : NULL;
}

const sr_method *sr_simulator_method(int index) {
  const sr__simulator *simulator = sr__simulator_at(index);
  return simulator ? &simulator->about : NULL;
}
