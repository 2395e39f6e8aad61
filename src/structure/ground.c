/* Units and regions of places: the minimum spanning tree cut at its long edges. */
#include <math.h>

#include "core/joined_sets.h"
#include "core/sort.h"
#include "places.h"

enum { UNIT_STEP = 4, REGION_JUMP = 3, LONGEST_EDGES = 60, LEAST_UNITS = 6 };

typedef struct tree_edge {
  int32_t a, b;
  double length;
} tree_edge;

static int shorter_first(const void *x, const void *y) {
  const tree_edge *a = x, *b = y;
  if (a->length != b->length) return a->length < b->length ? -1 : 1;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

/* ---- the spanning tree (Boruvka) ---------------------------------------------------------------
 */

typedef struct spanning {
  const sr__places *places;
  int32_t *parent;
  tree_edge *edge; /* count - 1 in the end */
  int64_t edges;
  int32_t *label, *nearest,
      *best; /* by place; best by label: the place that is nearest to another */
  double *distance;
  uint8_t *asks;
} spanning;

static void spanning_free(sr_context *ctx, spanning *s) {
  void *blocks[] = {s->parent, s->edge, s->label, s->nearest, s->best, s->distance, s->asks};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__free(ctx, blocks[i]);
}

/* Every piece but the largest asks for its nearest other piece; ties go to the lower places, so
 * that no circle closes. */
static sr_status boruvka_round(sr_context *ctx, spanning *s) {
  sr_status status = SR_OK;
  int64_t n = s->places->count;
  int32_t largest = 0;
  int64_t pieces = 0;
  for (int64_t i = 0; i < n; i++) {
    s->label[i] = sr__set_root(s->parent, (int32_t)i);
    s->best[i] = 0;
  }
  for (int64_t i = 0; i < n; i++) pieces += s->best[s->label[i]]++ == 0;
  for (int64_t i = 0; i < n; i++)
    if (s->best[i] > s->best[largest]) largest = (int32_t)i;
  for (int64_t i = 0; i < n; i++) s->asks[i] = pieces == n || s->label[i] != largest;
  SR_TRY(sr__nearest_other(ctx, &s->places->tree, s->label, s->asks, s->nearest, s->distance));
  for (int64_t i = 0; i < n; i++) s->best[i] = -1;
  for (int64_t i = 0; i < n; i++) {
    int32_t *best = &s->best[s->label[i]];
    if (!s->asks[i] || s->nearest[i] < 0) continue;
    if (*best < 0 || s->distance[i] < s->distance[*best]) *best = (int32_t)i;
  }
  for (int64_t i = 0; i < n; i++) {
    int32_t from = s->best[i];
    if (from < 0 || !sr__join_sets(s->parent, from, s->nearest[from])) continue;
    s->edge[s->edges++] = (tree_edge){from, s->nearest[from], s->distance[from]};
  }
cleanup:
  return status;
}

static sr_status span(sr_context *ctx, const sr__places *places, spanning *s) {
  sr_status status = SR_OK;
  int64_t n = places->count;
  *s = (spanning){.places = places};
  SR_NEW(ctx, s->parent, n);
  SR_NEW(ctx, s->edge, n);
  SR_NEW(ctx, s->label, n);
  SR_NEW(ctx, s->nearest, n);
  SR_NEW(ctx, s->best, n);
  SR_NEW(ctx, s->distance, n);
  SR_NEW(ctx, s->asks, n);
  for (int64_t i = 0; i < n; i++) s->parent[i] = (int32_t)i;
  while (s->edges < n - 1) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(boruvka_round(ctx, s));
  }
  SR_TRY(sr__sort(ctx, s->edge, s->edges, sizeof *s->edge, shorter_first));
cleanup:
  return status;
}

/* ---- pieces -----------------------------------------------------------------------------------
 */

/* Labels 0, 1, ... of the pieces that edges up to `longest` join; gives how many. */
static int32_t cut_tree(spanning *s, double longest, int32_t *label) {
  int64_t n = s->places->count;
  int32_t pieces = 0;
  for (int64_t i = 0; i < n; i++) s->parent[i] = (int32_t)i;
  for (int64_t e = 0; e < s->edges && s->edge[e].length <= longest; e++)
    sr__join_sets(s->parent, s->edge[e].a, s->edge[e].b);
  for (int64_t i = 0; i < n; i++) {
    int32_t root = sr__set_root(s->parent, (int32_t)i); /* the lowest of its piece */
    label[i] = root == i ? pieces++ : label[root];
  }
  return pieces;
}

