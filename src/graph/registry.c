/* The builders by name, and the text form of their options. */
#include <stdlib.h>

#include "graph.h"

static const sr__graph_builder *const builders[] = {
    &sr__builder_time, &sr__builder_space, &sr__builder_features,
    &sr__builder_grid, &sr__builder_edges, &sr__builder_transition,
};
enum { BUILDER_COUNT = sizeof builders / sizeof *builders };

const sr_method_info *sr_graph_builder(int index) {
  return index >= 0 && index < BUILDER_COUNT ? &builders[index]->info : NULL;
}

static const sr__graph_builder *find_builder(const char *name, size_t length) {
  for (int b = 0; b < BUILDER_COUNT; b++) {
    const char *known = builders[b]->info.name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return builders[b];
  }
  return NULL;
}

static sr_status unknown_builder(sr_context *ctx, const char *name) {
  char known[256] = "";
  for (int b = 0; b < BUILDER_COUNT; b++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", b ? ", " : "", builders[b]->info.name);
  }
  return sr__fail(ctx, SR_ERROR_NOT_FOUND, "there is no graph \"%s\"; use one of %s", name, known);
}

void sr_graph_options_init(sr_graph_options *options) {
  *options = (sr_graph_options){.builder = "time", .seed = 1};
}

/* The number after "name:"; each builder checks its own range. */
static sr_status parse_number(sr_context *ctx, const char *text, const char *digits,
                              int32_t *value) {
  char *end = NULL;
  long parsed = strtol(digits, &end, 10);
  if (*digits < '0' || *digits > '9' || *end != '\0' || parsed < 1 || parsed > INT32_MAX)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "graph \"%s\": \"%s\" is not a whole number above 0",
                    text, digits);
  *value = (int32_t)parsed;
  return SR_OK;
}

sr_status sr_graph_options_parse(sr_context *ctx, const char *text, sr_graph_options *options) {
  size_t length = strcspn(text, ":");
  const sr__graph_builder *builder = find_builder(text, length);
  if (!builder) return unknown_builder(ctx, text);
  const char *argument = text[length] == ':' ? text + length + 1 : NULL;
  options->builder = builder->info.name;
  bool edges = strcmp(builder->info.name, "edges") == 0;
  if (edges) {
    if (!argument || !*argument)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "graph \"%s\" needs a file: edges:FILE", text);
    options->edges_path = argument;
    return SR_OK;
  }
  if (!argument) return SR_OK;
  bool time = strcmp(builder->info.name, "time") == 0;
  return parse_number(ctx, text, argument, time ? &options->tau : &options->k);
}

sr_status sr_graph_build(sr_context *ctx, const sr_table *table, const sr_graph_options *options,
                         sr_graph **graph) {
  *graph = NULL;
  const char *name = options->builder ? options->builder : "";
  const sr__graph_builder *builder = find_builder(name, strlen(name));
  if (!builder) return unknown_builder(ctx, name);
  if (options->weights != SR_WEIGHTS_NONE && builder->metric == SR__METRIC_NONE)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "the %s graph has weights of its own; leave RBF weights out", name);
  sr_status status = builder->build(ctx, sr_table_get(table), options, graph);
  if (status == SR_OK && options->weights == SR_WEIGHTS_RBF) {
    status = sr__graph_weigh(ctx, sr_table_get(table), builder->metric, *graph);
    if (status != SR_OK) sr_graph_free(graph);
  }
  return status;
}
