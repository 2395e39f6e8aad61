/* specroute parts: the dependency graph of a table, its Fiedler pair, and its parts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "generated.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "FILE", NULL, "table", 0, 0,
     "where to write the part of each row (columns part and where the row lies, in the order of "
     "the "
     "rows)"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static const cli_method_flag methods[] = {{"graph", "graph", sr_graph_method, false, false},
                                          {"solver", "solver", sr_solver_method, false, false},
                                          {NULL, NULL, NULL, false, false}};

typedef struct parts_run {
  sr_parts_options options;
  sr_spectrum_options spectrum_options;
  sr_table *table;
  sr_graph *graph;
  sr_spectrum *spectrum; /* NULL where the graph has none: no edges */
  sr_parts *parts;
  bool not_converged;
  double seconds_graph, seconds_spectrum, seconds_bisection;
} parts_run;

static sr_status build_graph(cli_run *run, parts_run *p) {
  double start = sr_seconds();
  sr_status status =
      sr_graph_build(run->ctx, p->table, cli_method_text(run, "graph"), run->seed, &p->graph);
  p->seconds_graph = sr_seconds() - start;
  return status;
}

/* A graph without edges has no Fiedler pair, and parts all the same. */
static sr_status solve_spectrum(cli_run *run, parts_run *p) {
  if (sr_graph_get(p->graph)->arcs == 0) return SR_OK;
  double start = sr_seconds();
  sr_status status =
      sr_spectrum_compute(run->ctx, p->graph, &p->spectrum_options, run->seed, &p->spectrum);
  p->seconds_spectrum = sr_seconds() - start;
  if (status != SR_ERROR_NOT_CONVERGED) return status;
  p->not_converged = true;
  return SR_OK;
}

static sr_status cut_parts(cli_run *run, parts_run *p) {
  double start = sr_seconds();
  sr_status status = sr_parts_compute(run->ctx, p->graph, &p->options, &p->parts);
  p->seconds_bisection = sr_seconds() - start;
  return status;
}

/* The rows in the order of their file. */
static sr_status in_file_order(cli_run *run, const sr_table_view *rows, sr_table **table) {
  sr_table *ordered = NULL;
  if (!rows->source_row) return SR_OK;
  int64_t *row = malloc((size_t)rows->rows * sizeof *row);
  if (!row) return SR_ERROR_MEMORY;
  for (int64_t i = 0; i < rows->rows; i++) row[rows->source_row[i]] = i;
  sr_status status = sr_table_select(run->ctx, *table, row, rows->rows, &ordered);
  free(row);
  if (status != SR_OK) return status;
  sr_table_free(table);
  *table = ordered;
  return SR_OK;
}

/* All that were asked for; empty where the graph has no edges. */
static json_t *eigenvalues(const sr_spectrum_view *spectrum) {
  json_t *values = json_array();
  for (int32_t p = 0; spectrum && p < spectrum->pairs; p++)
    json_array_append_new(values, cli_json_real(spectrum->value[p]));
  return values;
}

/* A table of one column, so that every format of tables can hold the parts; where the rows lie is
 * written beside them. */
static sr_status write_parts(cli_run *run, const sr_table_view *rows, const sr_parts_view *view,
                             const char *path) {
  static const char *const name[] = {"part"};
  float *part = malloc((size_t)view->nodes * sizeof *part);
  if (!part) return SR_ERROR_MEMORY;
  for (int64_t i = 0; i < view->nodes; i++) part[i] = (float)view->part[i];
  sr_table *table = NULL;
  sr_table_view columns = {.rows = view->nodes,
                           .features = 1,
                           .x = part,
                           .feature_names = name,
                           .coordinates = rows->coordinates,
                           .coordinate_count = rows->coordinate_count,
                           .cell = rows->cell,
                           .grid_rows = rows->grid_rows,
                           .grid_columns = rows->grid_columns,
                           .projection = rows->projection};
  sr_status status = sr_table_new(run->ctx, &columns, &table);
  if (status == SR_OK) status = in_file_order(run, rows, &table);
  if (status == SR_OK) status = sr_table_write(run->ctx, table, path);
  sr_table_free(&table);
  free(part);
  return status;
}

