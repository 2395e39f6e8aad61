/* Pages: headings, text, tables and plots, written as one self-contained HTML file or as Markdown.
 */
#ifndef SPECROUTE_REPORT_H
#define SPECROUTE_REPORT_H

#include <specroute/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A document under construction. What is added appears in the order in which it was added. All text
 * is plain: it is escaped, never read as markup. Strings and arrays are copied. */
typedef struct sr_page sr_page;

typedef enum sr_page_format {
  SR_PAGE_HTML,    /* one file: inline style, inline SVG, no network, light and dark, printable */
  SR_PAGE_MARKDOWN /* tables and text; plots leave their title only */
} sr_page_format;

/* .md and .markdown are Markdown, everything else is HTML. */
SR_API sr_page_format sr_page_format_of(const char *path);

typedef struct sr_page_options {
  sr_page_format format;
  const char *title;
  const char *footer; /* how the page was made: command, version, date; NULL: none */
} sr_page_options;

/* An empty page. Free with sr_page_free. Errors: SR_ERROR_MEMORY. Every call that adds to a page
 * may also give SR_ERROR_ARGUMENT for a form that has no meaning; it then adds nothing. */
SR_API void sr_page_options_init(sr_page_options *options);
SR_API SR_MUST_CHECK sr_status sr_page_new(sr_context *ctx, const sr_page_options *options,
                                           sr_page **page);
SR_API void sr_page_free(sr_page **page);

/* `level` 1 to 4; the page's title is a level of its own above them. Errors: SR_ERROR_ARGUMENT
 * (level), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_page_heading(sr_context *ctx, sr_page *page, int level,
                                               const char *text);
SR_API SR_MUST_CHECK sr_status sr_page_paragraph(sr_context *ctx, sr_page *page, const char *text);

/* How well a measured value agrees with what it is held against; gives a cell or a note its color
 * and, for readers without color, a mark. */
typedef enum sr_agreement {
  SR_AGREEMENT_NONE,
  SR_AGREEMENT_GOOD,
  SR_AGREEMENT_PARTLY,
  SR_AGREEMENT_BAD,
  SR_AGREEMENT_UNTESTED
} sr_agreement;

/* A boxed sentence, such as a verdict or a warning, with the mark of an agreement; one that the
 * page holds already is not said twice. Errors: SR_ERROR_ARGUMENT, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_page_note(sr_context *ctx, sr_page *page, sr_agreement agreement,
                                            const char *text);

typedef struct sr_page_cell {
  const char *text; /* NULL: empty */
  sr_agreement agreement;
} sr_page_cell;

typedef struct sr_page_table {
  const char *caption; /* may be NULL */
  int32_t columns;
  const char *const *header; /* `columns` names */
  const char *alignment;     /* a letter l, c or r for each column; NULL: "lrrr..." */
  int64_t rows;
  const sr_page_cell *cells; /* rows x columns, row-major */
} sr_page_table;

/* Errors: SR_ERROR_ARGUMENT (no columns, or an alignment of another length), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_page_add_table(sr_context *ctx, sr_page *page,
                                                 const sr_page_table *table);

/* ---- plots -------------------------------------------------------------------------------- */

typedef enum sr_plot_kind {
  SR_PLOT_LINE,   /* points joined by lines, intervals as a band; long series are thinned, keeping
                     every extreme */
  SR_PLOT_DASHED, /* a line for theory and references */
  SR_PLOT_POINTS,
  SR_PLOT_LINE_POINTS,
  SR_PLOT_BARS,    /* one bar at each x; with names one row per name, the value behind the bar */
  SR_PLOT_HEAT_MAP /* color `value` at (x, y); many points are averaged into cells */
} sr_plot_kind;

typedef struct sr_plot_series {
  const char *label; /* in the legend; NULL: none */
  sr_plot_kind kind;
  int64_t count;
  const double *x, *y;      /* pairs with a number that is not finite are left out */
  const double *low, *high; /* an interval at each point, or both NULL */
  const double *value;      /* heat map only */
} sr_plot_series;

typedef struct sr_plot {
  const char *title;
  const char *x_label, *y_label; /* may be NULL */
  int log_x, log_y;
  int32_t series_count;
  const sr_plot_series *series;
  const char *const *x_names; /* bars: names of x = 0, 1, ..., x_name_count - 1; or NULL */
  int32_t x_name_count;
  const char *const *value_names; /* heat map of classes: names of value = 0, 1, ...; or NULL */
  int32_t value_name_count;
} sr_plot;

/* Drawn as SVG: points and bars say their numbers where a pointer rests on them, and the picture
 * says in words what it shows. A plot without a point that can be shown leaves a note. Errors:
 * SR_ERROR_ARGUMENT (a heat map without values), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_page_add_plot(sr_context *ctx, sr_page *page,
                                                const sr_plot *plot);
/* A critical-difference diagram under a title: average ranks of `count` methods, told by their
 * names, on a line (1 is best); bars join methods that differ by less than `critical_difference`.
 * Errors: SR_ERROR_ARGUMENT (fewer than two methods), SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_page_add_ranks(sr_context *ctx, sr_page *page, const char *title,
                                                 int32_t count, const char *const *names,
                                                 const double *ranks, double critical_difference);

/* Plots that were drawn. */
SR_API int32_t sr_page_plot_count(const sr_page *page);

/* Writes the finished document; the page may grow and be written again. "-" is standard output.
 * Errors: SR_ERROR_OUTPUT, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_page_write(sr_context *ctx, const sr_page *page,
                                             const char *path);
/* The same as one text that ends with a zero; freed with sr_bytes_free. Errors: SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_page_to_text(sr_context *ctx, const sr_page *page, char **text);

#ifdef __cplusplus
}
#endif
#endif
