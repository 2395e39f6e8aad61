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

enum { TRIES = 1000 };

/* A head with few rows or none: they are counted, and those of the ranks that are drawn are looked
 * up. */
static void draw_rare(const sr__buffer *buffer, sr__random *random, sr__owner_fn owner, void *data,
                      int32_t head, sr__batch *rest) {
  int64_t oldest = sr__buffer_oldest(buffer), own = 0, seen = 0;
  for (int64_t row = oldest; row < buffer->written; row++)
    own += sr__buffer_drawable(buffer, row) && owner(data, row) == head;
  for (int32_t i = 0; i < rest->count; i++) {
    if (own == 0) rest->weight[i] = 0;
    rest->row[i] = own == 0 ? sr__draw_row(buffer, random)
                            : -1 - (int64_t)sr__random_below(random, (uint64_t)own);
  }
  for (int64_t row = oldest; row < buffer->written && seen < own; row++) {
    if (!sr__buffer_drawable(buffer, row) || owner(data, row) != head) continue;
    for (int32_t i = 0; i < rest->count; i++)
      if (rest->row[i] == -1 - seen) rest->row[i] = row;
    seen++;
  }
}

void sr__draw_owned(const sr__buffer *buffer, sr__random *random, sr__owner_fn owner, void *data,
                    int32_t head, sr__batch *batch) {
  for (int32_t i = 0; i < batch->count; i++) {
    int tries = 0;
    do batch->row[i] = sr__draw_row(buffer, random);
    while (owner(data, batch->row[i]) != head && ++tries < TRIES);
    if (tries < TRIES) continue;
    sr__batch rest = {batch->count - i, batch->row + i, batch->weight + i};
    draw_rare(buffer, random, owner, data, head, &rest);
    return;
  }
}

int64_t sr__draw_row(const sr__buffer *buffer, sr__random *random) {
  int64_t oldest = sr__buffer_oldest(buffer), rows = buffer->written - oldest;
  for (;;) {
    int64_t row = oldest + (int64_t)sr__random_below(random, (uint64_t)rows);
    if (sr__buffer_drawable(buffer, row)) return row;
  }
}
