/* Split search in nodes of more than 64 rows: histograms of the candidates' bins. */
#include "tree.h"

typedef enum histogram_kind { NARROW, PACKED, PAIRS, BY_SLOT, BY_CLASS, ANY } histogram_kind;

/* Several classes under gini in a light node. */
static bool fits_slots(const sr__grower *g) {
  return !g->rules.entropy && g->node.total <= SR__NARROW_WEIGHT &&
         g->node.present <= SR__MOST_SLOTS;
}

static histogram_kind kind_for(const sr__grower *g, const sr__node_rows *rows) {
  bool light = g->node.total < INT32_MAX;
  if (g->rules.classes != 2) return fits_slots(g) ? BY_SLOT : light ? BY_CLASS : ANY;
  if (!light) return g->rules.entropy ? ANY : PAIRS;
  return rows->entry && g->node.total <= SR__NARROW_WEIGHT ? NARROW : PACKED;
}

/* Candidates whose histograms are filled together; the last room by class is for sums. */
static int32_t group_size(const sr__grower *g, histogram_kind kind) {
  int64_t room = kind == BY_CLASS ? g->histogram_slots / g->node.present - 1 : SR__GROUP;
  return kind == ANY ? 1 : room < SR__GROUP ? (int32_t)room : SR__GROUP;
}

/* Reads each row once for all candidates of a group. */
static void fill(sr__grower *g, const sr__node_rows *rows, histogram_kind kind,
                 const int32_t *feature, int32_t candidates) {
  const sr__split_kernel *kernel = sr__split_kernel_now();
  size_t bins = 256 * (size_t)candidates;
  sr__split_rows here = {.bins = rows->bins,
                         .features = g->rules.features,
                         .feature = feature,
                         .candidates = candidates};
  sr__row_tiles tiles;
  if (kind == NARROW) memset(g->histogram, 0, bins * sizeof(uint32_t));
  if (kind == PACKED) memset(g->histogram, 0, bins * sizeof(uint64_t));
  if (kind == PAIRS) memset(g->histogram, 0, 2 * bins * sizeof(int64_t));
  if (kind == BY_SLOT)
    memset(g->histogram, 0, bins * (size_t)sr__slot_stride(g->node.present) * sizeof(int16_t));
  if (kind == BY_CLASS) memset(g->histogram, 0, bins * (size_t)g->node.present * sizeof(int32_t));
  if (kind == ANY) kernel->clear_any(&g->rules, &g->node, feature[0], g->any_histogram);
  sr__tiles_start(rows, &tiles);
  while ((here.count = sr__next_tile(g, rows, &tiles, &here.entry)) > 0) {
    if (kind == NARROW) kernel->add_narrow(&here, g->histogram);
    if (kind == PACKED) kernel->add_packed(&here, g->histogram);
    if (kind == PAIRS) kernel->add_pairs(&here, g->histogram);
    if (kind == BY_SLOT) kernel->add_slots(&here, &g->node, g->histogram);
    if (kind == BY_CLASS) kernel->add_classes(&here, &g->node, g->histogram);
    if (kind == ANY) kernel->add_any(&here, &g->node, g->any_histogram);
  }
}

static void search_any(sr__grower *g, const sr__node_rows *rows, int32_t feature,
                       sr__split *split) {
  fill(g, rows, ANY, &feature, 1);
  sr__split_kernel_now()->cut_any(&g->rules, &g->node, g->any_histogram, g->left_count, feature,
                                  split);
}

static void search_group(sr__grower *g, const sr__node_rows *rows, histogram_kind kind,
                         const int32_t *feature, int32_t candidates, sr__split *split) {
  const sr__split_kernel *kernel = sr__split_kernel_now();
  int64_t step = (int64_t)256 * g->node.present;
  uint32_t *narrow = g->histogram;
  uint64_t *packed = g->histogram;
  int64_t *pairs = g->histogram;
  int16_t *by_slot = g->histogram;
  int32_t *by_class = g->histogram;
  if (kind != ANY) fill(g, rows, kind, feature, candidates);
  for (int32_t k = 0; k < candidates; k++) {
    if (kind == ANY || sr__has_categories(&g->rules, feature[k]))
      search_any(g, rows, feature[k], split);
    else if (kind == NARROW)
      kernel->cut_narrow(&g->rules, &g->node, narrow + 256 * k, feature[k], split);
    else if (kind == PACKED)
      kernel->cut_packed(&g->rules, &g->node, packed + 256 * k, feature[k], split);
    else if (kind == PAIRS)
      kernel->cut_pairs(&g->rules, &g->node, pairs + 2 * 256 * k, feature[k], split);
    else if (kind == BY_SLOT)
      kernel->cut_slots(&g->rules, &g->node, by_slot + 256 * sr__slot_stride(g->node.present) * k,
                        feature[k], split);
    else
      kernel->cut_classes(&g->rules, &g->node, by_class + step * k, by_class + step * candidates,
                          feature[k], split);
  }
}

void sr__search_split(sr__grower *g, const sr__node_rows *rows, sr__split *split) {
  histogram_kind kind = kind_for(g, rows);
  int32_t most = group_size(g, kind);
  int64_t drawn = 0, features = g->rules.features, candidates = g->draw.candidates;
  split->feature = -1;
  while (drawn < features && (drawn < candidates || split->feature < 0)) {
    int32_t feature[SR__GROUP], group = 0;
    int64_t limit = drawn < candidates ? candidates : drawn + 1;
    while (group < most && drawn < limit) feature[group++] = sr__draw_feature(&g->draw, drawn++);
    search_group(g, rows, kind, feature, group, split);
  }
}
