/* Pages: one growing body of text in the format that was asked for. */
#include "page.h"

#include "core/bytes.h"

#include <strings.h>

sr_page_format sr_page_format_of(const char *path) {
  const char *dot = strrchr(path, '.');
  if (dot && (!strcasecmp(dot, ".md") || !strcasecmp(dot, ".markdown"))) return SR_PAGE_MARKDOWN;
  return SR_PAGE_HTML;
}

void sr_page_options_init(sr_page_options *options) {
  *options = (sr_page_options){.format = SR_PAGE_HTML, .title = "specroute"};
}

sr_status sr_page_new(sr_context *ctx, const sr_page_options *options, sr_page **page) {
  sr_status status = SR_OK;
  sr_page *made = NULL;
  *page = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->renderer = options->format == SR_PAGE_MARKDOWN ? &sr__render_markdown : &sr__render_html;
  made->title = sr__strdup(ctx, options->title ? options->title : "specroute");
  made->gnuplot = sr__strdup(ctx, options->gnuplot ? options->gnuplot : "gnuplot");
  if (!made->title || !made->gnuplot) {
    status = SR_ERROR_MEMORY;
    goto cleanup;
  }
  *page = made;
  made = NULL;
cleanup:
  sr_page_free(&made);
  return status;
}

void sr_page_free(sr_page **page) {
  if (!page || !*page) return;
  sr_allocator allocator = (*page)->allocator;
  sr__release(&allocator, (*page)->title);
  sr__release(&allocator, (*page)->gnuplot);
  sr__release(&allocator, (*page)->body.bytes);
  sr__release(&allocator, *page);
  *page = NULL;
}

const char *sr__agreement_class(sr_agreement agreement) {
  static const char *const names[] = {"", "agrees", "partly", "differs", "untested"};
  return names[agreement];
}

const char *sr__agreement_mark(sr_agreement agreement) {
  static const char *const marks[] = {"", "\u2713", "\u2248", "\u2717", "\u2013"};
  return marks[agreement];
}

char sr__table_alignment(const sr_page_table *table, int32_t column) {
  if (table->alignment) return table->alignment[column];
  return column == 0 ? 'l' : 'r';
}

sr_status sr_page_heading(sr_context *ctx, sr_page *page, int level, const char *text) {
  if (level < 1 || level > 4)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "a heading's level is %d, expected 1 to 4", level);
  return page->renderer->heading(ctx, &page->body, level, text);
}

sr_status sr_page_paragraph(sr_context *ctx, sr_page *page, const char *text) {
  return page->renderer->paragraph(ctx, &page->body, text);
}

static sr_status check_agreement(sr_context *ctx, sr_agreement agreement) {
  if ((int)agreement >= SR_AGREEMENT_NONE && agreement <= SR_AGREEMENT_UNTESTED) return SR_OK;
  return sr__fail(ctx, SR_ERROR_ARGUMENT, "agreement %d is not one of sr_agreement",
                  (int)agreement);
}

sr_status sr_page_note(sr_context *ctx, sr_page *page, sr_agreement agreement, const char *text) {
  sr_status status = check_agreement(ctx, agreement);
  return status != SR_OK ? status : page->renderer->note(ctx, &page->body, agreement, text);
}

static sr_status check_table(sr_context *ctx, const sr_page_table *table) {
  sr_status status = SR_OK;
  if (table->columns < 1 || table->rows < 0)
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "a table of %lld rows and %d columns has no form",
                    (long long)table->rows, table->columns);
  if (table->alignment && (strlen(table->alignment) != (size_t)table->columns ||
                           strspn(table->alignment, "lcr") != (size_t)table->columns))
    return sr__fail(ctx, SR_ERROR_ARGUMENT, "alignment \"%s\" must be %d letters l, c or r",
                    table->alignment, table->columns);
  for (int64_t i = 0; i < table->rows * table->columns; i++)
    SR_TRY(check_agreement(ctx, table->cells[i].agreement));
cleanup:
  return status;
}

sr_status sr_page_add_table(sr_context *ctx, sr_page *page, const sr_page_table *table) {
  sr_status status = check_table(ctx, table);
  return status != SR_OK ? status : page->renderer->table(ctx, &page->body, table);
}

/* ---- plots -------------------------------------------------------------------------------- */

static sr_status draw(sr_context *ctx, const sr_page *page, const sr_plot *plot, sr__text *svg) {
  sr_status status = SR_OK;
  sr__text script = {0}, raw = {0};
  SR_TRY(sr__plot_script(ctx, plot, &script));
  SR_TRY(sr__run_gnuplot(ctx, page->gnuplot, &script, &raw));
  SR_TRY(sr__adopt_svg(ctx, &raw, page->plots + 1, svg));
cleanup:
  sr__free(ctx, script.bytes);
  sr__free(ctx, raw.bytes);
  return status;
}

static bool is_drawing_failure(sr_status status) {
  return status == SR_ERROR_NOT_FOUND || status == SR_ERROR_IO || status == SR_ERROR_FORMAT;
}

sr_status sr_page_add_plot(sr_context *ctx, sr_page *page, const sr_plot *plot) {
  sr_status status = SR_OK;
  sr__text svg = {0};
  const char *title = plot->title ? plot->title : "";
  if (page->renderer->draws) {
    status = draw(ctx, page, plot, &svg);
    if (status != SR_OK && !is_drawing_failure(status)) goto cleanup;
  }
  bool drawn = page->renderer->draws && status == SR_OK;
  if (page->renderer->draws && !drawn)
    sr__log(ctx, SR_LOG_WARNING, "the plot \"%s\" was not drawn: %s", title,
            sr_context_error(ctx).message);
  SR_TRY(page->renderer->plot(ctx, &page->body, title, drawn ? svg.bytes : NULL));
  page->plots += drawn;
  page->missing_plots += page->renderer->draws && !drawn;
cleanup:
  sr__free(ctx, svg.bytes);
  return status;
}

int32_t sr_page_plot_count(const sr_page *page) { return page->plots; }
int32_t sr_page_missing_plot_count(const sr_page *page) { return page->missing_plots; }

sr_status sr_page_write(sr_context *ctx, const sr_page *page, const char *path) {
  sr_status status = SR_OK;
  sr__writer *writer = NULL;
  sr__text head = {0}, tail = {0};
  SR_TRY(page->renderer->begin(ctx, &head, page->title));
  SR_TRY(page->renderer->end(ctx, &tail));
  SR_TRY(sr__writer_open(ctx, path, &writer));
  SR_TRY(sr__writer_put(writer, head.bytes, (size_t)head.length));
  if (page->body.length)
    SR_TRY(sr__writer_put(writer, page->body.bytes, (size_t)page->body.length));
  SR_TRY(sr__writer_put(writer, tail.bytes, (size_t)tail.length));
  SR_TRY(sr__writer_commit(&writer));
cleanup:
  sr__writer_abort(&writer);
  sr__free(ctx, head.bytes);
  sr__free(ctx, tail.bytes);
  return status;
}

sr_status sr_page_to_text(sr_context *ctx, const sr_page *page, char **text) {
  sr_status status = SR_OK;
  sr__text whole = {0};
  *text = NULL;
  SR_TRY(page->renderer->begin(ctx, &whole, page->title));
  if (page->body.length) SR_TRY(sr__text_put(ctx, &whole, page->body.bytes, page->body.length));
  SR_TRY(page->renderer->end(ctx, &whole));
  SR_TRY(sr__give_text(ctx, whole.bytes, whole.length, text));
cleanup:
  sr__free(ctx, whole.bytes);
  return status;
}
