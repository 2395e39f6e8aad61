/* Histograms of a node's rows and their cuts, once per vector level. Internal to the tree.
 *
 * Two classes share a number: weight above, weight of the second class below. Other nodes have the
 * weights of all classes in a bin, or a histogram per class. */
#ifndef SR_LEARNER_TREE_SPLIT_KERNEL_H
#define SR_LEARNER_TREE_SPLIT_KERNEL_H

#include "core/isa.h"
#include "cuts.h"

enum {
  SR__NARROW_WEIGHT = 4096, /* of a node up to which narrow histograms serve */
  SR__MOST_SLOTS = 16       /* classes of a node that stand side by side in a bin */
};

/* Places that a bin has for so many slots. */
static inline int32_t sr__slot_stride(int32_t present) {
  return present <= SR__MOST_SLOTS / 2 ? SR__MOST_SLOTS / 2 : SR__MOST_SLOTS;
}

/* Rows whose bins are at bins + row * features, and the candidates that are counted. */
typedef struct sr__split_rows {
  const uint8_t *bins;
  int64_t features;
  const sr__entry *entry;
  int64_t count;
  const int32_t *feature;
  int32_t candidates;
} sr__split_rows;

/* `add` counts rows into histograms of 256 bins per candidate, `cut` puts the best cut of one
 * candidate into `split` where it beats what stands there. */
typedef struct sr__split_kernel {
  /* weight << 16 | weight of the second class; nodes up to SR__NARROW_WEIGHT */
  void (*add_narrow)(const sr__split_rows *rows, uint32_t *histogram);
  void (*cut_narrow)(const sr__tree_rules *rules, const sr__node_classes *node,
                     const uint32_t *histogram, int32_t feature, sr__split *split);
  /* the same << 32; nodes below 2^31 */
  void (*add_packed)(const sr__split_rows *rows, uint64_t *histogram);
  void (*cut_packed)(const sr__tree_rules *rules, const sr__node_classes *node,
                     const uint64_t *histogram, int32_t feature, sr__split *split);
  /* pairs of weight and weight of the second class, under gini */
  void (*add_pairs)(const sr__split_rows *rows, int64_t *histogram);
  void (*cut_pairs)(const sr__tree_rules *rules, const sr__node_classes *node,
                    const int64_t *histogram, int32_t feature, sr__split *split);
  /* histogram[(candidate * present + slot) * 256 + bin]; nodes below 2^31. `left` has the room of
   * one candidate. */
  void (*add_classes)(const sr__split_rows *rows, const sr__node_classes *node, int32_t *histogram);
  void (*cut_classes)(const sr__tree_rules *rules, const sr__node_classes *node,
                      const int32_t *histogram, int32_t *left, int32_t feature, sr__split *split);
  /* The same under gini, bin by bin: histogram[(candidate * 256 + bin) * sr__slot_stride() + slot];
   * nodes up to SR__NARROW_WEIGHT with at most SR__MOST_SLOTS slots */
  void (*add_slots)(const sr__split_rows *rows, const sr__node_classes *node, int16_t *histogram);
  void (*cut_slots)(const sr__tree_rules *rules, const sr__node_classes *node,
                    const int16_t *histogram, int32_t feature, sr__split *split);
  /* histogram[bin * present + slot] of one candidate: categories and any weight; `left` has a place
   * per slot */
  void (*clear_any)(const sr__tree_rules *rules, const sr__node_classes *node, int32_t feature,
                    int64_t *histogram);
  void (*add_any)(const sr__split_rows *rows, const sr__node_classes *node, int64_t *histogram);
  void (*cut_any)(const sr__tree_rules *rules, const sr__node_classes *node,
                  const int64_t *histogram, int64_t *left, int32_t feature, sr__split *split);
  /* table[x] = x log x, x < count */
  void (*fill_logs)(int32_t count, double *table);
} sr__split_kernel;

SR__KERNEL_LEVELS(sr__split_kernel)

#endif
