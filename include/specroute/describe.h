/* Objects as text, JSON and pages: what the command prints and other languages show; and the list
 * of all methods. */
#ifndef SPECROUTE_DESCRIBE_H
#define SPECROUTE_DESCRIBE_H

#include <specroute/report.h>
#include <specroute/train.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sr_description {
  SR_DESCRIPTION_TEXT,    /* lines for a terminal */
  SR_DESCRIPTION_JSON,    /* one object, without a line end */
  SR_DESCRIPTION_HTML,    /* a page with pictures in one file */
  SR_DESCRIPTION_MARKDOWN /* the page without its pictures */
} sr_description;

/* A copy of `text` that is valid UTF-8, U+FFFD standing for other bytes; `controls` 0: also for
 * control characters but newline and tab, so that names of others cannot speak to a terminal. `out`
 * gets at most `size` bytes with the final zero; three times the text and one always do. */
SR_API void sr_text_clean(const char *text, int controls, char *out, size_t size);

/* Objects in words, in one `format`. Each gives a text that ends with a zero and is freed with
 * sr_bytes_free. Errors: SR_ERROR_MEMORY, SR_ERROR_ARGUMENT (no such format).
 *
 * sr_describe_dependence: how dependent the rows are, T by every estimator, warnings.
 * sr_describe_structure: the same with what follows from it: parts, their length, the plan to use.
 * sr_describe_ensemble: what it is, its plan and why, its error, classes and features.
 * sr_describe_comparison: plans and learners side by side, with their tests.
 * sr_describe_judgment: what anybody's predictions are worth.
 * sr_describe_tuning: what a search (`tuning`) tried and found. */
SR_API SR_MUST_CHECK sr_status sr_describe_dependence(sr_context *ctx,
                                                      const sr_dependence *dependence,
                                                      sr_description format, char **text);
SR_API SR_MUST_CHECK sr_status sr_describe_structure(sr_context *ctx, const sr_structure *structure,
                                                     sr_description format, char **text);
SR_API SR_MUST_CHECK sr_status sr_describe_ensemble(sr_context *ctx, const sr_ensemble *ensemble,
                                                    sr_description format, char **text);
SR_API SR_MUST_CHECK sr_status sr_describe_comparison(sr_context *ctx,
                                                      const sr_comparison *comparison,
                                                      sr_description format, char **text);
SR_API SR_MUST_CHECK sr_status sr_describe_judgment(sr_context *ctx, const sr_judgment *judgment,
                                                    sr_description format, char **text);
SR_API SR_MUST_CHECK sr_status sr_describe_tuning(sr_context *ctx, const sr_tuning *tuning,
                                                  sr_description format, char **text);

/* The same words, tables and pictures added to a page that says more. Errors: SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status
sr_page_add_dependence(sr_context *ctx, sr_page *page, const sr_dependence *dependence);
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_page_add_structure(sr_context *ctx, sr_page *page,
                                                                     const sr_structure *structure);
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_page_add_ensemble(sr_context *ctx, sr_page *page,
                                                                    const sr_ensemble *ensemble);
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status
sr_page_add_comparison(sr_context *ctx, sr_page *page, const sr_comparison *comparison);
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_page_add_judgment(sr_context *ctx, sr_page *page,
                                                                    const sr_judgment *judgment);
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_page_add_tuning(sr_context *ctx, sr_page *page,
                                                                  const sr_tuning *tuning);
/* How the shares of the vote move with a feature, as sr_partial_dependence tells it: a plot per
 * feature, at most `most` of them, the most important first. Nothing where importance was not asked
 * for. Errors: those of sr_partial_dependence. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status
sr_page_add_partial_dependence(sr_context *ctx, sr_page *page, const sr_ensemble *ensemble,
                               const sr_table *table, int32_t most);
/* Where errors lie: by group where the table has groups, on the map where its rows have places,
 * else in the order of the rows. `predictions` as sr_judge takes them. Errors:
 * SR_ERROR_ARGUMENT (neither of them, or no classes in the table), SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_page_add_errors(
    sr_context *ctx, sr_page *page, const sr_table *table, const sr_predictions *predictions);
/* The same of the held-out rows that an ensemble kept (keep_held_rows), with a map of the folds
 * where the rows have places; nothing where it kept none. `table` is the one that it was trained
 * on. Errors: SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_page_add_held_rows(sr_context *ctx, sr_page *page,
                                                                     const sr_table *table,
                                                                     const sr_ensemble *ensemble);
/* The Fiedler vector of a graph where the rows of the table lie; nothing where they have no place.
 * Errors: those of sr_spectrum_compute. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_page_add_map(sr_context *ctx, sr_page *page,
                                                               const sr_table *table,
                                                               const sr_graph *graph,
                                                               uint64_t seed);

/* The ground that a structure cut: maps of its parts, and of the fields and regions that were found
 * or named, and how the residuals of two rows are alike by their distance. `table` is the one that
 * it was estimated on, or trained on. Nothing where the rows have no place. Errors:
 * SR_ERROR_ARGUMENT (a structure of another table), SR_ERROR_MEMORY. */
SR_API SR_EXPERIMENTAL SR_MUST_CHECK sr_status sr_page_add_ground(sr_context *ctx, sr_page *page,
                                                                  const sr_table *table,
                                                                  const sr_structure *structure);

/* ---- methods ------------------------------------------------------------------------------ */

/* A registry of methods. */
typedef struct sr_method_kind {
  const char *name, *plural; /* "graph", "graphs" */
  const char *help;          /* what its methods are */
  sr_method_at at;
} sr_method_kind;
/* Every registry of the library in a fixed order; NULL past the end. */
SR_API const sr_method_kind *sr_method_kind_at(int index);

/* The methods of `count` kinds with their options: text and Markdown are for people, JSON is
 * {"methods": [{"kind", "name", "help", "missing", "options": [{"name", "type", "default", "help",
 * ...}]}]}. The text ends with a zero and is freed with sr_bytes_free. Errors: SR_ERROR_MEMORY,
 * SR_ERROR_ARGUMENT (no such format). */
SR_API SR_MUST_CHECK sr_status sr_describe_methods(sr_context *ctx, int count,
                                                   const sr_method_kind *const *kinds,
                                                   sr_description format, char **text);

#ifdef __cplusplus
}
#endif
#endif
