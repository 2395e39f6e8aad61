/* The graph of an edge list in a file. */
#include <math.h>

#include "data/parse_number.h"
#include "data/table.h"
#include "read_edges.h"

/* Edges as they are read, the lower node first. */
typedef struct edge_list {
  int64_t nodes;
  int64_t count, capacity;
  int32_t *low, *high;
  float *weight; /* grows only where the file has weights */
  int64_t weight_capacity, high_capacity;
  int weighted; /* -1 until the first edge tells */
  int64_t loops, merged;
} edge_list;

/* ---- lines -------------------------------------------------------------------------------- */

/* Where in the file we are, for messages. */
typedef struct edge_line {
  const char *file;
  int64_t number;
  const char *text;
  const char *at;
} edge_line;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void skip_blanks(edge_line *line) {
  while (is_blank(*line->at)) line->at++;
}

/* Blanks, or one comma with blanks around it. */
static void skip_separator(edge_line *line) {
  skip_blanks(line);
  if (*line->at == ',') line->at++;
  skip_blanks(line);
}

static sr_status fail_here(sr_context *ctx, const edge_line *line, const char *expected) {
  char shown[24];
  size_t length = 0;
  while (length + 1 < sizeof shown && (unsigned char)line->at[length] > ' ') length++;
  for (size_t i = 0; i < length; i++)
    shown[i] = (unsigned char)line->at[i] < 127 ? line->at[i] : '?';
  shown[length] = '\0';
  return sr__fail_at(ctx, SR_ERROR_FORMAT, line->file, line->number, line->at - line->text + 1,
                     "expected %s, found %s%s%s", expected, length ? "\"" : "",
                     length ? shown : "the end of the line", length ? "\"" : "");
}

static sr_status read_node(sr_context *ctx, edge_line *line, int64_t nodes, int32_t *node) {
  const char *first = line->at;
  int64_t value = 0;
  for (; *line->at >= '0' && *line->at <= '9' && value <= INT32_MAX; line->at++)
    value = value * 10 + (*line->at - '0');
  bool whole = line->at > first && (*line->at == '\0' || *line->at == ',' || is_blank(*line->at));
  if (whole && value < nodes) {
    *node = (int32_t)value;
    return SR_OK;
  }
  line->at = first;
  if (!whole) return fail_here(ctx, line, "a node number");
  return sr__fail_at(ctx, SR_ERROR_FORMAT, line->file, line->number, first - line->text + 1,
                     "node %lld is not one of the table's %lld rows; nodes count from 0",
                     (long long)value, (long long)nodes);
}

static sr_status read_weight(sr_context *ctx, edge_line *line, float *weight) {
  const char *after = sr__parse_float(line->at, weight);
  if (!after || (*after != '\0' && !is_blank(*after)) || !(*weight > 0.0f) || !isfinite(*weight))
    return fail_here(ctx, line, "a finite weight above 0");
  line->at = after;
  return SR_OK;
}

/* ---- edges -------------------------------------------------------------------------------- */

static sr_status add_edge(sr_context *ctx, edge_list *edges, int32_t a, int32_t b, float weight) {
  sr_status status = SR_OK;
  if (a == b) {
    edges->loops++;
    return SR_OK;
  }
  SR_GROW(ctx, edges->low, edges->capacity, edges->count + 1);
  SR_GROW(ctx, edges->high, edges->high_capacity, edges->count + 1);
  edges->low[edges->count] = a < b ? a : b;
  edges->high[edges->count] = a < b ? b : a;
  if (edges->weighted) {
    SR_GROW(ctx, edges->weight, edges->weight_capacity, edges->count + 1);
    edges->weight[edges->count] = weight;
  }
  edges->count++;
cleanup:
  return status;
}

