/* What the searches between all parts share: the border of every pair of neighbors. */
#ifndef SR_PARTITION_KWAY_H
#define SR_PARTITION_KWAY_H

#include "partition.h"

/* A node of the border between parts low < high. */
typedef struct sr__border_entry {
  int32_t low, high, node;
} sr__border_entry;

typedef struct sr__border_list {
  sr__border_entry *entry;
  int64_t count, capacity;
} sr__border_list;

/* What binds one node to parts; all zero between nodes. */
typedef struct sr__part_links {
  double *weight; /* one a part */
  int32_t *met;
} sr__part_links;

typedef struct sr__part_pair {
  int32_t low, high;
  int64_t first, count; /* its nodes in the sorted border */
  double gained;
  bool waiting;
} sr__part_pair;

typedef struct sr__kway_work {
  const sr__working_graph *working;
  int32_t parts;
  const sr__kway_options *options;
  int64_t largest_node;
  sr__refiner refiner;
  int64_t *rows;                 /* of each part */
  bool *changed, *active;        /* parts: in this round, in the round before */
  bool *busy;                    /* parts of the present class */
  sr__border_list *chunk_border; /* one a chunk */
  int64_t *count;                /* parts + 1, for sorting */
  int32_t *border;               /* nodes, sorted by pair */
  sr__part_pair *pair;
  int64_t pairs, pair_capacity;
  int64_t *class_pair;       /* pairs of the present class */
  sr__pair_scratch *scratch; /* one a slot */
  sr__part_links *links;     /* one a slot */
  int slots;
} sr__kway_work;

/* Zeroed work may be freed; a failed init must be. All parts are active at first. */
SR_MUST_CHECK sr_status sr__kway_init(sr_context *ctx, const sr__working_graph *working,
                                      int32_t parts, int32_t *part, const sr__kway_options *options,
                                      sr__kway_work *work);
void sr__kway_free(sr_context *ctx, sr__kway_work *work);
/* The border of the active parts, sorted by pair, and the pairs. */
SR_MUST_CHECK sr_status sr__kway_find_border(sr_context *ctx, sr__kway_work *work);

#endif
