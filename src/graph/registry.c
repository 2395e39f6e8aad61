/* The builders by name. */
#include "core/options.h"
#include "data/series_columns.h"
#include "graph.h"

#define SR_ENTRY(name) extern const sr__graph_builder sr__builder_##name;
#include "methods.def"
#undef SR_ENTRY
#define SR_ENTRY(name) &sr__builder_##name,
static const sr__graph_builder *const builders[] = {
#include "methods.def"
};
#undef SR_ENTRY
enum { BUILDER_COUNT = sizeof builders / sizeof *builders };

const sr_method *sr_graph_method(int index) {
  return index >= 0 && index < BUILDER_COUNT ? &builders[index]->about : NULL;
}

const char *sr__graph_default(const sr_table_view *table) {
  if (table->cell) return "grid";
  if (table->coordinate_count > 0) return "space";
  return table->channels > 0 && !table->time && !table->group ? "none" : "time";
}

sr_status sr__graph_builder_of(sr_context *ctx, const char *text,
                               const sr__graph_builder **builder) {
  const sr_method *method = NULL;
  sr_status status = sr_method_check(ctx, "graph", sr_graph_method, text, &method);
  *builder = (const sr__graph_builder *)method; /* `about` is its first field */
  return status;
}

sr_status sr_graph_build(sr_context *ctx, const sr_table *table, const char *text, uint64_t seed,
                         sr_graph **graph) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  sr__configuration chosen = {0};
  sr_table *columns = NULL;
  *graph = NULL;
  SR_TRY(sr__series_columns(ctx, table, 0, &columns));
  const sr_table_view *view = sr_table_get(columns ? columns : table);
  if (!text) text = sr__graph_default(view);
  SR_TRY(sr__configure(ctx, "graph", sr_graph_method, text, &chosen));
  const sr__graph_builder *builder = (const sr__graph_builder *)chosen.method;
  SR_TRY(builder->build(ctx, view, chosen.options, seed, graph));
  (*graph)->view.builder = builder->about.name;
  (*graph)->view.relation = builder->relation;
cleanup:
  if (status != SR_OK) sr_graph_free(graph);
  sr__configuration_free(&allocator, &chosen);
  sr_table_free(&columns);
  return status;
}
