/* The reader of edge lists, from any source of text. Internal to src/graph. */
#ifndef SR_GRAPH_READ_EDGES_H
#define SR_GRAPH_READ_EDGES_H

#include "data/source.h"
#include "graph.h"

/* Reads lines "i j" or "i j w" (separated by blanks, tabs or a comma; 0-based nodes below `nodes`;
 * # and % begin a comment) into an undirected graph. An edge that is given more than once, in
 * either direction, is one edge with the mean of its weights; loops are dropped; the log says how
 * often. Errors carry file, line and column. */
SR_MUST_CHECK sr_status sr__read_edges(sr_context *ctx, sr__source *source, int64_t nodes,
                                       sr_graph **graph);

#endif
