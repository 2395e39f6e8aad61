/* Lists of the nearest kinds (distinct rows) of each kind. A list holds kinds, nearest first, until
 * their rows reach what it needs, and all that are as far as the last: which of these are taken
 * depends on the row that asks and is settled when rows are listed. Internal to src/graph. */
#ifndef SR_GRAPH_NEAR_KINDS_H
#define SR_GRAPH_NEAR_KINDS_H

#include <math.h>

#include "core/core.h"

typedef enum sr__near_state {
  SR__NEAR_OPEN, /* too few rows so far */
  SR__NEAR_FULL,
  SR__NEAR_BURST /* more equals than there is room for: such a list is found in another way */
} sr__near_state;

/* Lists stand at the places of their kinds. */
typedef struct sr__near_kinds {
  int32_t room;         /* entries of a list, one of them spare */
  const int32_t *first; /* kinds + 1, see equal_rows.h; NULL where every kind has one row */
  int32_t *size, *need; /* of each list; need <= 0: the kind's own copies are enough */
  uint8_t *state;
  double *distance; /* squared, `room` a list */
  int32_t *kind;
} sr__near_kinds;

/* The squared distance beyond which nothing is wanted; negative where nothing is. */
static inline double sr__near_worst(const sr__near_kinds *lists, int64_t place) {
  if (lists->need[place] <= 0 || lists->state[place] == SR__NEAR_BURST) return -1.0;
  if (lists->state[place] == SR__NEAR_OPEN) return INFINITY;
  return lists->distance[place * lists->room + lists->size[place] - 1];
}

/* How many entries are needed, the equals of the last included; 0 where there are too few. */
static inline int32_t sr__near_enough(const sr__near_kinds *lists, int64_t place) {
  const double *distance = lists->distance + place * lists->room;
  const int32_t *kind = lists->kind + place * lists->room, *first = lists->first;
  int32_t size = lists->size[place], need = lists->need[place], s = 0;
  if (!first && need > size) return 0;
  if (!first) s = need;
  for (int32_t rows = 0; first && rows < need; s++) {
    if (s == size) return 0;
    rows += first[kind[s] + 1] - first[kind[s]];
  }
  while (s < size && distance[s] == distance[s - 1]) s++;
  return s;
}

/* Offers a kind that was not offered before. */
static inline void sr__near_offer(const sr__near_kinds *lists, int64_t place, double distance,
                                  int32_t kind) {
  if (distance > sr__near_worst(lists, place)) return;
  double *distances = lists->distance + place * lists->room;
  int32_t *kinds = lists->kind + place * lists->room, at = lists->size[place]++;
  for (; at > 0 && distances[at - 1] > distance; at--) {
    distances[at] = distances[at - 1];
    kinds[at] = kinds[at - 1];
  }
  distances[at] = distance;
  kinds[at] = kind;
  int32_t enough = sr__near_enough(lists, place);
  if (enough == 0) return;
  lists->size[place] = enough;
  lists->state[place] = enough < lists->room ? SR__NEAR_FULL : SR__NEAR_BURST;
}

#endif
