/* Every pair of points in many dimensions once, once per vector level. Internal to src/graph. */
#ifndef SR_GRAPH_PAIR_KERNEL_H
#define SR_GRAPH_PAIR_KERNEL_H

#include "core/isa.h"
#include "near_kinds.h"

enum {
  SR__PAIR_BLOCK = 32,  /* points whose coordinates stand side by side */
  SR__PAIR_CLUMP = 16,  /* points with one center and radius */
  SR__PAIR_SPAN = 768,  /* points that meet another span's at a time; a multiple of every tile */
  SR__PAIR_CENTERS = 48 /* of a span */
};

/* The points in an order that keeps near ones together, and what is known of their neighbors.
 * Arrays of places are padded to whole spans. */
typedef struct sr__pair_points {
  int64_t count, padded;
  int32_t dimension;
  const float *x;   /* rows */
  int32_t *example; /* a row of each place */
  int32_t *kind;    /* of each place */
  float *line;      /* a block: `dimension` lines of SR__PAIR_BLOCK */
  float *panel;     /* a tile: `dimension` lines of the kernel's tile */
  float *low;       /* half the squared length, lowered by the slack; infinity past the end */
  float *net;       /* a span: `dimension` lines of centers, a line of half their squared lengths,
                       lowered, and a line of radii, raised */
  float *bar;       /* low - worst / 2, rounded down: products below it are of no use */
  float *worst;     /* squared distance of interest, raised; negative: none */
  float *reach;     /* its root, raised; set by the sieve */
  float *wide;      /* a clump: the largest reach */
  double *cap;      /* squared distance that no neighbor exceeds, whatever the list says */
  sr__near_kinds lists;
} sr__pair_points;

/* Sets bar and worst of a place from its list and cap. */
static inline void sr__pair_set_bar(const sr__pair_points *points, int64_t place) {
  double worst = sr__near_worst(&points->lists, place);
  bool idle = place >= points->count || worst < 0.0;
  worst = worst < points->cap[place] ? worst : points->cap[place];
  double bar = (double)points->low[place] - 0.5 * worst;
  points->bar[place] = idle ? INFINITY : (float)(bar - fabs(bar) * 2e-7);
  points->worst[place] = idle ? -1.0f : (float)(worst * (1 + 2e-7));
}

/* Squared distance in double; the order of sums is fixed. */
static inline double sr__pair_distance(const float *a, const float *b, int32_t dimension) {
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  int32_t j = 0;
  for (; j + 4 <= dimension; j += 4) {
    for (int s = 0; s < 4; s++) {
      double gap = (double)a[j + s] - b[j + s];
      sum[s] += gap * gap;
    }
  }
  for (; j < dimension; j++) sum[0] += ((double)a[j] - b[j]) * ((double)a[j] - b[j]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

typedef struct sr__pair_kernel {
  int tile; /* queries that are taken together */
  /* Offers the points of the spans s <= t to each other's lists. With `sieve` clumps that are too
   * far away are left out first; the answer is how many pairs of a tile and a clump were. */
  int64_t (*scan)(const sr__pair_points *points, int64_t s, int64_t t, bool sieve);
} sr__pair_kernel;

SR__KERNEL_LEVELS(sr__pair_kernel)

#endif
