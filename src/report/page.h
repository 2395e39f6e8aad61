/* The page object and what the renderers share. Internal. */
#ifndef SR_REPORT_PAGE_H
#define SR_REPORT_PAGE_H

#include <specroute/report.h>

#include "core/text.h"

/* With & < > " ' replaced, so that it is text in HTML and in attributes. */
SR_MUST_CHECK sr_status sr__html_escape(sr_context *ctx, sr__text *text, const char *string);

/* What a format must know. `plot_svg` is NULL where the plot could not be drawn. */
typedef struct sr__renderer {
  sr_status (*begin)(sr_context *ctx, sr__text *out, const char *title);
  sr_status (*end)(sr_context *ctx, sr__text *out);
  sr_status (*heading)(sr_context *ctx, sr__text *out, int level, const char *text);
  sr_status (*paragraph)(sr_context *ctx, sr__text *out, const char *text);
  sr_status (*note)(sr_context *ctx, sr__text *out, sr_agreement agreement, const char *text);
  sr_status (*table)(sr_context *ctx, sr__text *out, const sr_page_table *table);
  sr_status (*plot)(sr_context *ctx, sr__text *out, const char *title, const char *plot_svg);
  bool draws;
} sr__renderer;

extern const sr__renderer sr__render_html, sr__render_markdown;

struct sr_page {
  sr_allocator allocator;
  const sr__renderer *renderer;
  char *title, *gnuplot;
  sr__text body;
  int32_t plots, missing_plots;
};

/* A word for each agreement ("", "agrees", "partly", "differs", "not tested"), for classes and
 * marks. */
const char *sr__agreement_class(sr_agreement agreement);
const char *sr__agreement_mark(sr_agreement agreement);
char sr__table_alignment(const sr_page_table *table, int32_t column);

/* Runs `program` on `script` and gives what it wrote. SR_ERROR_NOT_FOUND where it cannot be
 * started, SR_ERROR_IO where it fails, takes too long or writes too much. */
SR_MUST_CHECK sr_status sr__run_gnuplot(sr_context *ctx, const char *program,
                                        const sr__text *script, sr__text *output);
/* The gnuplot script of a plot. */
SR_MUST_CHECK sr_status sr__plot_script(sr_context *ctx, const sr_plot *plot, sr__text *script);
/* Makes gnuplot's SVG fit for a page with several: checked (no script, no link out), names made
 * unique by `index`, prolog and tool tips gone. SR_ERROR_FORMAT where the check fails. */
SR_MUST_CHECK sr_status sr__adopt_svg(sr_context *ctx, const sr__text *svg, int32_t index,
                                      sr__text *out);

#endif