static void say_parts(const cli_run *run, const parts_run *p) {
  const sr_graph_view *graph = sr_graph_get(p->graph);
  const sr_parts_view *view = sr_parts_get(p->parts);
  cli_say(run, "%s: %lld rows, %lld edges (%s), %lld component%s\n", run->arguments[0],
          (long long)graph->nodes, (long long)(graph->arcs / 2), graph->builder,
          (long long)view->components, view->components == 1 ? "" : "s");
  if (p->spectrum) {
    const sr_spectrum_view *spectrum = sr_spectrum_get(p->spectrum);
    cli_say(run, "  lambda_2    %.6g (%s, residual %.1e)%s%s\n", spectrum->value[0],
            spectrum->solver, spectrum->residual,
            view->components > 1 ? ", of the largest component" : "",
            p->not_converged ? ", not converged" : "");
    for (int32_t k = 1; k < spectrum->pairs; k++)
      cli_say(run, "  lambda_%-4d %.6g\n", k + 2, spectrum->value[k]);
  }
  cli_say(run, "  parts       %d (%s), the largest %.4g times its fair share\n", view->parts,
          view->method, view->balance);
  cli_say(run, "  cut         %lld edges, %.3g %% of all\n", (long long)view->cut_edges,
          graph->arcs ? 200.0 * (double)view->cut_edges / (double)graph->arcs : 0.0);
  cli_say(run, "  seconds     graph %.3g, spectrum %.3g, bisection %.3g\n", p->seconds_graph,
          p->seconds_spectrum, p->seconds_bisection);
}

static json_t *parts_json(const parts_run *p) {
  const sr_graph_view *graph = sr_graph_get(p->graph);
  const sr_spectrum_view *spectrum = p->spectrum ? sr_spectrum_get(p->spectrum) : NULL;
  const sr_parts_view *view = sr_parts_get(p->parts);
  json_t *seconds = json_pack("{s:o,s:o,s:o}", "graph", cli_json_real(p->seconds_graph), "spectrum",
                              cli_json_real(p->seconds_spectrum), "bisection",
                              cli_json_real(p->seconds_bisection));
  return json_pack("{s:I,s:I,s:I,s:s,s:o,s:o,s:o,s:s,s:b,s:i,s:s,s:I,s:o,s:o,s:o}", "n",
                   (json_int_t)graph->nodes, "edges", (json_int_t)(graph->arcs / 2), "components",
                   (json_int_t)view->components, "graph", graph->builder, "lambda2",
                   cli_json_real(spectrum ? spectrum->value[0] : NAN), "eigenvalues",
                   eigenvalues(spectrum), "residual",
                   cli_json_real(spectrum ? spectrum->residual : NAN), "solver",
                   spectrum ? spectrum->solver : "none", "converged", !p->not_converged, "parts",
                   view->parts, "method", view->method, "cut_edges", (json_int_t)view->cut_edges,
                   "cut_weight", cli_json_real(view->cut_weight), "balance",
                   cli_json_real(view->balance), "seconds", seconds);
}

static int finish(cli_run *run, const parts_run *p) {
  const char *path = cli_text(run, "output");
  if (path) {
    sr_status status = write_parts(run, sr_table_get(p->table), sr_parts_get(p->parts), path);
    if (status != SR_OK) return cli_fail(run, status);
  }
  bool to_stdout = path && strcmp(path, "-") == 0;
  if (!to_stdout) say_parts(run, p);
  int code = cli_finish(run, parts_json(p));
  return code == CLI_SUCCESS && p->not_converged ? CLI_NOT_CONVERGED : code;
}

static int run_parts(cli_run *run) {
  const char *path = cli_text(run, "output");
  if (run->json && path && strcmp(path, "-") == 0)
    return cli_complain(run, CLI_USAGE,
                        "--json and the parts cannot both go to standard output; give -o FILE");
  parts_run p = {.not_converged = false};
  sr_parts_options_init(&p.options);
  sr_spectrum_options_init(&p.spectrum_options);
  int code = cli_read_task(run, "parts", sr_parts_option_list(), &p.options);
  if (code == CLI_SUCCESS)
    code = cli_read_task(run, "spectrum", sr_spectrum_option_list(), &p.spectrum_options);
  if (code != CLI_SUCCESS) return code;
  sr_status status = cli_read_table(run, run->arguments[0], &p.table);
  if (status == SR_OK) status = build_graph(run, &p);
  if (status == SR_OK) status = solve_spectrum(run, &p);
  if (status == SR_OK) status = cut_parts(run, &p);
  code = status == SR_OK ? finish(run, &p) : cli_fail(run, status);
  sr_parts_free(&p.parts);
  sr_spectrum_free(&p.spectrum);
  sr_graph_free(&p.graph);
  sr_table_free(&p.table);
  return code;
}

const cli_command cli_parts = {
    .name = "parts",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "cut the rows into parts that depend little on each other",
    .description =
        "Builds the graph of which rows depend on each other, gives the second eigenvalue of its\n"
        "normalized Laplacian, and cuts it into exactly P non-empty parts by recursive Fiedler\n"
        "bisection. Whole components are kept together as far as the sizes allow. The result is "
        "the\n"
        "same at any number of threads.",
    .groups = {options, cli_column_options, cli_graph_options},
    .tasks = {sr_parts_option_list, sr_spectrum_option_list},
    .methods = methods,
    .example =
        "specroute parts fields.csv --coords lon,lat --graph space:8 --parts 50 -o parts.csv",
    .run = run_parts};
