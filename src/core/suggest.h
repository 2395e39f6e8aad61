/* How far a mistyped word is from a known one. Internal. */
#ifndef SR_CORE_SUGGEST_H
#define SR_CORE_SUGGEST_H

#include <stddef.h>

/* Insertions, deletions and replacements between `length` bytes of a and the word b; words beyond
 * 63 bytes count as far from everything. */
int sr__edit_distance(const char *a, size_t length, const char *b);

#endif
