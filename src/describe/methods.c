/* Every registry of the library, and what its methods say of themselves. */
#include <specroute/replay.h>
#include <specroute/simulate.h>

#include "describe.h"

static const sr_method_kind kinds[] = {
    {"simulator", "simulators", "witnesses whose dependence and Bayes risk are known",
     sr_simulator_method},
    {"graph", "graphs", "which rows may depend on each other", sr_graph_method},
    {"solver", "solvers", "the Fiedler pair of a graph", sr_solver_method},
    {"plan", "plans", "which rows each member learns from", sr_train_plan_method},
    {"learner", "learners", "what a member is", sr_learner_method},
    {"game", "games", "what an agent plays", sr_game_method},
    {"sampler", "samplers", "which transitions an agent learns from", sr_sampler_method},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const sr_method_kind *sr_method_kind_at(int index) {
  return index >= 0 && index < KIND_COUNT ? &kinds[index] : NULL;
}

/* The kinds that are described. */
typedef struct kind_list {
  int count;
  const sr_method_kind *const *kind;
} kind_list;

static const char *type_name(sr_option_type type) {
  static const char *const names[] = {"integer", "real", "flag", "choice", "text"};
  return names[type];
}

/* ---- text --------------------------------------------------------------------------------- */

static void add_option_line(sr__description *lines, const sr_option *o) {
  sr__description_add(lines, "      %-16s %s", o->key, o->help);
  if (o->choices) sr__description_add(lines, " (%s)", o->choices);
  if (o->type == SR_OPTION_INTEGER || o->type == SR_OPTION_REAL)
    sr__description_add(lines, " (%g to %g)", o->low, o->high);
  if (!o->fallback)
    sr__description_add(lines, " (must be given)\n");
  else
    sr__description_add(lines, "%s%s%s\n", *o->fallback ? " [" : "", o->fallback,
                        *o->fallback ? "]" : "");
}

static void add_lines(sr__description *lines, const void *object) {
  const kind_list *list = object;
  for (int k = 0; k < list->count; k++) {
    const sr_method *m;
    sr__description_add(lines, "%s%s: %s\n", k ? "\n" : "", list->kind[k]->plural,
                        list->kind[k]->help);
    for (int i = 0; (m = list->kind[k]->at(i)); i++) {
      sr__description_add(lines, "  %-18s %s\n", m->name, m->help);
      if (m->missing) sr__description_add(lines, "      not in this build: needs %s\n", m->missing);
      for (const sr_option *o = m->options; o && o->key; o++) add_option_line(lines, o);
    }
  }
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *option_json(const sr_option *o) {
  json_t *value = json_pack("{s:s,s:s,s:s?,s:s}", "name", o->key, "type", type_name(o->type),
                            "default", o->fallback, "help", o->help);
  if (value && o->choices) {
    json_t *words = json_array();
    for (const char *c = o->choices; c;) {
      size_t width = strcspn(c, "|");
      json_array_append_new(words, json_stringn(c, width));
      c = c[width] ? c + width + 1 : NULL;
    }
    json_object_set_new(value, "choices", words);
  }
  if (value && (o->type == SR_OPTION_INTEGER || o->type == SR_OPTION_REAL)) {
    json_object_set_new(value, "low", sr__json_real(o->low));
    json_object_set_new(value, "high", sr__json_real(o->high));
  }
  return value;
}

static json_t *to_json(const void *object) {
  const kind_list *list = object;
  json_t *methods = json_array();
  for (int k = 0; k < list->count; k++) {
    const sr_method *m;
    for (int i = 0; (m = list->kind[k]->at(i)); i++) {
      json_t *options = json_array();
      for (const sr_option *o = m->options; o && o->key; o++)
        json_array_append_new(options, option_json(o));
      json_array_append_new(methods, json_pack("{s:s,s:s,s:s,s:o,s:s?}", "kind",
                                               list->kind[k]->name, "name", m->name, "help",
                                               m->help, "options", options, "missing", m->missing));
    }
  }
  return json_pack("{s:o}", "methods", methods);
}

/* ---- pages -------------------------------------------------------------------------------- */

static sr_status add_method(sr_context *ctx, sr_page *page, const sr_method *m) {
  static const char *const header[] = {"key", "value", "default", "meaning"};
  enum { COLUMNS = 4, MOST = 32, CELL = 96 };
  sr_status status = SR_OK;
  char value[MOST][CELL];
  sr_page_cell cells[MOST * COLUMNS] = {0};
  int rows = 0;
  SR_TRY(sr_page_heading(ctx, page, 3, m->name));
  SR_TRY(sr_page_paragraph(ctx, page, m->help));
  for (const sr_option *o = m->options; o && o->key && rows < MOST; o++, rows++) {
    if (o->choices)
      snprintf(value[rows], CELL, "%s", o->choices);
    else if (o->type == SR_OPTION_TEXT)
      snprintf(value[rows], CELL, "text");
    else
      snprintf(value[rows], CELL, "%s number, %g to %g",
               o->type == SR_OPTION_INTEGER ? "whole" : "real", o->low, o->high);
    sr_page_cell *row = cells + rows * COLUMNS;
    row[0].text = o->key;
    row[1].text = value[rows];
    row[2].text = o->fallback ? o->fallback : "must be given";
    row[3].text = o->help;
  }
  sr_page_table table = {
      .columns = COLUMNS, .header = header, .alignment = "llll", .rows = rows, .cells = cells};
  if (rows > 0) SR_TRY(sr_page_add_table(ctx, page, &table));
cleanup:
  return status;
}

static sr_status add_to_page(sr_context *ctx, sr_page *page, const void *object) {
  sr_status status = SR_OK;
  const kind_list *list = object;
  for (int k = 0; k < list->count; k++) {
    const sr_method *m;
    SR_TRY(sr_page_heading(ctx, page, 2, list->kind[k]->plural));
    SR_TRY(sr_page_paragraph(ctx, page, list->kind[k]->help));
    for (int i = 0; (m = list->kind[k]->at(i)); i++) SR_TRY(add_method(ctx, page, m));
  }
cleanup:
  return status;
}

sr_status sr_describe_methods(sr_context *ctx, int count, const sr_method_kind *const *kind,
                              sr_description format, char **text) {
  static const sr__describer describer = {"Methods and their options", add_lines, to_json,
                                          add_to_page};
  kind_list list = {count, kind};
  return sr__describe(ctx, &describer, &list, format, text);
}
