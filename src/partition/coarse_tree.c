/* Large graphs: coarsen once, make the tree of the coarse graph, improve all cuts on every level
 * back. */
#include "partition.h"

/* The coarse graph has about this many nodes a part; large graphs are coarsened by at most this
 * factor, since their borders are long. Exact sizes leave the searches between all parts little
 * room, so there the tree is made on a finer graph, where every cut has levels of its own. */
enum { COARSE_NODES_PER_PART = 40, MOST_SHRINKING = 150, MOST_SHRINKING_EXACT = 12 };
/* Parts of this many rows have long borders: searches go on for longer, which costs little beside
 * reading the graph. */
enum { LARGE_PART = 50000 };
/* Share of its rows that a part may be off while sizes are not yet exact. */
static const double EXACT_SLACK = 0.01;

static int64_t highest_rows(const sr__working_graph *working, int32_t parts, double imbalance) {
  int64_t fair = (working->rows + parts - 1) / parts;
  int64_t highest = (int64_t)((1 + imbalance) * (double)working->rows / parts);
  return highest > fair ? highest : fair;
}

/* Sizes that the finer levels can make exact by moving few rows. */
static void hold_band(const sr__working_graph *working, int32_t parts, sr__kway_options *options) {
  int64_t fair = working->rows / parts, slack = (int64_t)(EXACT_SLACK * (double)fair);
  int64_t largest = sr__largest_node(working);
  if (slack < largest) slack = largest;
  options->highest = fair + 1 + slack;
  options->lowest = fair - slack;
}

/* `highest`: rows that a part may hold; 0 = a band around its fair share. */
static sr_status refine_levels(sr_context *ctx, const sr__coarse_levels *levels, int32_t parts,
                               int64_t highest, int32_t **coarse, int32_t *label) {
  sr_status status = SR_OK;
  bool large = levels->working[0].rows / parts >= LARGE_PART;
  for (int k = levels->count - 1; k >= 0; k--) {
    const sr__working_graph *working = &levels->working[k];
    int32_t *fine = label;
    if (k < levels->count - 1) {
      if (k > 0) SR_NEW(ctx, fine, working->graph.nodes);
      for (int64_t i = 0; i < working->graph.nodes; i++)
        fine[i] = (*coarse)[levels->aggregate[k][i]];
      sr__free(ctx, *coarse);
      *coarse = k > 0 ? fine : NULL;
    } else if (k > 0) {
      fine = *coarse;
    } else {
      memcpy(label, *coarse, (size_t)working->graph.nodes * sizeof *label);
    }
    sr__kway_options options = {.highest = highest, .patience = 40, .rounds = 2, .passes = 2};
    if (large)
      options = (sr__kway_options){.highest = highest, .patience = 150, .rounds = 4, .passes = 3};
    if (k == 0) options.rounds = large ? 2 : 1;
    if (highest == 0) hold_band(working, parts, &options);
    SR_TRY(sr__refine_kway(ctx, working, parts, fine, &options));
    sr__progress(ctx, "refinement", levels->count - k, levels->count);
  }
cleanup:
  return status;
}

static void list_targets(int64_t rows, int32_t leaves, int64_t *target) {
  while (leaves > 1) {
    int32_t left = sr__left_leaves(leaves);
    int64_t left_rows = sr__left_rows(rows, leaves);
    list_targets(left_rows, left, target);
    target += left;
    rows -= left_rows;
    leaves -= left;
  }
  *target = rows;
}

static sr_status is_within(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                           int64_t highest, const int32_t *label, bool *within) {
  sr_status status = SR_OK;
  int64_t *rows = NULL;
  SR_NEW_ZERO(ctx, rows, parts);
  for (int64_t i = 0; i < working->graph.nodes; i++) rows[label[i]] += sr__node_size(working, i);
  *within = true;
  for (int32_t p = 0; p < parts; p++)
    if (rows[p] == 0 || rows[p] > highest) *within = false;
cleanup:
  sr__free(ctx, rows);
  return status;
}

/* Ends with the sizes of the tree, and cuts improved once more without changing them. */
static sr_status make_exact(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                            int32_t *label, bool *reached) {
  sr_status status = SR_OK;
  int64_t *target = NULL;
  sr__kway_options options = {.highest = 0, .patience = 100, .rounds = 3, .passes = 3};
  SR_NEW(ctx, target, parts);
  list_targets(working->rows, parts, target);
  SR_TRY(sr__balance_rows(ctx, working, parts, target, label, reached));
  if (*reached) SR_TRY(sr__refine_kway(ctx, working, parts, label, &options));
cleanup:
  sr__free(ctx, target);
  return status;
}

static int64_t coarsest_nodes(const sr__working_graph *working, int32_t parts, bool exact) {
  int64_t enough = (int64_t)COARSE_NODES_PER_PART * parts;
  int64_t least = working->graph.nodes / (exact ? MOST_SHRINKING_EXACT : MOST_SHRINKING);
  return enough > least ? enough : least;
}

sr_status sr__coarse_tree(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                          sr__coarse_cut *cut, int32_t *label) {
  sr_status status = SR_OK;
  sr__coarse_levels levels = {.count = 0};
  sr__cut_options tree = {.refine = true, .slack = cut->exact ? 0.001 : 0.005};
  int32_t *coarse = NULL;
  int64_t highest = cut->exact ? 0 : highest_rows(working, parts, cut->imbalance);
  int64_t coarsest = coarsest_nodes(working, parts, cut->exact);
  cut->balanced = false;
  cut->seconds_spectrum = 0;
  SR_TRY(sr__coarse_levels_build(ctx, working, coarsest, &levels));
  if (cut->exact && levels.count == 1) goto cleanup;
  const sr__working_graph *top = &levels.working[levels.count - 1];
  SR_NEW(ctx, coarse, top->graph.nodes);
  SR_TRY(sr__bisect_tree(ctx, top, parts, &tree, coarse));
  cut->seconds_spectrum = tree.seconds_spectrum;
  SR_TRY(refine_levels(ctx, &levels, parts, highest, &coarse, label));
  if (!cut->exact) SR_TRY(is_within(ctx, working, parts, highest, label, &cut->balanced));
  if (!cut->balanced) SR_TRY(make_exact(ctx, working, parts, label, &cut->balanced));
cleanup:
  sr__free(ctx, coarse);
  sr__coarse_levels_free(ctx, &levels);
  return status;
}
