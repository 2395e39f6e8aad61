/* A short list of the nearest so far. Internal to src/graph. */
#ifndef SR_GRAPH_KNN_LIST_H
#define SR_GRAPH_KNN_LIST_H

#include <math.h>

#include "knn.h"

/* `k` squared distances and places, nearest first; infinity and -1 where the list is not full. */
typedef struct sr__knn_list {
  int32_t k;
  double *distance;
  int32_t *place;
  const int32_t *row; /* row of each place; NULL = the place */
  int64_t own_row;    /* of the point whose neighbors these are */
} sr__knn_list;

static inline void sr__knn_list_clear(sr__knn_list list) {
  for (int32_t s = 0; s < list.k; s++) {
    list.distance[s] = INFINITY;
    list.place[s] = -1;
  }
}

static inline double sr__knn_list_worst(sr__knn_list list) { return list.distance[list.k - 1]; }

static inline bool sr__knn_list_before(sr__knn_list list, double distance, int32_t place,
                                       int32_t s) {
  if (distance != list.distance[s]) return distance < list.distance[s];
  if (list.place[s] < 0) return true;
  if (!list.row) return sr__knn_ties_first(list.own_row, place, list.place[s]);
  return sr__knn_ties_first(list.own_row, list.row[place], list.row[list.place[s]]);
}

/* Puts a point into the list where it belongs there. It must not be in the list yet. */
static inline void sr__knn_list_offer(sr__knn_list list, double distance, int32_t place) {
  int32_t s = list.k - 1;
  if (!sr__knn_list_before(list, distance, place, s)) return;
  for (; s > 0 && sr__knn_list_before(list, distance, place, s - 1); s--) {
    list.distance[s] = list.distance[s - 1];
    list.place[s] = list.place[s - 1];
  }
  list.distance[s] = distance;
  list.place[s] = place;
}

#endif
