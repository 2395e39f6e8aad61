/* Sets of numbers that are joined (union-find): parent[i] is i where a set has its root. A root is
 * the lowest number of its set. Internal. */
#ifndef SR_CORE_JOINED_SETS_H
#define SR_CORE_JOINED_SETS_H

#include <stdbool.h>
#include <stdint.h>

/* Halving the path on the way keeps trees flat. */
static inline int32_t sr__set_root(int32_t *parent, int32_t at) {
  while (parent[at] != at) {
    parent[at] = parent[parent[at]];
    at = parent[at];
  }
  return at;
}

/* False where both were in one set. */
static inline bool sr__join_sets(int32_t *parent, int32_t a, int32_t b) {
  a = sr__set_root(parent, a);
  b = sr__set_root(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
  return a != b;
}

#endif
