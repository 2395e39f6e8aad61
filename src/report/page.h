/* The page object and what the renderers share. Internal. */
#ifndef SR_REPORT_PAGE_H
#define SR_REPORT_PAGE_H

#include <specroute/report.h>

#include "core/text.h"

/* With & < > " ' replaced, so that it is text in HTML and in attributes. */
SR_MUST_CHECK sr_status sr__html_escape(sr_context *ctx, sr__text *text, const char *string);

/* What a format must know. `plot_svg` is NULL where there was nothing to draw; `number` counts the
 * headings of a page, for links to them. */
typedef struct sr__renderer {
  sr_status (*begin)(sr_context *ctx, sr__text *out, const char *title);
  sr_status (*end)(sr_context *ctx, sr__text *out, const char *footer);
  sr_status (*heading)(sr_context *ctx, sr__text *out, int level, int32_t number, const char *text);
  sr_status (*contents_entry)(sr_context *ctx, sr__text *out, int32_t number, const char *text);
  sr_status (*contents)(sr_context *ctx, sr__text *out, const char *entries);
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
  char *title, *footer; /* footer: NULL for none */
  sr__text body;
  sr__text contents; /* links to the headings of level 1 */
  int32_t headings, chapters;
  int64_t first_chapter; /* where in the body: the contents stand before it */
  int32_t plots;
};

/* A word for each agreement ("", "agrees", "partly", "differs", "not tested"), for classes and
 * marks. */
const char *sr__agreement_class(sr_agreement agreement);
const char *sr__agreement_mark(sr_agreement agreement);
char sr__table_alignment(const sr_page_table *table, int32_t column);

#endif
