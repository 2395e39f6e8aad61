/* Trees as bytes. Nodes are written in the order in which they were grown, so that the places of
 * children need not be stored and a loaded tree is a tree whatever the bytes say. */
#include <math.h>

#include "tree.h"

#define LEAF_BIT 0x80000000u
#define MIXED_BIT 0x40000000u

void sr__tree_free(sr__member *tree) {
  if (!tree) return;
  sr_allocator allocator = tree->allocator;
  void *blocks[] = {tree->node,   tree->info,        tree->set,        tree->mixed,
                    tree->share,  tree->vote,        tree->piece,      tree->pass,
                    tree->branch, tree->pass_leaf,   tree->pass_vote,  tree->vote_pass,
                    tree->large,  tree->large_share, tree->leaf_count, tree};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
}

/* ---- saving ------------------------------------------------------------------------------- */

static void save_node(const sr__encoder *encoder, const sr__member *tree, uint32_t at,
                      sr__bytes *bytes) {
  sr__node node = tree->node[at];
  if (node.left != at) {
    sr__put_u32(bytes, node.what);
    if (node.what & SR__NODE_CATEGORICAL)
      for (int w = 0; w < 4; w++) sr__put_u64(bytes, tree->set[tree->info[at]].word[w]);
    return;
  }
  int32_t mixture = tree->mixed ? tree->mixed[at] : -1;
  sr__put_u32(bytes, LEAF_BIT | (mixture >= 0 ? MIXED_BIT : 0) | tree->info[at]);
  for (int32_t c = 0; mixture >= 0 && c < encoder->classes; c++)
    sr__put_f32(bytes, tree->share[(int64_t)mixture * encoder->classes + c]);
}

/* Leaves of one blend share it in memory; in a file each has its own. */
static int64_t mixed_leaves(const sr__member *tree) {
  int64_t count = 0;
  for (int64_t at = 0; tree->mixed && at < tree->nodes; at++) count += tree->mixed[at] >= 0;
  return count;
}

/* Depth first, left before right: as grown. The stack holds one right sibling a level. */
void sr__tree_save(const sr__encoder *encoder, const sr__member *tree, sr__bytes *bytes) {
  uint32_t *stack = NULL;
  int64_t pending = 0;
  sr__put_u64(bytes, (uint64_t)tree->nodes);
  sr__put_u64(bytes, (uint64_t)tree->sets);
  sr__put_u64(bytes, (uint64_t)mixed_leaves(tree));
  if (bytes->status != SR_OK) return;
  stack = sr__alloc(bytes->ctx, tree->nodes / 2 + 1, sizeof *stack);
  if (!stack) {
    bytes->status = sr_context_error(bytes->ctx).status;
    return;
  }
  stack[pending++] = 0;
  while (pending > 0) {
    uint32_t at = stack[--pending];
    save_node(encoder, tree, at, bytes);
    if (tree->node[at].left == at) continue;
    stack[pending++] = tree->node[at].left + 1;
    stack[pending++] = tree->node[at].left;
  }
  sr__free(bytes->ctx, stack);
}

/* ---- loading ------------------------------------------------------------------------------ */

typedef struct tree_loader {
  sr__byte_reader *reader;
  const sr__encoder *encoder;
  sr__member *tree;
  int64_t nodes, sets, mixtures; /* as the file says; the tree's own count what was read */
} tree_loader;

static void load_leaf(tree_loader *l, uint32_t at, uint32_t word) {
  sr__member *tree = l->tree;
  int32_t classes = l->encoder->classes;
  uint32_t vote = word & ~(LEAF_BIT | MIXED_BIT);
  if (vote >= (uint32_t)classes) {
    sr__get_refuse(l->reader, "a leaf votes for a class that does not exist");
    return;
  }
  tree->node[at] = (sr__node){.left = at, .what = SR__LEAF_WHAT};
  tree->info[at] = vote;
  if (!(word & MIXED_BIT)) return;
  if (tree->mixtures == l->mixtures) {
    sr__get_refuse(l->reader, "there are more mixed leaves than announced");
    return;
  }
  float *share = tree->share + tree->mixtures * classes;
  for (int32_t c = 0; c < classes; c++) {
    share[c] = sr__get_f32(l->reader);
    if (!(share[c] >= 0.0f && share[c] <= 1.0f)) sr__get_refuse(l->reader, "a share is not one");
  }
  tree->mixed[at] = (int32_t)tree->mixtures++;
}

