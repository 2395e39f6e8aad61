/* Box lattices, recognized by distances between their corners, and their straight cuts. Searches do
 * not find these, and the spectral tree takes many times as long. */
#include <stdlib.h>

#include "partition.h"

enum { MOST_AXES = 3, MOST_CORNERS = 1 << MOST_AXES };

typedef struct lattice {
  int axes;
  bool diagonal; /* eight neighbors: nodes that share a corner of their cells are joined too */
  int32_t side[MOST_AXES];
  int32_t end[MOST_AXES]; /* the corner at the end of each axis */
  int32_t *at[MOST_AXES]; /* coordinate of each node */
} lattice;

static void free_lattice(sr_context *ctx, lattice *box) {
  for (int k = 0; k < MOST_AXES; k++) sr__free(ctx, box->at[k]);
  *box = (lattice){0};
}

/* Asked once in so many nodes. What stops at it answers no; who called it asks for the status. */
static bool is_interrupted(sr_context *ctx, int64_t node) {
  enum { NODES = 1 << 18 };
  return node % NODES == 0 && sr__check_interrupt(ctx) != SR_OK;
}

static int64_t degree_of(const sr__csr *graph, int64_t node) {
  return graph->offset[node + 1] - graph->offset[node];
}

/* The nodes of the smallest degree, which is the number of axes; none where it is no box. */
static int list_corners(const sr__csr *graph, int *axes, int32_t *corner) {
  int64_t least = MOST_AXES + 1;
  int count = 0;
  for (int64_t i = 0; i < graph->nodes; i++) {
    if (degree_of(graph, i) > 2 * MOST_AXES) return 0;
    if (degree_of(graph, i) < least) least = degree_of(graph, i);
  }
  if (least < 2 || least > MOST_AXES) return 0;
  for (int64_t i = 0; i < graph->nodes; i++) {
    if (degree_of(graph, i) != least) continue;
    if (count == 1 << least) return 0;
    corner[count++] = (int32_t)i;
  }
  *axes = (int)least;
  return count == 1 << least ? count : 0;
}

/* Steps to each node from the nearest of the `end` nodes that stand in the queue; false where some
 * node is not reached, or an interrupt came. */
static bool spread_steps(sr_context *ctx, const sr__csr *graph, int64_t end, int32_t *queue,
                         int32_t *steps) {
  int64_t first = 0;
  for (int64_t i = 0; i < graph->nodes; i++) steps[i] = -1;
  for (int64_t i = 0; i < end; i++) steps[queue[i]] = 0;
  for (; first < end; first++) {
    int32_t node = queue[first];
    if (is_interrupted(ctx, first)) return false;
    for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++) {
      int32_t neighbor = graph->neighbor[arc];
      if (steps[neighbor] >= 0) continue;
      steps[neighbor] = steps[node] + 1;
      queue[end++] = neighbor;
    }
  }
  return end == graph->nodes;
}

static bool measure_steps(sr_context *ctx, const sr__csr *graph, int32_t from, int32_t *queue,
                          int32_t *steps) {
  queue[0] = from;
  return spread_steps(ctx, graph, 1, queue, steps);
}

/* Whether these corners may end the axes of corner 0: the sides make the number of nodes, and the
 * corner that is farthest away is reached along all of them. */
static bool may_be_axes(const sr__csr *graph, const int32_t *corner, const int *chosen,
                        const int32_t *steps, lattice *box) {
  int64_t product = 1, sum = 0, farthest = 0;
  for (int k = 0; k < box->axes; k++) {
    box->end[k] = corner[chosen[k]];
    box->side[k] = steps[box->end[k]] + 1;
    sum += box->side[k] - 1;
    if (product <= graph->nodes) product *= box->side[k];
  }
  for (int c = 1; c < 1 << box->axes; c++)
    if (steps[corner[c]] > farthest) farthest = steps[corner[c]];
  return product == graph->nodes && sum == farthest;
}

/* The next choice of corners, in increasing order. */
static bool next_choice(int axes, int *chosen) {
  int corners = 1 << axes, k = axes - 1;
  while (k >= 0 && chosen[k] == corners - axes + k) k--;
  if (k < 0) return false;
  chosen[k]++;
  for (int next = k + 1; next < axes; next++) chosen[next] = chosen[next - 1] + 1;
  return true;
}

static int64_t arcs_of_box(const sr__csr *graph, const lattice *box) {
  int64_t arcs = 0;
  for (int k = 0; k < box->axes; k++)
    arcs += 2 * (graph->nodes / box->side[k]) * (box->side[k] - 1);
  if (box->diagonal) arcs += 4 * (int64_t)(box->side[0] - 1) * (box->side[1] - 1);
  return arcs;
}

