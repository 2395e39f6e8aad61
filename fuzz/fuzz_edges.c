/* Edge lists: any bytes give an error with a place or a graph that passes every check. */
#include <stdint.h>
#include <stdlib.h>

#include "graph/read_edges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { NODES = 300 };
  static int32_t component[NODES];
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  sr_context *ctx = NULL;
  sr__source *source = NULL;
  sr_graph *graph = NULL, *copy = NULL;
  must(sr_context_new(&options, &ctx) == SR_OK);
  sr_status status = sr__source_open_memory(ctx, data, size, "input", &source);
  if (status == SR_OK) status = sr__read_edges(ctx, source, NODES, &graph);
  if (status == SR_OK) {
    int64_t count = 0;
    must(sr_graph_new(ctx, sr_graph_get(graph), &copy) == SR_OK);
    must(sr_graph_components(ctx, graph, component, &count) == SR_OK);
    must(count >= 1 && count <= NODES && component[0] == 0);
  } else {
    must(graph == NULL && sr_context_error(ctx).message[0] != '\0');
    must(status != SR_ERROR_INTERNAL);
  }
  sr_graph_free(&copy);
  sr_graph_free(&graph);
  sr__source_close(ctx, &source);
  sr_context_free(&ctx);
  return 0;
}