/* Pieces below `least` rows join the nearest piece that is not; gives how many are left. */
static sr_status join_small(sr_context *ctx, spanning *s, int64_t least, int32_t *label,
                            int32_t *pieces) {
  sr_status status = SR_OK;
  int64_t n = s->places->count, *rows = NULL, small = 0;
  int32_t *renamed = NULL, kept = 0;
  SR_NEW_ZERO(ctx, rows, *pieces);
  SR_NEW(ctx, renamed, *pieces);
  for (int64_t i = 0; i < n; i++) rows[label[i]] += s->places->size[i];
  for (int32_t k = 0; k < *pieces; k++) {
    renamed[k] = rows[k] < least ? -1 : kept++;
    small += rows[k] < least;
  }
  if (small == 0 || kept == 0) goto cleanup;
  for (int64_t i = 0; i < n; i++) {
    s->asks[i] = renamed[label[i]] < 0;
    s->label[i] = s->asks[i] ? 0 : 1; /* any other label is one that is kept */
  }
  SR_TRY(sr__nearest_other(ctx, &s->places->tree, s->label, s->asks, s->nearest, s->distance));
  for (int64_t i = 0; i < n; i++) s->label[i] = label[i];
  for (int64_t i = 0; i < n; i++) label[i] = renamed[s->label[s->asks[i] ? s->nearest[i] : i]];
  *pieces = kept;
cleanup:
  sr__free(ctx, rows);
  sr__free(ctx, renamed);
  return status;
}

static int64_t largest_piece(const sr__places *places, const int32_t *label, int64_t *rows,
                             int32_t pieces) {
  int64_t most = 0;
  memset(rows, 0, (size_t)pieces * sizeof *rows);
  for (int64_t i = 0; i < places->count; i++) rows[label[i]] += places->size[i];
  for (int32_t k = 0; k < pieces; k++) most = rows[k] > most ? rows[k] : most;
  return most;
}

/* Rows share places where there are at most a third as many places as rows, and half of the places
 * hold three rows or more. */
static bool places_are_shared(const sr__places *p) {
  int64_t three = 0;
  for (int64_t i = 0; i < p->count; i++) three += p->size[i] >= 3;
  return 3 * p->count <= p->rows && 2 * three >= p->count;
}

static sr_status find_units(sr_context *ctx, spanning *s, sr__ground *g) {
  sr_status status = SR_OK;
  const sr__places *p = s->places;
  int64_t *rows = NULL;
  SR_NEW(ctx, g->unit, p->count);
  SR_NEW(ctx, rows, p->count);
  g->shared_places = places_are_shared(p);
  if (g->shared_places) {
    g->units = (int32_t)p->count;
    for (int64_t i = 0; i < p->count; i++) g->unit[i] = (int32_t)i;
  } else {
    double median =
        s->edges ? 0.5 * (s->edge[(s->edges - 1) / 2].length + s->edge[s->edges / 2].length) : 0.0;
    g->gap = UNIT_STEP * median;
    g->units = cut_tree(s, g->gap, g->unit);
    SR_TRY(join_small(ctx, s, 3, g->unit, &g->units));
    if (g->units < LEAST_UNITS || 3 * largest_piece(p, g->unit, rows, g->units) > p->rows)
      g->units = 0;
  }
  if (g->units < 2) {
    sr__free(ctx, g->unit);
    g->unit = NULL;
    g->units = 0;
    g->shared_places = false;
  }
cleanup:
  sr__free(ctx, rows);
  return status;
}

/* ---- regions -----------------------------------------------------------------------------------
 */

