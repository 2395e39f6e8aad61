/* The structure from inside. Internal. */
#ifndef SR_STRUCTURE_STRUCTURE_H
#define SR_STRUCTURE_STRUCTURE_H

#include <specroute/structure.h>
#include <stdatomic.h>

#include "core/core.h"
#include "map.h"

struct sr_structure {
  sr_structure_view view;
  sr_allocator allocator;
  sr_graph *graph; /* NULL for one series */
  sr_dependence *dependence;
  sr_parts *parts;     /* the units of honest error and routed plans */
  sr_parts *hierarchy; /* finest cut of the graph; NULL for one series and for groups */
  int32_t *group;      /* of each row; NULL: one group */
  int32_t groups;
  int64_t *source_row, source_rows; /* of the table: where rows stand in their file; NULL: here */
  int32_t *rank; /* rows whose order means nothing: the random order that cuts follow; else NULL */
  sr__map *map;  /* rows with places; else NULL */
  double scale, scale_careful; /* T and its careful form as plans and folds use them: never NaN */
  char *graph_text, *tmix_method;
  char *recommend;    /* owns view.recommend where it was loaded; else NULL */
  atomic_int sharers; /* who holds it beside the first */
};

/* The same structure for one more owner; each frees it with sr_structure_free. */
sr_structure *sr__structure_share(const sr_structure *structure);

/* The rows are one series in order: every cut is a range of rows and needs no graph. */
static inline bool sr__structure_is_series(const sr_structure *structure) {
  return !structure->graph && !structure->group && !structure->rank;
}
/* Whether cuts of any size can be had: not where the parts are groups of a graph that was never
 * cut. */
static inline bool sr__structure_has_cuts(const sr_structure *structure) {
  return sr__structure_is_series(structure) || structure->hierarchy || structure->rank;
}
/* The window graph of rows that are one series, which the structure itself does not need. */
SR_MUST_CHECK sr_status sr__structure_window(sr_context *ctx, const sr_structure *structure,
                                             sr_graph **graph);
/* Settles `scale` by the view: where T cannot be told, the longest spans that leave enough parts.
 */
void sr__structure_settle_scale(sr_structure *structure);
/* How many parts a table gets where none are named: about 4 T rows each, 20 to 1000 of them. */
int32_t sr__default_part_count(int64_t rows, double tmix);
/* Cuts the parts that options or groups ask for (0: by default), and keeps their hierarchy. */
SR_MUST_CHECK sr_status sr__structure_make_parts(sr_context *ctx, sr_structure *structure,
                                                 int64_t count);

/* Options that several tasks share; AT(kind, key, field, ...) makes one of a task's struct, whose
 * structure options lie at `where` ("structure." or nothing). */
#define SR__STRUCTURE_OPTIONS(AT, where)                                                     \
  AT(TEXT, "graph", where graph, "", "dependency graph; by default as the table is"),        \
      AT(REAL, "tmix", where tmix, "0", 0, 1e12, "rows until a row is new; 0 estimates it"), \
      AT(INTEGER, "parts", where parts, "0", 0, 1e9,                                         \
         "number of parts; 0 is the groups, or about four T rows each"),                     \
      AT(REAL, "tmix_level", where level, "0.9", 0.01, 0.999, "probability of the interval of T")

#endif