static sr_status read_line(sr_context *ctx, edge_line *line, edge_list *edges) {
  sr_status status = SR_OK;
  int32_t a = 0, b = 0;
  float weight = 1.0f;
  skip_blanks(line);
  if (*line->at == '\0' || *line->at == '#' || *line->at == '%') return SR_OK;
  SR_TRY(read_node(ctx, line, edges->nodes, &a));
  skip_separator(line);
  SR_TRY(read_node(ctx, line, edges->nodes, &b));
  skip_separator(line);
  bool weighted = *line->at != '\0';
  if (edges->weighted < 0) edges->weighted = weighted;
  if (weighted && !edges->weighted)
    SR_TRY(fail_here(ctx, line, "no weight, as on the lines before"));
  if (!weighted && edges->weighted)
    SR_TRY(fail_here(ctx, line, "a weight, as on the lines before"));
  if (weighted) SR_TRY(read_weight(ctx, line, &weight));
  skip_blanks(line);
  if (*line->at != '\0') SR_TRY(fail_here(ctx, line, "the end of the line"));
  SR_TRY(add_edge(ctx, edges, a, b, weight));
cleanup:
  return status;
}

static sr_status read_lines(sr_context *ctx, sr__source *source, edge_list *edges) {
  sr_status status = SR_OK;
  sr__lines lines = {.source = source};
  for (;;) {
    char *text = NULL;
    size_t length = 0;
    SR_TRY(sr__lines_next(ctx, &lines, &text, &length));
    if (!text) break;
    edge_line line = {sr__source_name(source), lines.number, text, text};
    if (strlen(text) != length) {
      line.at += strlen(text);
      SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, line.file, line.number, line.at - text + 1,
                         "expected text, found a zero byte"));
    }
    SR_TRY(read_line(ctx, &line, edges));
    if (lines.number % 65536 == 0) SR_TRY(sr__check_interrupt(ctx));
  }
cleanup:
  sr__lines_free(ctx, &lines);
  return status;
}

/* ---- the graph ---------------------------------------------------------------------------- */

/* Edges by their lower node, then by their higher one, each once. */
typedef struct upper_rows {
  int64_t *end; /* a node; a row begins where the one before ends */
  int32_t *high;
  float *weight;
} upper_rows;

static sr_status sort_edges(sr_context *ctx, const edge_list *edges, upper_rows *rows) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, rows->end, edges->nodes + 1);
  SR_NEW(ctx, rows->high, edges->count);
  if (edges->weight) SR_NEW(ctx, rows->weight, edges->count);
  for (int64_t e = 0; e < edges->count; e++) rows->end[edges->low[e] + 1]++;
  for (int64_t i = 0; i < edges->nodes; i++) rows->end[i + 1] += rows->end[i];
  for (int64_t e = 0; e < edges->count; e++) {
    int64_t place = rows->end[edges->low[e]]++;
    rows->high[place] = edges->high[e];
    if (rows->weight) rows->weight[place] = edges->weight[e];
  }
  for (int64_t i = 0; i < edges->nodes; i++) {
    int64_t begin = i ? rows->end[i - 1] : 0;
    sr__graph_sort_row(rows->high + begin, rows->weight ? rows->weight + begin : NULL,
                       rows->end[i] - begin);
  }
cleanup:
  return status;
}

/* Makes one edge of equal neighbors in a row; its weight is their mean. */
static void merge_repeats(edge_list *edges, upper_rows *rows) {
  int64_t next = 0, begin = 0;
  for (int64_t i = 0; i < edges->nodes; i++) {
    int64_t end = rows->end[i];
    for (int64_t e = begin; e < end;) {
      int32_t high = rows->high[e];
      int64_t first = e;
      double sum = 0.0;
      for (; e < end && rows->high[e] == high; e++) sum += rows->weight ? rows->weight[e] : 0.0;
      rows->high[next] = high;
      if (rows->weight) rows->weight[next] = (float)(sum / (double)(e - first));
      edges->merged += e - first - 1;
      next++;
    }
    begin = end;
    rows->end[i] = next;
  }
}

