/* The inner loops of joining lists of neighbors, once per vector level. Internal to src/graph. */
#ifndef SR_GRAPH_UNION_KERNEL_H
#define SR_GRAPH_UNION_KERNEL_H

#include "core/isa.h"
#include "knn.h"

/* Bits of the entries of a list, in bytes. */
static inline int64_t sr__union_bytes(int32_t k) { return (k + 7) / 8; }

/* What rows of the graph are made of. */
typedef struct sr__union_lists {
  const sr__knn *knn;
  const int64_t *extra_end; /* a place: where its extras end in `extra`; the first begin at 0 */
  const int32_t *extra;     /* places */
  const int64_t *offset;    /* rows of the graph */
  int32_t *neighbor;
} sr__union_lists;

typedef struct sr__union_kernel {
  /* Sets bit s of alone[p] where entry s of place p names a place whose list does not name p. */
  void (*mark)(const sr__knn *knn, int64_t begin, int64_t end, uint8_t *alone);
  /* Writes the rows of the places [begin, end): their lists and extras, by name and sorted. */
  void (*fill)(const sr__union_lists *lists, int64_t begin, int64_t end);
} sr__union_kernel;

SR__KERNEL_LEVELS(sr__union_kernel)

#endif
