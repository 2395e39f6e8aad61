/* Writes each distinct call: how often it was made, the callee and up to four callers above it. It
 * is linked into a build made with -finstrument-functions, whose compiler calls the two functions
 * below. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((no_instrument_function))
enum { DEEPEST = 4096, SLOTS = 1 << 20, ABOVE = 4 };

typedef struct call {
  uint64_t key; /* 0: a free slot */
  int64_t times;
  void *callee, *above[ABOVE];
} call;

static call seen[SLOTS];
static void *stack[DEEPEST];
static int depth;

PLAIN static call *find(uint64_t key) {
  uint64_t at = key % SLOTS;
  while (seen[at].key && seen[at].key != key) at = (at + 1) % SLOTS;
  return &seen[at];
}

PLAIN void __cyg_profile_func_enter(void *callee, void *site);
PLAIN void __cyg_profile_func_exit(void *callee, void *site);

void __cyg_profile_func_enter(void *callee, void *site) {
  (void)site;
  void *above[ABOVE] = {0};
  for (int k = 0; k < ABOVE && k < depth && depth - k <= DEEPEST; k++)
    above[k] = stack[depth - 1 - k];
  if (depth < DEEPEST) stack[depth] = callee;
  depth++;
  uint64_t key = (uint64_t)(uintptr_t)callee;
  for (int k = 0; k < 2; k++)
    key = key * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)(uintptr_t)above[k];
  call *slot = find(key | 1);
  if (slot->times++) return;
  slot->key = key | 1;
  slot->callee = callee;
  for (int k = 0; k < ABOVE; k++) slot->above[k] = above[k];
}

void __cyg_profile_func_exit(void *callee, void *site) {
  (void)callee;
  (void)site;
  if (depth > 0) depth--;
}

PLAIN __attribute__((destructor)) static void finish(void) {
  const char *path = getenv("WALK_TRACE");
  FILE *out = path ? fopen(path, "w") : NULL;
  for (int64_t i = 0; out && i < SLOTS; i++) {
    if (!seen[i].key) continue;
    fprintf(out, "%lld %p", (long long)seen[i].times, seen[i].callee);
    for (int k = 0; k < ABOVE; k++) fprintf(out, " %p", seen[i].above[k]);
    fputc('\n', out);
  }
  if (out) fclose(out);
}