static void load_split(tree_loader *l, uint32_t at, uint32_t word) {
  sr__member *tree = l->tree;
  if (word >> SR__NODE_FEATURE >= (uint64_t)l->encoder->binning->features)
    sr__get_refuse(l->reader, "a node asks for a feature that does not exist");
  else if (tree->nodes + 2 > l->nodes)
    sr__get_refuse(l->reader, "there are more nodes than announced");
  else if (word & SR__NODE_CATEGORICAL && tree->sets == l->sets)
    sr__get_refuse(l->reader, "there are more sets than announced");
  if (l->reader->status != SR_OK) return;
  tree->info[at] = 0;
  if (word & SR__NODE_CATEGORICAL) {
    for (int w = 0; w < 4; w++) tree->set[tree->sets].word[w] = sr__get_u64(l->reader);
    tree->info[at] = (uint32_t)tree->sets++;
  }
  tree->node[at] = (sr__node){.left = (uint32_t)tree->nodes, .what = word};
  tree->nodes += 2;
}

static sr_status load_nodes(tree_loader *l) {
  sr_status status = SR_OK;
  uint32_t *stack = NULL;
  int64_t pending = 0;
  SR_NEW(l->reader->ctx, stack, l->nodes / 2 + 2);
  stack[pending++] = 0;
  l->tree->nodes = 1;
  while (pending > 0 && l->reader->status == SR_OK) {
    uint32_t at = stack[--pending];
    uint32_t word = sr__get_u32(l->reader);
    if (word & LEAF_BIT) {
      load_leaf(l, at, word);
    } else {
      load_split(l, at, word);
      if (l->reader->status != SR_OK) break;
      stack[pending++] = l->tree->node[at].left + 1;
      stack[pending++] = l->tree->node[at].left;
    }
  }
  if (l->tree->nodes != l->nodes || l->tree->sets != l->sets || l->tree->mixtures != l->mixtures)
    sr__get_refuse(l->reader, "a tree has fewer nodes than announced");
cleanup:
  sr__free(l->reader->ctx, stack);
  return status == SR_OK ? l->reader->status : status;
}

sr_status sr__tree_load(sr__byte_reader *reader, const sr__encoder *encoder, sr__member **member) {
  sr_status status = SR_OK;
  tree_loader l = {.reader = reader, .encoder = encoder};
  *member = NULL;
  l.nodes = sr__get_count(reader, sizeof(uint32_t));
  l.sets = sr__get_count(reader, sizeof(sr__bin_set));
  l.mixtures = sr__get_count(reader, (int64_t)sizeof(float) * encoder->classes);
  if (reader->status == SR_OK && (l.nodes < 1 || l.nodes > INT32_MAX))
    sr__get_refuse(reader, "a tree without nodes or with too many");
  SR_TRY(reader->status);
  SR_NEW_ZERO(reader->ctx, l.tree, 1);
  l.tree->allocator = sr__allocator(reader->ctx);
  SR_NEW(reader->ctx, l.tree->node, l.nodes);
  SR_NEW(reader->ctx, l.tree->info, l.nodes);
  if (l.sets > 0) SR_NEW(reader->ctx, l.tree->set, l.sets);
  if (l.mixtures > 0) {
    SR_NEW(reader->ctx, l.tree->mixed, l.nodes);
    memset(l.tree->mixed, 0xff, (size_t)l.nodes * sizeof *l.tree->mixed);
    SR_NEW(reader->ctx, l.tree->share, l.mixtures * encoder->classes);
  }
  SR_TRY(load_nodes(&l));
  SR_TRY(sr__tree_ready(reader->ctx, encoder, 0, l.tree));
  *member = l.tree;
  l.tree = NULL;
cleanup:
  sr__tree_free(l.tree);
  return status;
}