/* One step along one axis, or with diagonals along any of them. */
static bool is_step(const lattice *box, int64_t a, int64_t b) {
  int64_t sum = 0, most = 0;
  for (int k = 0; k < box->axes; k++) {
    int64_t far = llabs((long long)box->at[k][a] - box->at[k][b]);
    sum += far;
    most = far > most ? far : most;
  }
  return box->diagonal ? most == 1 : sum == 1;
}

/* Every arc is one step, no two nodes share a place, and there are as many arcs as in the box: then
 * it is the box. No also where an interrupt came. */
static bool is_box(sr_context *ctx, const sr__csr *graph, const lattice *box, uint8_t *taken) {
  if (arcs_of_box(graph, box) != graph->offset[graph->nodes]) return false;
  memset(taken, 0, (size_t)graph->nodes);
  for (int64_t i = 0; i < graph->nodes; i++) {
    int64_t place = 0;
    if (is_interrupted(ctx, i)) return false;
    for (int k = 0; k < box->axes; k++) {
      if (box->at[k][i] < 0 || box->at[k][i] >= box->side[k]) return false;
      place = place * box->side[k] + box->at[k][i];
    }
    if (taken[place]++) return false;
    for (int64_t arc = graph->offset[i]; arc < graph->offset[i + 1]; arc++)
      if (!is_step(box, i, graph->neighbor[arc])) return false;
  }
  return true;
}

/* Coordinates from steps: h from corner 0 and e from the end of axis k differ by 2 x_k - side + 1.
 */
static bool place_nodes(sr_context *ctx, const sr__csr *graph, const int32_t *steps, int32_t *queue,
                        lattice *box) {
  for (int k = 0; k < box->axes; k++) {
    if (!measure_steps(ctx, graph, box->end[k], queue, box->at[k])) return false;
    for (int64_t i = 0; i < graph->nodes; i++)
      box->at[k][i] = (box->side[k] - 1 + steps[i] - box->at[k][i]) / 2;
  }
  return is_box(ctx, graph, box, (uint8_t *)queue);
}

static sr_status recognize_box(sr_context *ctx, const sr__csr *graph, lattice *box, bool *found) {
  sr_status status = SR_OK;
  int32_t corner[MOST_CORNERS], *queue = NULL, *steps = NULL;
  int chosen[MOST_AXES] = {1, 2, 3};
  if (list_corners(graph, &box->axes, corner) == 0) return SR_OK;
  SR_NEW(ctx, queue, graph->nodes);
  SR_NEW(ctx, steps, graph->nodes);
  for (int k = 0; k < box->axes; k++) SR_NEW(ctx, box->at[k], graph->nodes);
  if (!measure_steps(ctx, graph, corner[0], queue, steps)) goto cleanup;
  do {
    if (may_be_axes(graph, corner, chosen, steps, box))
      *found = place_nodes(ctx, graph, steps, queue, box);
  } while (!*found && next_choice(box->axes, chosen));
cleanup:
  if (status == SR_OK) status = sr__check_interrupt(ctx);
  sr__free(ctx, queue);
  sr__free(ctx, steps);
  return status;
}

/* ---- planes of eight neighbors -------------------------------------------------------------- */

enum { AT_CORNER = 3, AT_BORDER = 5, INSIDE = 8 }; /* degrees */

static bool are_joined(const sr__csr *graph, int32_t a, int32_t b) {
  for (int64_t arc = graph->offset[a]; arc < graph->offset[a + 1]; arc++)
    if (graph->neighbor[arc] == b) return true;
  return false;
}

/* The first corner, where all degrees are those of a plane with sides of at least four nodes; else
 * -1. */
static int64_t find_corner(const sr__csr *graph) {
  int64_t corners = 0, first = -1;
  for (int64_t i = 0; i < graph->nodes; i++) {
    int64_t degree = degree_of(graph, i);
    if (degree != AT_CORNER && degree != AT_BORDER && degree != INSIDE) return -1;
    if (degree != AT_CORNER) continue;
    if (corners++ == 0) first = i;
  }
  return corners == 4 && graph->nodes >= 16 ? first : -1;
}

/* The next node of a border: the corner, else one that is not joined to the node before. */
static int32_t next_of_border(const sr__csr *graph, int32_t before, int32_t node) {
  int32_t next = -1;
  for (int64_t arc = graph->offset[node]; arc < graph->offset[node + 1]; arc++) {
    int32_t other = graph->neighbor[arc];
    if (other == before || degree_of(graph, other) == INSIDE || are_joined(graph, before, other))
      continue;
    if (degree_of(graph, other) == AT_CORNER) return other;
    next = other;
  }
  return next;
}

/* Puts the nodes of the side that begins with `before` and `node` into the queue, up to the next
 * corner; 0 where none comes. */
static int64_t walk_side(const sr__csr *graph, int32_t before, int32_t node, int32_t *queue) {
  int64_t count = 0;
  queue[count++] = before;
  while (count < graph->nodes) {
    queue[count++] = node;
    if (degree_of(graph, node) == AT_CORNER) return count;
    int32_t next = next_of_border(graph, before, node);
    if (next < 0) return 0;
    before = node;
    node = next;
  }
  return 0;
}

