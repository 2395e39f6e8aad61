/* A graph of one's own: stations along a ring of pipes, joined to the stations beside them. The
 * structure is made from the graph, cut into parts, and a routed plan deals whole parts.
 *   cc own_graph.c $(pkg-config --cflags --libs specroute) && ./a.out */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <specroute/specroute.h>

enum { STATIONS = 600 };

int main(void) {
  static int64_t offset[STATIONS + 1];
  static int32_t neighbor[2 * STATIONS], label[STATIONS], vote[STATIONS];
  static float x[STATIONS];
  static const char *const classes[] = {"dry", "wet"};
  for (int i = 0; i < STATIONS; i++) { /* neighbors increase inside a row */
    int before = (i + STATIONS - 1) % STATIONS, after = (i + 1) % STATIONS;
    offset[i + 1] = 2 * (i + 1);
    neighbor[2 * i] = before < after ? before : after;
    neighbor[2 * i + 1] = before < after ? after : before;
    double angle = 6.283185307179586 * i / STATIONS;
    x[i] = (float)(sin(3.0 * angle) + 0.3 * rand() / (double)RAND_MAX);
    label[i] = x[i] > 0.1f;
  }
  sr_status status = SR_OK;
  sr_context *ctx = NULL;
  sr_table *table = NULL;
  sr_graph *graph = NULL;
  sr_structure *structure = NULL;
  sr_plan *plan = NULL;
  sr_ensemble *ensemble = NULL;
  int wrong = 0;
  sr_table_view rows = {
      .rows = STATIONS, .features = 1, .x = x, .label = label, .classes = {2, classes}};
  sr_graph_view ring = {.nodes = STATIONS,
                        .arcs = 2 * STATIONS,
                        .offset = offset,
                        .neighbor = neighbor};
  SR_TRY(sr_context_new(NULL, &ctx));
  SR_TRY(sr_table_new(ctx, &rows, &table));
  SR_TRY(sr_graph_new(ctx, &ring, &graph));
  sr_structure_input known = {.rows = STATIONS, .graph = graph, .parts = 20, .tmix = 10.0};
  SR_TRY(sr_structure_new(ctx, &known, &structure));
  const sr_parts_view *parts = sr_parts_get(sr_structure_get(structure)->parts);
  printf("%d parts cut %lld of %d edges\n", parts->parts, (long long)parts->cut_edges, STATIONS);
  SR_TRY(sr_plan_new(ctx, structure, "routed:part_share=0.5", 25, 1, &plan));
  SR_TRY(sr_ensemble_fit(ctx, table, plan, NULL, 1, &ensemble));
  SR_TRY(sr_ensemble_predict(ctx, ensemble, table, vote, NULL));
  for (int i = 0; i < STATIONS; i++) wrong += vote[i] != label[i];
  printf("%d of %d stations are named wrong\n", wrong, STATIONS);
cleanup:
  if (status != SR_OK) fprintf(stderr, "%s\n", ctx ? sr_context_error(ctx).message : "no context");
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
  sr_structure_free(&structure);
  sr_graph_free(&graph);
  sr_table_free(&table);
  sr_context_free(&ctx);
  return status == SR_OK && wrong < STATIONS / 10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
