/* Markdown for documentation: text and tables; a plot leaves its title. */
#include "page.h"

/* Characters that Markdown would read as markup get a backslash; | would end a cell. */
static sr_status plain(sr_context *ctx, sr__text *out, const char *text) {
  sr_status status = SR_OK;
  for (const char *c = text; *c; c++) {
    if (strchr("\\`*_|<>[]", *c)) SR_TRY(sr__text_string(ctx, out, "\\"));
    SR_TRY(sr__text_put(ctx, out, *c == '\n' ? " " : c, 1));
  }
cleanup:
  return status;
}

/* before + text + after. */
static sr_status line(sr_context *ctx, sr__text *out, const char *before, const char *text,
                      const char *after) {
  sr_status status = SR_OK;
  SR_TRY(sr__text_string(ctx, out, before));
  SR_TRY(plain(ctx, out, text));
  SR_TRY(sr__text_string(ctx, out, after));
cleanup:
  return status;
}

static sr_status markdown_begin(sr_context *ctx, sr__text *out, const char *title) {
  return line(ctx, out, "# ", title, "\n\n");
}

static sr_status markdown_end(sr_context *ctx, sr__text *out, const char *footer) {
  return footer ? line(ctx, out, "", footer, "\n") : sr__text_string(ctx, out, "");
}

/* Markdown viewers make contents of their own. */
static sr_status markdown_contents_entry(sr_context *ctx, sr__text *out, int32_t number,
                                         const char *text) {
  (void)ctx, (void)out, (void)number, (void)text;
  return SR_OK;
}

static sr_status markdown_contents(sr_context *ctx, sr__text *out, const char *entries) {
  (void)ctx, (void)out, (void)entries;
  return SR_OK;
}

static sr_status markdown_heading(sr_context *ctx, sr__text *out, int level, int32_t number,
                                  const char *text) {
  (void)number;
  char before[8] = "##### ";
  return line(ctx, out, before + 4 - level, text, "\n\n");
}

static sr_status markdown_paragraph(sr_context *ctx, sr__text *out, const char *text) {
  return line(ctx, out, "", text, "\n\n");
}

static sr_status markdown_note(sr_context *ctx, sr__text *out, sr_agreement agreement,
                               const char *text) {
  char before[16];
  const char *mark = sr__agreement_mark(agreement);
  snprintf(before, sizeof before, "> %s%s", mark, *mark ? " " : "");
  return line(ctx, out, before, text, "\n\n");
}

static sr_status markdown_cell(sr_context *ctx, sr__text *out, const sr_page_cell *cell) {
  const char *mark = sr__agreement_mark(cell->agreement);
  char after[16];
  snprintf(after, sizeof after, "%s%s |", *mark ? " " : "", mark);
  return line(ctx, out, " ", cell->text ? cell->text : "", after);
}

static sr_status markdown_table(sr_context *ctx, sr__text *out, const sr_page_table *table) {
  sr_status status = SR_OK;
  if (table->caption) SR_TRY(line(ctx, out, "", table->caption, "\n\n"));
  SR_TRY(sr__text_string(ctx, out, "|"));
  for (int32_t c = 0; c < table->columns; c++)
    SR_TRY(markdown_cell(ctx, out, &(sr_page_cell){table->header[c], SR_AGREEMENT_NONE}));
  SR_TRY(sr__text_string(ctx, out, "\n|"));
  for (int32_t c = 0; c < table->columns; c++) {
    char alignment = sr__table_alignment(table, c);
    SR_TRY(sr__text_string(ctx, out,
                           alignment == 'l'   ? "---|"
                           : alignment == 'r' ? "---:|"
                                              : ":---:|"));
  }
  for (int64_t i = 0; i < table->rows * table->columns; i++) {
    if (i % table->columns == 0) SR_TRY(sr__text_string(ctx, out, "\n|"));
    SR_TRY(markdown_cell(ctx, out, &table->cells[i]));
  }
  SR_TRY(sr__text_string(ctx, out, "\n\n"));
cleanup:
  return status;
}

static sr_status markdown_plot(sr_context *ctx, sr__text *out, const char *title, const char *svg) {
  (void)svg;
  return line(ctx, out, "Plot in the HTML report: ", title, "\n\n");
}

const sr__renderer sr__render_markdown = {.begin = markdown_begin,
                                          .end = markdown_end,
                                          .heading = markdown_heading,
                                          .contents_entry = markdown_contents_entry,
                                          .contents = markdown_contents,
                                          .paragraph = markdown_paragraph,
                                          .note = markdown_note,
                                          .table = markdown_table,
                                          .plot = markdown_plot,
                                          .draws = false};
