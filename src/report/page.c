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
  sr_page_options defaults;
  sr_page_options_init(&defaults);
  if (!options) options = &defaults;
  *page = NULL;
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->renderer = options->format == SR_PAGE_MARKDOWN ? &sr__render_markdown : &sr__render_html;
  made->title = sr__strdup(ctx, options->title ? options->title : "specroute");
  if (options->footer) made->footer = sr__strdup(ctx, options->footer);
  if (!made->title || (options->footer && !made->footer)) {
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
  sr__release(&allocator, (*page)->footer);
  sr__release(&allocator, (*page)->body.bytes);
  sr__release(&allocator, (*page)->contents.bytes);
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
  sr_status status = SR_OK;
  int32_t number = page->headings++;
  if (level == 1 && page->chapters++ == 0) page->first_chapter = page->body.length;
  if (level == 1) SR_TRY(page->renderer->contents_entry(ctx, &page->contents, number, text));
  SR_TRY(page->renderer->heading(ctx, &page->body, level, number, text));
cleanup:
  return status;
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
  sr_status status = SR_OK;
  sr__text note = {0};
  SR_TRY(check_agreement(ctx, agreement));
  SR_TRY(page->renderer->note(ctx, &note, agreement, text));
  if (page->body.bytes && strstr(page->body.bytes, note.bytes)) goto cleanup; /* said already */
  SR_TRY(sr__text_put(ctx, &page->body, note.bytes, note.length));
cleanup:
  sr__free(ctx, note.bytes);
  return status;
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

int32_t sr_page_plot_count(const sr_page *page) { return page->plots; }

/* ---- the finished document ------------------------------------------------------------------ */

/* A page with fewer chapters is seen at a glance. */
enum { CHAPTERS_WITH_CONTENTS = 4 };

static sr_status whole_page(sr_context *ctx, const sr_page *page, sr__text *whole) {
  sr_status status = SR_OK;
  const sr__renderer *renderer = page->renderer;
  const char *body = page->body.bytes ? page->body.bytes : "";
  bool contents = page->chapters >= CHAPTERS_WITH_CONTENTS && page->contents.bytes;
  int64_t first = contents ? page->first_chapter : 0;
  SR_TRY(renderer->begin(ctx, whole, page->title));
  SR_TRY(sr__text_put(ctx, whole, body, first));
  if (contents) SR_TRY(renderer->contents(ctx, whole, page->contents.bytes));
  SR_TRY(sr__text_put(ctx, whole, body + first, page->body.length - first));
  SR_TRY(renderer->end(ctx, whole, page->footer));
cleanup:
  return status;
}

sr_status sr_page_write(sr_context *ctx, const sr_page *page, const char *path) {
  sr_status status = SR_OK;
  sr__writer *writer = NULL;
  sr__text whole = {0};
  SR_TRY(whole_page(ctx, page, &whole));
  SR_TRY(sr__writer_open(ctx, path, &writer));
  SR_TRY(sr__writer_put(writer, whole.bytes, (size_t)whole.length));
  SR_TRY(sr__writer_commit(&writer));
cleanup:
  sr__writer_abort(&writer);
  sr__free(ctx, whole.bytes);
  return status;
}

sr_status sr_page_to_text(sr_context *ctx, const sr_page *page, char **text) {
  sr_status status = SR_OK;
  sr__text whole = {0};
  *text = NULL;
  SR_TRY(whole_page(ctx, page, &whole));
  SR_TRY(sr__give_text(ctx, whole.bytes, whole.length, text));
cleanup:
  sr__free(ctx, whole.bytes);
  return status;
}