/* Lower neighbors come in increasing order as the rows go by, before a node's own row. */
static sr_status mirror_edges(sr_context *ctx, const edge_list *edges, const upper_rows *rows,
                              sr_graph **graph) {
  sr_status status = SR_OK;
  sr_graph *made = NULL;
  int64_t *next = NULL;
  SR_TRY(sr__graph_begin(ctx, edges->nodes, "edges", &made));
  SR_NEW(ctx, next, edges->nodes);
  for (int64_t i = 0, begin = 0; i < edges->nodes; begin = rows->end[i++])
    made->offset[i + 1] = rows->end[i] - begin;
  for (int64_t e = 0; e < (edges->nodes ? rows->end[edges->nodes - 1] : 0); e++)
    made->offset[rows->high[e] + 1]++;
  SR_TRY(sr__graph_sum_degrees(ctx, made, rows->weight != NULL));
  memcpy(next, made->offset, (size_t)edges->nodes * sizeof *next);
  for (int64_t i = 0, e = 0; i < edges->nodes; i++) {
    for (; e < rows->end[i]; e++) {
      int32_t high = rows->high[e];
      int64_t lower = next[high]++, upper = next[i]++;
      made->neighbor[lower] = (int32_t)i;
      made->neighbor[upper] = high;
      if (made->weight) made->weight[lower] = made->weight[upper] = rows->weight[e];
    }
  }
  sr__graph_finish(made);
  *graph = made;
  made = NULL;
cleanup:
  sr__free(ctx, next);
  sr_graph_free(&made);
  return status;
}

static void report(sr_context *ctx, const edge_list *edges, const char *name) {
  if (edges->loops > 0)
    sr__log(ctx, SR_LOG_WARNING, "%s: %lld loops (an edge from a node to itself) were dropped",
            name, (long long)edges->loops);
  if (edges->merged > 0)
    sr__log(ctx, SR_LOG_INFO, "%s: %lld edges were given more than once and merged", name,
            (long long)edges->merged);
}

sr_status sr__read_edges(sr_context *ctx, sr__source *source, int64_t nodes, sr_graph **graph) {
  sr_status status = SR_OK;
  edge_list edges = {.nodes = nodes, .weighted = -1};
  upper_rows rows = {0};
  *graph = NULL;
  SR_TRY(read_lines(ctx, source, &edges));
  SR_TRY(sort_edges(ctx, &edges, &rows));
  merge_repeats(&edges, &rows);
  SR_TRY(mirror_edges(ctx, &edges, &rows, graph));
  report(ctx, &edges, sr__source_name(source));
cleanup:
  sr__free(ctx, edges.low);
  sr__free(ctx, edges.high);
  sr__free(ctx, edges.weight);
  sr__free(ctx, rows.end);
  sr__free(ctx, rows.high);
  sr__free(ctx, rows.weight);
  return status;
}

typedef struct edges_options {
  const char *file;
} edges_options;

/* The file counts rows as the table's file does: where rows were sorted or left out, its graph is
 * that of those that stayed. */
static sr_status build_edges(sr_context *ctx, const sr_table_view *table, const void *options,
                             uint64_t seed, sr_graph **graph) {
  (void)seed;
  sr_status status = SR_OK;
  sr__source *source = NULL;
  sr_graph *of_file = NULL;
  int32_t *nodes = NULL;
  const edges_options *o = options;
  SR_TRY(sr__source_open(ctx, o->file, &source));
  SR_TRY(sr__read_edges(ctx, source, sr__file_rows(table), &of_file));
  if (!table->source_row) {
    *graph = of_file;
    of_file = NULL;
    goto cleanup;
  }
  SR_NEW(ctx, nodes, table->rows);
  for (int64_t i = 0; i < table->rows; i++) nodes[i] = (int32_t)table->source_row[i];
  SR_TRY(sr__graph_extract(ctx, of_file, nodes, table->rows, graph));
cleanup:
  sr__free(ctx, nodes);
  sr_graph_free(&of_file);
  sr__source_close(ctx, &source);
  return status;
}

static const sr_option options_of_edges[] = {SR_TEXT(edges_options, file, NULL,
                                                     "lines \"i j [weight]\", rows counted from 0"),
                                             SR_OPTIONS_END};

const sr__graph_builder sr__builder_edges = {.about = {"edges", "an edge list in a file",
                                                       options_of_edges, sizeof(edges_options),
                                                       NULL},
                                             .relation = SR_RELATION_GIVEN,
                                             .build = build_edges};
