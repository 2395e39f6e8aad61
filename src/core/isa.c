#include "isa.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#define LOWEST "neon"
const char *sr__isa_names(void) { return LOWEST; }
#else
#define LOWEST "base"
const char *sr__isa_names(void) { return LOWEST " v3 v4"; }
#endif
static const char *const NAME[SR__ISA_LEVELS] = {LOWEST, "v3", "v4"};

const char *sr__isa_name(sr__isa_level level) { return NAME[level]; }

#if defined(__x86_64__)
/* Feature by feature, because clang knows the names of levels only from its version 17 on; a
 * processor that has these has all of its level. */
static bool has_v3(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}

static bool has_v4(void) {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

static sr__isa_level best_level(void) {
#if defined(__x86_64__)
  if (has_v4()) return SR__ISA_V4;
  if (has_v3()) return SR__ISA_V3;
#endif
  return SR__ISA_BASE;
}

sr__isa_level sr__isa(void) {
  static atomic_int known = -1; /* a property of the machine, so the same for every context */
  int level = atomic_load_explicit(&known, memory_order_relaxed);
  if (level >= 0) return (sr__isa_level)level;
  level = (int)best_level();
  const char *asked = getenv("SPECROUTE_ISA");
  for (int i = 0; asked && i < level; i++)
    if (strcmp(asked, NAME[i]) == 0) level = i;
  atomic_store_explicit(&known, level, memory_order_relaxed);
  return (sr__isa_level)level;
}
