/* The tree of bisections, depth by depth: the nodes of one depth are independent, so they run side
 * by side, and each writes the labels of its own rows. */
#include "partition.h"

typedef struct tree_node {
  sr__working_graph working;
  int32_t *name; /* of each node in the whole; NULL = its own number (the root) */
  int32_t leaves, first_leaf;
  double cut; /* of its bisection, where there is a rival */
  double seconds_spectrum;
} tree_node;

typedef struct tree_work {
  const sr__cut_options *options;
  tree_node *node;  /* of this depth */
  tree_node *child; /* two entries a node; leaves 0 = none */
  int32_t *label;
} tree_work;

static inline int32_t name_of(const tree_node *node, int64_t i) {
  return node->name ? node->name[i] : (int32_t)i;
}

static void free_node(sr_context *ctx, tree_node *node) {
  if (!node->name) return; /* the root shows arrays of the caller */
  sr__working_graph_free(ctx, &node->working);
  sr__free(ctx, node->name);
  node->name = NULL;
}

static sr_status make_children(sr_context *ctx, tree_node *node, const int32_t *side,
                               tree_node *child) {
  sr_status status = SR_OK;
  int32_t *local = NULL;
  sr__working_graph half[2] = {{.rows = 0}, {.rows = 0}};
  SR_NEW(ctx, local, node->working.graph.nodes);
  SR_TRY(sr__working_graph_split(ctx, &node->working, side, local, half));
  for (int s = 0; s < 2; s++) {
    SR_NEW(ctx, child[s].name, half[s].graph.nodes);
    child[s].working = half[s];
    half[s] = (sr__working_graph){0};
  }
  for (int64_t i = 0; i < node->working.graph.nodes; i++)
    child[side[i]].name[local[i]] = name_of(node, i);
cleanup:
  sr__working_graph_free(ctx, &half[0]);
  sr__working_graph_free(ctx, &half[1]);
  sr__free(ctx, local);
  return status;
}

static sr_status grow_node(sr_context *worker, void *data, int64_t item, int slot) {
  (void)slot;
  sr_status status = SR_OK;
  tree_work *work = data;
  tree_node *node = &work->node[item], *child = &work->child[2 * item];
  int32_t *side = NULL, left = sr__left_leaves(node->leaves);
  sr__bisection bisection = {.refine = work->options->refine,
                             .exact = work->options->exact,
                             .slack = work->options->slack};
  SR_NEW_ZERO(worker, side, node->working.graph.nodes);
  if (node->leaves > 1 && node->working.graph.nodes > 1)
    SR_TRY(sr__bisect(worker, &node->working, sr__left_rows(node->working.rows, node->leaves),
                      &bisection, side));
  if (work->options->rival) node->cut = sr__cut_weight(&node->working, side);
  if (node->leaves > 2 && node->working.graph.nodes > 1) {
    child[0].leaves = left;
    child[0].first_leaf = node->first_leaf;
    child[1].leaves = node->leaves - left;
    child[1].first_leaf = node->first_leaf + left;
    SR_TRY(make_children(worker, node, side, child));
  } else {
    for (int64_t i = 0; i < node->working.graph.nodes; i++)
      work->label[name_of(node, i)] = node->first_leaf + side[i];
  }
  node->seconds_spectrum = bisection.seconds_spectrum;
cleanup:
  sr__free(worker, side);
  free_node(worker, node);
  return status;
}

/* Grows all nodes of one depth, whose cuts are added; work->node becomes the next depth. */
static sr_status grow_depth(sr_context *ctx, tree_work *work, sr__cut_options *options,
                            int64_t *count, double *cut) {
  sr_status status = SR_OK;
  int64_t children = 0;
  SR_NEW_ZERO(ctx, work->child, 2 * *count);
  if (*count == 1)
    SR_TRY(grow_node(ctx, work, 0, 0)); /* the loops inside may then use all threads */
  else
    SR_TRY(sr__parallel_for(ctx, *count, grow_node, work));
  for (int64_t i = 0; i < *count; i++) {
    options->seconds_spectrum += work->node[i].seconds_spectrum;
    *cut += work->node[i].cut;
  }
  for (int64_t i = 0; i < 2 * *count; i++)
    if (work->child[i].leaves > 0) work->child[children++] = work->child[i];
  sr__free(ctx, work->node);
  work->node = work->child;
  work->child = NULL;
  *count = children;
cleanup:
  return status;
}

sr_status sr__bisect_tree(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                          sr__cut_options *options, int32_t *label) {
  sr_status status = SR_OK;
  tree_work work = {.options = options, .label = label};
  int64_t count = 1, done = 0;
  double cut = 0;
  SR_NEW_ZERO(ctx, work.node, 1);
  work.node[0] = (tree_node){.working = *working, .leaves = parts};
  for (int depth = 0; count > 0 && !options->given_up; depth++) {
    SR_TRY(sr__check_interrupt(ctx));
    sr__progress(ctx, "bisection", done, parts);
    SR_TRY(grow_depth(ctx, &work, options, &count, &cut));
    done = count < parts ? count : parts;
    options->given_up = count > 0 && options->rival && cut >= options->rival[depth];
  }
cleanup:
  for (int64_t i = 0; work.node && i < count; i++) free_node(ctx, &work.node[i]);
  for (int64_t i = 0; work.child && i < 2 * count; i++) free_node(ctx, &work.child[i]);
  sr__free(ctx, work.node);
  sr__free(ctx, work.child);
  return status;
}
