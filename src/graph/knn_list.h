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

/* Offers the rows member[begin..end) of one kind, in the order of the file, but for the list's own
 * row; places are rows. Of a kind only the k before and the k after the own row can be among its k
 * nearest. */
static inline void sr__knn_list_offer_copies(sr__knn_list list, double distance,
                                             const int32_t *member, int64_t begin, int64_t end) {
  if (end - begin > 2 * list.k) {
    int64_t low = begin, high = end;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (member[middle] < list.own_row)
        low = middle + 1;
      else
        high = middle;
    }
    begin = low - list.k > begin ? low - list.k : begin;
    end = low + list.k + 1 < end ? low + list.k + 1 : end;
  }
  for (int64_t i = begin; i < end; i++)
    if (member[i] != list.own_row) sr__knn_list_offer(list, distance, member[i]);
}

#endif
