/* Compact parts of points: halves across the longest axis. */
#include <math.h>
#include <stdlib.h>

#include "places.h"

typedef struct ranked {
  double along;
  int64_t point;
} ranked;

static int lower_first(const void *x, const void *y) {
  const ranked *a = x, *b = y;
  if (a->along != b->along) return a->along < b->along ? -1 : 1;
  return (a->point > b->point) - (a->point < b->point);
}

typedef struct halving {
  sr__weighed_points points;
  int32_t *label;
  ranked *order; /* the points of the part that is halved */
  int64_t length;
} halving;

/* The weighted mean of the part, and the axis along which it is longest: the first eigenvector of
 * its covariance, by repeated squaring. */
static void find_axis(const halving *h, double axis[SR__PLACE_DIMENSIONS],
                      double mean[SR__PLACE_DIMENSIONS]) {
  double c[SR__PLACE_DIMENSIONS][SR__PLACE_DIMENSIONS] = {{0}}, total = 0.0;
  int32_t d = h->points.dimension;
  memset(mean, 0, sizeof(double) * SR__PLACE_DIMENSIONS);
  for (int64_t k = 0; k < h->length; k++) {
    int64_t i = h->order[k].point;
    total += (double)h->points.weight[i];
    for (int32_t j = 0; j < d; j++)
      mean[j] += (double)h->points.weight[i] * h->points.at[j * h->points.count + i];
  }
  for (int32_t j = 0; j < d; j++) mean[j] /= total;
  for (int64_t k = 0; k < h->length; k++) {
    int64_t i = h->order[k].point;
    for (int32_t a = 0; a < d; a++)
      for (int32_t b = 0; b < d; b++)
        c[a][b] += (double)h->points.weight[i] * (h->points.at[a * h->points.count + i] - mean[a]) *
                   (h->points.at[b * h->points.count + i] - mean[b]);
  }
  for (int round = 0; round < 12; round++) {
    double square[SR__PLACE_DIMENSIONS][SR__PLACE_DIMENSIONS] = {{0}}, largest = 0.0;
    for (int32_t a = 0; a < d; a++)
      for (int32_t b = 0; b < d; b++) largest = fmax(largest, fabs(c[a][b]));
    if (!(largest > 0.0)) break;
    for (int32_t a = 0; a < d; a++)
      for (int32_t b = 0; b < d; b++)
        for (int32_t k = 0; k < d; k++) square[a][b] += c[a][k] / largest * (c[k][b] / largest);
    memcpy(c, square, sizeof c);
  }
  int32_t best = 0;
  for (int32_t a = 1; a < d; a++)
    if (c[a][a] > c[best][best]) best = a;
  for (int32_t j = 0; j < d; j++) axis[j] = c[j][best];
}

/* Points of a part in the order of its longest axis; false where they all lie at one place. */
static bool order_part(halving *h, int32_t part) {
  double axis[SR__PLACE_DIMENSIONS] = {0}, mean[SR__PLACE_DIMENSIONS];
  bool apart = false;
  h->length = 0;
  for (int64_t i = 0; i < h->points.count; i++)
    if (h->label[i] == part) h->order[h->length++].point = i;
  for (int64_t k = 1; k < h->length && !apart; k++)
    for (int32_t j = 0; j < h->points.dimension; j++)
      apart |= h->points.at[j * h->points.count + h->order[k].point] !=
               h->points.at[j * h->points.count + h->order[0].point];
  if (!apart) return false;
  find_axis(h, axis, mean);
  for (int64_t k = 0; k < h->length; k++) {
    h->order[k].along = 0.0;
    for (int32_t j = 0; j < h->points.dimension; j++)
      h->order[k].along +=
          axis[j] * (h->points.at[j * h->points.count + h->order[k].point] - mean[j]);
  }
  qsort(h->order, (size_t)h->length, sizeof *h->order, lower_first);
  return true;
}

static void split_part(halving *h, int32_t new) {
  int64_t total = 0, sum = 0, first = 0;
  for (int64_t k = 0; k < h->length; k++) total += h->points.weight[h->order[k].point];
  while (first < h->length && 2 * sum < total) sum += h->points.weight[h->order[first++].point];
  if (first < 1) first = 1;
  if (first > h->length - 1) first = h->length - 1;
  for (int64_t k = first; k < h->length; k++) h->label[h->order[k].point] = new;
}

sr_status sr__compact_parts(sr_context *ctx, const sr__weighed_points *points, int32_t parts,
                            int32_t *label, int32_t *made) {
  sr_status status = SR_OK;
  halving h = {.points = *points, .label = label};
  int64_t *load = NULL;
  SR_NEW(ctx, h.order, points->count);
  SR_NEW(ctx, load, parts);
  memset(label, 0, (size_t)points->count * sizeof *label);
  *made = 1;
  while (*made < parts) {
    memset(load, 0, (size_t)*made * sizeof *load);
    for (int64_t i = 0; i < points->count; i++) load[label[i]] += points->weight[i];
    int32_t heaviest = -1;
    for (int32_t tried = 0; tried < *made; tried++) {
      heaviest = -1;
      for (int32_t k = 0; k < *made; k++)
        if (load[k] >= 0 && (heaviest < 0 || load[k] > load[heaviest])) heaviest = k;
      if (order_part(&h, heaviest)) break;
      load[heaviest] = -1; /* one place */
      heaviest = -1;
    }
    if (heaviest < 0) break;
    split_part(&h, (*made)++);
  }
cleanup:
  sr__free(ctx, h.order);
  sr__free(ctx, load);
  return status;
}
