#include "places.h"

#include <math.h>

#include "core/maths.h"
#include "core/sort.h"
#include "data/geographic.h"

double sr__arc_of_chord(const sr__places *places, double chord) {
  if (!places->sphere || !isfinite(chord)) return chord;
  double half = chord / (2.0 * SR__EARTH);
  return 2.0 * SR__EARTH * sr__asin_portable(half < 1.0 ? half : 1.0);
}

double sr__chord_of_arc(const sr__places *places, double arc) {
  if (!places->sphere || !isfinite(arc)) return arc;
  double angle = arc / (2.0 * SR__EARTH), quarter = 3.14159265358979323846 / 2.0;
  return 2.0 * SR__EARTH * sr__sin_portable(angle < quarter ? angle : quarter);
}

/* ---- equal coordinates ---------------------------------------------------------------------- */

typedef struct keyed_row {
  double key[SR__PLACE_DIMENSIONS];
  int64_t row;
} keyed_row;

static int compare_rows(const void *a, const void *b) {
  const keyed_row *x = a, *y = b;
  for (int j = 0; j < SR__PLACE_DIMENSIONS; j++)
    if (x->key[j] != y->key[j]) return x->key[j] < y->key[j] ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

static bool same_place(const keyed_row *a, const keyed_row *b) {
  return memcmp(a->key, b->key, sizeof a->key) == 0;
}

static sr_status read_keys(sr_context *ctx, const sr_table_view *table, bool sphere,
                           keyed_row *keyed) {
  int64_t n = table->rows;
  for (int64_t i = 0; i < n; i++) {
    keyed[i] = (keyed_row){.row = i};
    for (int32_t j = 0; j < table->coordinate_count; j++) {
      double x = table->coordinates[j * n + i];
      if (!isfinite(x))
        return sr__fail(ctx, SR_ERROR_DATA, "coordinate %d of row %lld is %g, expected a number",
                        j + 1, (long long)i, x);
      keyed[i].key[j] = sphere && j == 0 ? sr__round_the_globe(x) : x + 0.0;
    }
  }
  return SR_OK;
}

static void place_at(const keyed_row *keyed, int32_t coordinates, bool sphere, double out[3]) {
  if (sphere)
    sr__to_sphere(keyed->key[0], keyed->key[1], out);
  else
    for (int32_t j = 0; j < coordinates; j++) out[j] = keyed->key[j];
}

static void find_extent(sr__places *p) {
  for (int32_t j = 0; j < p->dimension; j++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < p->count; i++) {
      double x = p->at[j * p->count + i];
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    if (high - low > p->extent) p->extent = high - low;
  }
}

sr_status sr__places_new(sr_context *ctx, const sr_table_view *table, sr__places *places) {
  sr_status status = SR_OK;
  keyed_row *keyed = NULL;
  sr__places made = {.rows = table->rows};
  sr_allocator allocator = sr__allocator(ctx);
  *places = (sr__places){0};
  if (table->coordinate_count < 2 || !table->coordinates || table->rows < 1)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the rows have no places; name their coordinates"));
  made.unit = sr__distance_unit(table);
  made.sphere = table->coordinate_count == 2 && sr__is_geographic(table->projection);
  made.dimension = made.sphere ? 3 : table->coordinate_count;
  SR_NEW(ctx, keyed, table->rows);
  SR_NEW(ctx, made.place, table->rows);
  SR_TRY(read_keys(ctx, table, made.sphere, keyed));
  SR_TRY(sr__sort(ctx, keyed, table->rows, sizeof *keyed, compare_rows));
  for (int64_t i = 0; i < table->rows; i++) {
    made.count += i == 0 || !same_place(&keyed[i], &keyed[i - 1]);
    made.place[keyed[i].row] = (int32_t)(made.count - 1);
  }
  SR_NEW(ctx, made.at, made.count * made.dimension);
  SR_NEW_ZERO(ctx, made.size, made.count);
  for (int64_t i = 0; i < table->rows; i++) {
    int32_t place = made.place[keyed[i].row];
    double at[3];
    if (made.size[place]++ > 0) continue;
    place_at(&keyed[i], table->coordinate_count, made.sphere, at);
    for (int32_t j = 0; j < made.dimension; j++) made.at[j * made.count + place] = at[j];
  }
  find_extent(&made);
  SR_TRY(sr__place_tree_build(ctx, made.at, made.count, made.dimension, &made.tree));
  *places = made;
  made = (sr__places){0};
cleanup:
  sr__free(ctx, keyed);
  sr__places_free(&allocator, &made);
  return status;
}

void sr__places_free(const sr_allocator *allocator, sr__places *places) {
  sr__place_tree_free(allocator, &places->tree);
  sr__release(allocator, places->at);
  sr__release(allocator, places->place);
  sr__release(allocator, places->size);
  *places = (sr__places){0};
}

sr_status sr__places_project(sr_context *ctx, const sr__places *places, const sr_table_view *table,
                             double **at) {
  sr_status status = SR_OK;
  double *made = NULL, out[3];
  int64_t n = table->rows;
  int32_t given = places->sphere ? 2 : places->dimension;
  *at = NULL;
  if (table->coordinate_count != given || !table->coordinates)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "the table has %d coordinates, the places have %d",
                    table->coordinate_count, given));
  SR_NEW(ctx, made, n * places->dimension);
  for (int64_t i = 0; i < n; i++) {
    keyed_row key = {.row = i};
    for (int32_t j = 0; j < given; j++) {
      key.key[j] = table->coordinates[j * n + i];
      if (!isfinite(key.key[j]))
        SR_TRY(sr__fail(ctx, SR_ERROR_DATA, "coordinate %d of row %lld is %g, expected a number",
                        j + 1, (long long)i, key.key[j]));
    }
    place_at(&key, given, places->sphere, out);
    for (int32_t j = 0; j < places->dimension; j++) made[j * n + i] = out[j];
  }
  *at = made;
  made = NULL;
cleanup:
  sr__free(ctx, made);
  return status;
}