/* Half the pieces have a diameter (of their box) below this. */
static sr_status median_diameter(sr_context *ctx, const sr__places *p, const int32_t *label,
                                 int32_t pieces, double *median) {
  sr_status status = SR_OK;
  double *low = NULL, *high = NULL, *size = NULL;
  int32_t d = p->dimension;
  SR_NEW(ctx, low, (int64_t)pieces * d);
  SR_NEW(ctx, high, (int64_t)pieces * d);
  SR_NEW_ZERO(ctx, size, pieces);
  for (int64_t k = 0; k < (int64_t)pieces * d; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
  }
  for (int64_t i = 0; i < p->count; i++)
    for (int32_t j = 0; j < d; j++) {
      int64_t k = (int64_t)label[i] * d + j;
      low[k] = fmin(low[k], p->at[j * p->count + i]);
      high[k] = fmax(high[k], p->at[j * p->count + i]);
    }
  for (int32_t k = 0; k < pieces; k++) {
    for (int32_t j = 0; j < d; j++) {
      double side = high[k * d + j] - low[k * d + j];
      size[k] += side * side;
    }
    size[k] = sqrt(size[k]);
  }
  for (int32_t a = 1; a < pieces; a++) /* few */
    for (int32_t b = a; b > 0 && size[b] < size[b - 1]; b--) {
      double swap = size[b];
      size[b] = size[b - 1];
      size[b - 1] = swap;
    }
  *median = 0.5 * (size[(pieces - 1) / 2] + size[pieces / 2]);
cleanup:
  sr__free(ctx, low);
  sr__free(ctx, high);
  sr__free(ctx, size);
  return status;
}

/* Cuts between the k-th longest edge and the next where that gives regions: at least as far apart
 * as half of them are wide, and fewer than half as many as there are units. */
static sr_status try_regions(sr_context *ctx, spanning *s, int64_t k, sr__ground *g) {
  sr_status status = SR_OK;
  const sr__places *p = s->places;
  int32_t *label = NULL, pieces = 0;
  double diameter = 0.0;
  double gap = s->edge[s->edges - 1 - k].length, next = s->edge[s->edges - 2 - k].length;
  SR_NEW(ctx, label, p->count);
  pieces = cut_tree(s, sqrt(gap * next), label);
  int64_t least = p->rows / 100 > 3 ? p->rows / 100 : 3;
  SR_TRY(join_small(ctx, s, least, label, &pieces));
  SR_TRY(median_diameter(ctx, p, label, pieces, &diameter));
  if (pieces < 2 || gap < 0.5 * diameter || (g->unit && 2 * pieces >= g->units)) goto cleanup;
  g->region = label;
  g->regions = pieces;
  g->region_gap = gap;
  label = NULL;
cleanup:
  sr__free(ctx, label);
  return status;
}

/* Of the longest edges, those that are much longer than the next, the greatest jump first. */
static sr_status find_regions(sr_context *ctx, spanning *s, sr__ground *g) {
  sr_status status = SR_OK;
  double jump[LONGEST_EDGES] = {0};
  int64_t most = s->places->count / 3 < LONGEST_EDGES ? s->places->count / 3 : LONGEST_EDGES;
  if (most < 3 || s->edges < most) return SR_OK;
  for (int64_t k = 0; k + 1 < most; k++) {
    double next = s->edge[s->edges - 2 - k].length;
    jump[k] = next > 0.0 ? s->edge[s->edges - 1 - k].length / next : 0.0;
  }
  for (;;) {
    int64_t best = 0;
    for (int64_t k = 1; k + 1 < most; k++)
      if (jump[k] > jump[best]) best = k;
    if (jump[best] < REGION_JUMP || g->region) break;
    SR_TRY(try_regions(ctx, s, best, g));
    jump[best] = 0.0;
  }
cleanup:
  return status;
}

sr_status sr__ground_find(sr_context *ctx, const sr__places *places, sr__ground *ground) {
  sr_status status = SR_OK;
  spanning s = {0};
  sr_allocator allocator = sr__allocator(ctx);
  *ground = (sr__ground){0};
  if (places->count < 4 && !places_are_shared(places)) return SR_OK;
  SR_TRY(span(ctx, places, &s));
  SR_TRY(find_units(ctx, &s, ground));
  if (places->count >= 4) SR_TRY(find_regions(ctx, &s, ground));
cleanup:
  spanning_free(ctx, &s);
  if (status != SR_OK) sr__ground_free(&allocator, ground);
  return status;
}

void sr__ground_free(const sr_allocator *allocator, sr__ground *ground) {
  sr__release(allocator, ground->unit);
  sr__release(allocator, ground->region);
  *ground = (sr__ground){0};
}
