#include "sampler.h"

#define SR_ENTRY(name) extern const sr__sampler sr__sampler_##name;
#include "samplers.def"
#undef SR_ENTRY

static const sr__sampler *const samplers[] = {
#define SR_ENTRY(name) &sr__sampler_##name,
#include "samplers.def"
#undef SR_ENTRY
};

const sr_method *sr_sampler_method(int index) {
  int count = (int)(sizeof samplers / sizeof *samplers);
  return index >= 0 && index < count ? &samplers[index]->about : NULL;
}

int64_t sr__draw_row(const sr__buffer *buffer, sr__random *random) {
  int64_t oldest = sr__buffer_oldest(buffer), rows = buffer->written - oldest;
  for (;;) {
    int64_t row = oldest + (int64_t)sr__random_below(random, (uint64_t)rows);
    if (sr__buffer_drawable(buffer, row)) return row;
  }
}
