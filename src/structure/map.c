#include "map.h"

#include <math.h>

#define MOST_BUFFER (1.0 / 6.0) /* of the extent */

/* Codes that no row has fall away; the others keep their order. */
static sr_status number_used(sr_context *ctx, int32_t *code, int64_t rows, int32_t codes,
                             int32_t *used) {
  sr_status status = SR_OK;
  int32_t *number = NULL;
  *used = 0;
  SR_NEW_ZERO(ctx, number, codes);
  for (int64_t i = 0; i < rows; i++) number[code[i]] = 1;
  for (int32_t c = 0; c < codes; c++) number[c] = number[c] ? (*used)++ : -1;
  for (int64_t i = 0; i < rows; i++) code[i] = number[code[i]];
cleanup:
  sr__free(ctx, number);
  return status;
}

static sr_status name_units(sr_context *ctx, const int32_t *group, int32_t groups, sr__map *map) {
  sr_status status = SR_OK;
  const sr__places *p = &map->places;
  if (!group && !map->ground.unit) return SR_OK;
  SR_NEW(ctx, map->unit, p->rows);
  map->named = group != NULL;
  map->units = group ? groups : map->ground.units;
  for (int64_t i = 0; i < p->rows; i++)
    map->unit[i] = group ? group[i] : map->ground.unit[p->place[i]];
cleanup:
  return status;
}

/* Regions that are named win; one alone is none. */
static sr_status name_regions(sr_context *ctx, const sr_table_view *view, sr__map *map) {
  sr_status status = SR_OK;
  const sr__places *p = &map->places;
  const int32_t *found = view->region ? NULL : map->ground.region;
  if (!view->region && !found) return SR_OK;
  SR_NEW(ctx, map->region, p->rows);
  for (int64_t i = 0; i < p->rows; i++)
    map->region[i] = found ? found[p->place[i]] : view->region[i];
  map->regions = found ? map->ground.regions : 0;
  if (!found) SR_TRY(number_used(ctx, map->region, p->rows, view->regions.count, &map->regions));
cleanup:
  return status;
}

sr_status sr__map_new(sr_context *ctx, const sr_table *table, const int32_t *group, int32_t groups,
                      uint64_t seed, sr__map **map) {
  sr_status status = SR_OK;
  sr__map *made = NULL;
  *map = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  SR_TRY(sr__places_new(ctx, sr_table_get(table), &made->places));
  SR_TRY(sr__ground_find(ctx, &made->places, &made->ground));
  SR_TRY(name_units(ctx, group, groups, made));
  SR_TRY(name_regions(ctx, sr_table_get(table), made));
  SR_TRY(sr__range_estimate(ctx, table, &made->places, made->unit, seed, &made->range));
  made->buffer = fmin(made->range.reach, MOST_BUFFER * made->places.extent);
  *map = made;
  made = NULL;
cleanup:
  sr__map_free(&made);
  return status;
}

void sr__map_free(sr__map **map) {
  if (!map || !*map) return;
  sr__map *m = *map;
  sr_allocator allocator = m->allocator;
  sr__places_free(&allocator, &m->places);
  sr__ground_free(&allocator, &m->ground);
  sr__release(&allocator, m->unit);
  sr__release(&allocator, m->region);
  sr__release(&allocator, m);
  *map = NULL;
}

/* ---- folds --------------------------------------------------------------------------------------
 */

/* The middle of each unit, and its rows. */
static sr_status unit_centers(sr_context *ctx, const sr__map *map, double **center,
                              int64_t **size) {
  sr_status status = SR_OK;
  const sr__places *p = &map->places;
  SR_NEW_ZERO(ctx, *center, (int64_t)map->units * p->dimension);
  SR_NEW_ZERO(ctx, *size, map->units);
  for (int64_t i = 0; i < p->rows; i++) (*size)[map->unit[i]]++;
  for (int32_t j = 0; j < p->dimension; j++) {
    double *to = *center + (int64_t)j * map->units;
    for (int64_t i = 0; i < p->rows; i++)
      to[map->unit[i]] += p->at[j * p->count + p->place[i]] / (double)(*size)[map->unit[i]];
  }
cleanup:
  return status;
}

sr_status sr__map_areas(sr_context *ctx, const sr__map *map, int32_t folds, int32_t *fold,
                        int32_t *made) {
  sr_status status = SR_OK;
  const sr__places *p = &map->places;
  double *center = NULL;
  int64_t *size = NULL;
  int32_t *label = NULL;
  if (map->unit) {
    SR_TRY(unit_centers(ctx, map, &center, &size));
    SR_NEW(ctx, label, map->units);
    SR_TRY(sr__compact_parts(ctx, &(sr__weighed_points){map->units, p->dimension, center, size},
                             folds, label, made));
    for (int64_t i = 0; i < p->rows; i++) fold[i] = label[map->unit[i]];
  } else {
    SR_NEW(ctx, label, p->count);
    SR_TRY(sr__compact_parts(ctx, &(sr__weighed_points){p->count, p->dimension, p->at, p->size},
                             folds, label, made));
    for (int64_t i = 0; i < p->rows; i++) fold[i] = label[p->place[i]];
  }
cleanup:
  sr__free(ctx, center);
  sr__free(ctx, size);
  sr__free(ctx, label);
  return status;
}

sr_status sr__map_margin(sr_context *ctx, const sr__map *map, const int32_t *fold, double buffer,
                         uint64_t *near, double *distance) {
  enum { MOST_ASKED = 50000 };
  sr_status status = SR_OK;
  const sr__places *p = &map->places;
  int32_t *of_place = NULL;
  double *gap = NULL;
  SR_NEW(ctx, of_place, p->count);
  SR_NEW(ctx, gap, p->count);
  for (int64_t i = p->rows - 1; i >= 0; i--) of_place[p->place[i]] = fold[i];
  SR_TRY(sr__folds_within(ctx, &p->tree, of_place, sr__chord_of_arc(p, buffer), near));
  if (!distance) goto cleanup;
  SR_TRY(sr__distance_to_training(ctx, &p->tree, of_place, near, 1 + p->count / MOST_ASKED, gap));
  for (int64_t i = 0; i < p->rows; i++)
    distance[i] = fold[i] == of_place[p->place[i]] ? sr__arc_of_chord(p, gap[p->place[i]]) : 0.0;
cleanup:
  sr__free(ctx, of_place);
  sr__free(ctx, gap);
  return status;
}