/* Both sides at a corner are walked; steps from one are coordinates along the other. */
static sr_status recognize_plane(sr_context *ctx, const sr__csr *graph, lattice *box, bool *found) {
  sr_status status = SR_OK;
  int32_t *queue = NULL;
  int64_t corner = find_corner(graph);
  int axis = 0;
  if (corner < 0) return SR_OK;
  *box = (lattice){.axes = 2, .diagonal = true};
  SR_NEW(ctx, queue, graph->nodes);
  for (int k = 0; k < 2; k++) SR_NEW(ctx, box->at[k], graph->nodes);
  for (int64_t arc = graph->offset[corner]; arc < graph->offset[corner + 1]; arc++) {
    int32_t next = graph->neighbor[arc];
    if (degree_of(graph, next) == INSIDE) continue;
    int64_t count = axis < 2 ? walk_side(graph, (int32_t)corner, next, queue) : 0;
    if (count == 0) goto cleanup;
    box->side[axis] = (int32_t)count;
    if (!spread_steps(ctx, graph, count, queue, box->at[1 - axis])) goto cleanup;
    axis++;
  }
  *found = axis == 2 && (int64_t)box->side[0] * box->side[1] == graph->nodes &&
           is_box(ctx, graph, box, (uint8_t *)queue);
cleanup:
  if (status == SR_OK) status = sr__check_interrupt(ctx);
  sr__free(ctx, queue);
  return status;
}

/* ---- straight cuts -------------------------------------------------------------------------- */

/* Leaves of the tree that nodes are to be cut into. */
typedef struct leaf_range {
  int32_t first, count;
} leaf_range;

typedef struct box_cut {
  const sr__working_graph *working;
  const lattice *box;
  int32_t *label;
} box_cut;

/* Halves the nodes across their longest axis; inside one plane the next longest decides. */
static sr_status cut_box(sr_context *ctx, const box_cut *cut, sr__valued_node *entry, int64_t count,
                         leaf_range leaves) {
  sr_status status = sr__check_interrupt(ctx);
  const lattice *box = cut->box;
  int64_t extent[MOST_AXES] = {0};
  int order[MOST_AXES] = {0, 1, 2};
  if (status != SR_OK) return status;
  if (leaves.count == 1) {
    for (int64_t i = 0; i < count; i++) cut->label[entry[i].node] = leaves.first;
    return SR_OK;
  }
  for (int k = 0; k < box->axes; k++) {
    int32_t low = INT32_MAX, high = 0;
    for (int64_t i = 0; i < count; i++) {
      int32_t at = box->at[k][entry[i].node];
      if (at < low) low = at;
      if (at > high) high = at;
    }
    extent[k] = high - low;
    for (int j = k; j > 0 && extent[order[j]] > extent[order[j - 1]]; j--) {
      int keep = order[j];
      order[j] = order[j - 1];
      order[j - 1] = keep;
    }
  }
  for (int64_t i = 0; i < count; i++) {
    double value = 0;
    for (int k = 0; k < box->axes; k++)
      value = value * box->side[order[k]] + box->at[order[k]][entry[i].node];
    entry[i].value = value;
  }
  leaf_range left = {leaves.first, sr__left_leaves(leaves.count)};
  leaf_range right = {left.first + left.count, leaves.count - left.count};
  int64_t rows = sr__left_rows(count, leaves.count);
  SR_TRY(sr__check_interrupt(ctx));
  (void)sr__select_rows(cut->working, entry, count, rows);
  SR_TRY(cut_box(ctx, cut, entry, rows, left));
  SR_TRY(cut_box(ctx, cut, entry + rows, count - rows, right));
cleanup:
  return status;
}

sr_status sr__lattice_tree(sr_context *ctx, const sr__working_graph *working, int32_t parts,
                           bool planes, int32_t *label, bool *found) {
  sr_status status = SR_OK;
  lattice box = {0};
  sr__valued_node *entry = NULL;
  *found = false;
  if (working->size || working->graph.weight) return SR_OK;
  SR_TRY(recognize_box(ctx, &working->graph, &box, found));
  if (!*found && planes) {
    free_lattice(ctx, &box);
    SR_TRY(recognize_plane(ctx, &working->graph, &box, found));
  }
  if (!*found) goto cleanup;
  SR_NEW(ctx, entry, working->rows);
  for (int64_t i = 0; i < working->rows; i++) entry[i].node = (int32_t)i;
  box_cut cut = {working, &box, label};
  SR_TRY(cut_box(ctx, &cut, entry, working->rows, (leaf_range){0, parts}));
cleanup:
  sr__free(ctx, entry);
  free_lattice(ctx, &box);
  return status;
}
