/* One self-contained HTML file: inline style, inline SVG, no script, nothing from the network. */
#include "page.h"

/* Colors are custom properties, so that dark mode and print change one block each. */
static const char style[] =
    ":root{--paper:#fdfdfc;--card:#fff;--ink:#1d2329;--soft:#5c6670;--line:#dfe3e6;--accent:#"
    "2867a8;"
    "--agrees:#e3f3e6;--partly:#fdf1d3;--differs:#fbe3df;--untested:#eceff1;"
    "--agrees-ink:#1f7a38;--partly-ink:#93650a;--differs-ink:#b3321f;--untested-ink:#5c6670;"
    "color-scheme:light dark}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14181c;--card:#1b2026;--ink:#e4e8eb;"
    "--soft:#9aa5af;--line:#333b43;--accent:#7db4ea;"
    "--agrees:#17361f;--partly:#3d3113;--differs:#46201a;--untested:#262c33;"
    "--agrees-ink:#7fd495;--partly-ink:#e6bd62;--differs-ink:#f29a8b;--untested-ink:#9aa5af}}\n"
    "@media print{:root{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;"
    "color-scheme:light}figure,.scroll,.note{break-inside:avoid}h1,h2,h3{break-after:avoid}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;"
    "-webkit-text-size-adjust:100%}\n"
    "main{max-width:78rem;margin:0 auto;padding:2rem 1.1rem 4rem}\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 1.2rem;letter-spacing:-.01em}\n"
    "h1,h2,h3,p,.note,figcaption,nav a{overflow-wrap:anywhere}\n"
    "h2{font-size:1.4rem;margin:2.6rem 0 .7rem;padding-top:1.1rem;border-top:1px solid "
    "var(--line)}\n"
    "h3{font-size:1.1rem;margin:1.8rem 0 .5rem}h4,h5{font-size:1rem;margin:1.2rem 0 .4rem}\n"
    "p{margin:.6rem 0;max-width:46rem}\n"
    ".note{margin:.9rem 0;padding:.6rem .9rem;border-left:4px solid var(--line);"
    "border-radius:0 .4rem .4rem 0;background:var(--untested);max-width:46rem}\n"
    ".scroll{overflow-x:auto;width:fit-content;max-width:100%;margin:1rem 0;border:1px solid "
    "var(--line);border-radius:.5rem;"
    "background:var(--card)}\n"
    "table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
    "caption{caption-side:top;text-align:left;padding:.6rem .7rem;color:var(--soft)}\n"
    "th,td{padding:.38rem .7rem;border-top:1px solid "
    "var(--line);text-align:left;white-space:nowrap}\n"
    "thead th{font-weight:600;color:var(--soft);white-space:normal}tbody th{font-weight:600}\n"
    "thead tr:first-child th{border-top:0}caption+thead th{border-top:1px solid "
    "var(--line)!important}\n"
    ".r{text-align:right}.c{text-align:center}.w{white-space:normal;min-width:16rem}\n"
    ".agrees{background:var(--agrees)}.partly{background:var(--partly)}"
    ".differs{background:var(--differs)}.untested{background:var(--untested)}\n"
    ".note.agrees{border-color:var(--agrees-ink)}.note.partly{border-color:var(--partly-ink)}"
    ".note.differs{border-color:var(--differs-ink)}\n"
    ".mark{margin-left:.35rem;font-weight:700}.agrees .mark{color:var(--agrees-ink)}"
    ".partly .mark{color:var(--partly-ink)}.differs .mark{color:var(--differs-ink)}"
    ".untested .mark{color:var(--untested-ink)}\n"
    "figure{margin:1rem 0;padding:.6rem;border:1px solid var(--line);border-radius:.5rem;"
    "background:var(--card)}\n"
    "figure svg{display:block;width:100%;height:auto;max-width:36rem;margin:0 auto;"
    "color:var(--ink)}\n"
    "@media(min-width:60rem){figure{display:inline-block;vertical-align:top;"
    "width:calc(50% - .75rem);margin:.4rem .5rem .4rem 0}}\n"
    "figcaption{color:var(--soft);font-size:.9rem;padding:.1rem .2rem .4rem}\n"
    "nav{margin:1.4rem 0;padding:.7rem 1rem;border:1px solid var(--line);border-radius:.5rem;"
    "background:var(--card);columns:16rem}nav a{display:block;padding:.1rem 0}"
    "a{color:var(--accent)}\n"
    "footer{margin-top:3rem;padding-top:.8rem;border-top:1px solid var(--line);color:var(--soft);"
    "font-size:.85rem;overflow-wrap:anywhere}\n"
    "tbody th,thead th:first-child{position:sticky;left:0;background:var(--card);z-index:1}\n"
    "@media(max-width:40rem){main{padding:1.2rem .7rem 3rem}h1{font-size:1.5rem}"
    "h2{font-size:1.2rem}th,td{padding:.3rem .4rem}table{font-size:.8rem}"
    "tbody th{white-space:normal;max-width:42vw;overflow-wrap:break-word}.w{min-width:11rem}"
    "caption{max-width:calc(100vw - 2rem)}.cards{width:100%}.cards thead{display:none}.cards "
    "tr{display:block;border-top:1px solid "
    "var(--line);"
    "padding:.3rem 0}.cards th,.cards td{display:block;border:0;max-width:none;text-align:left;"
    "white-space:normal;padding:.15rem .6rem;position:static;overflow-wrap:anywhere}"
    ".cards td:empty{display:none}"
    ".cards [data-name]::before{content:attr(data-name) ': ';color:var(--soft)}}\n";

static const char *entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return NULL;
  }
}

/* Names of others may be any bytes: a page is valid UTF-8 without control characters. */
sr_status sr__html_escape(sr_context *ctx, sr__text *text, const char *string) {
  sr_status status = SR_OK;
  size_t size = 3 * strlen(string) + 1;
  char *clean = NULL;
  SR_NEW(ctx, clean, (int64_t)size);
  sr__text_clean(string, false, clean, size);
  const char *plain = clean;
  for (const char *c = clean; *c; c++) {
    const char *entity = entity_of(*c);
    if (!entity) continue;
    SR_TRY(sr__text_put(ctx, text, plain, c - plain));
    SR_TRY(sr__text_string(ctx, text, entity));
    plain = c + 1;
  }
  SR_TRY(sr__text_string(ctx, text, plain));
cleanup:
  sr__free(ctx, clean);
  return status;
}

static sr_status html_begin(sr_context *ctx, sr__text *out, const char *title) {
  sr_status status = SR_OK;
  SR_TRY(sr__text_string(ctx, out,
                         "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                         "<link rel=\"icon\" href=\"data:,\">\n<title>"));
  SR_TRY(sr__html_escape(ctx, out, title));
  SR_TRY(sr__text_string(ctx, out, "</title>\n<style>\n"));
  SR_TRY(sr__text_string(ctx, out, style));
  SR_TRY(sr__text_string(ctx, out, "</style>\n</head>\n<body>\n<main>\n<h1>"));
  SR_TRY(sr__html_escape(ctx, out, title));
  SR_TRY(sr__text_string(ctx, out, "</h1>\n"));
cleanup:
  return status;
}

/* <tag attributes>escaped text</tag> and a line end; `attributes` starts with a space or is "". */
static sr_status element(sr_context *ctx, sr__text *out, const char *tag, const char *attributes,
                         const char *text) {
  sr_status status = SR_OK;
  SR_TRY(sr__text_print(ctx, out, "<%s%s>", tag, attributes));
  SR_TRY(sr__html_escape(ctx, out, text));
  SR_TRY(sr__text_print(ctx, out, "</%s>\n", tag));
cleanup:
  return status;
}

static sr_status html_end(sr_context *ctx, sr__text *out, const char *footer) {
  sr_status status = SR_OK;
  if (footer) SR_TRY(element(ctx, out, "footer", "", footer));
  SR_TRY(sr__text_string(ctx, out, "</main>\n</body>\n</html>\n"));
cleanup:
  return status;
}

static sr_status html_heading(sr_context *ctx, sr__text *out, int level, int32_t number,
                              const char *text) {
  char tag[3] = {'h', (char)('1' + level), '\0'}, name[32];
  snprintf(name, sizeof name, " id=\"part-%d\"", number);
  return element(ctx, out, tag, name, text);
}

static sr_status html_contents_entry(sr_context *ctx, sr__text *out, int32_t number,
                                     const char *text) {
  char link[32];
  snprintf(link, sizeof link, " href=\"#part-%d\"", number);
  return element(ctx, out, "a", link, text);
}

static sr_status html_contents(sr_context *ctx, sr__text *out, const char *entries) {
  sr_status status = SR_OK;
  SR_TRY(sr__text_string(ctx, out, "<nav aria-label=\"Contents\">\n"));
  SR_TRY(sr__text_string(ctx, out, entries));
  SR_TRY(sr__text_string(ctx, out, "</nav>\n"));
cleanup:
  return status;
}

static sr_status html_paragraph(sr_context *ctx, sr__text *out, const char *text) {
  return element(ctx, out, "p", "", text);
}

static sr_status html_note(sr_context *ctx, sr__text *out, sr_agreement agreement,
                           const char *text) {
  char attributes[64];
  snprintf(attributes, sizeof attributes, " class=\"note %s\"", sr__agreement_class(agreement));
  return element(ctx, out, "div", attributes, text);
}

/* ---- tables ------------------------------------------------------------------------------- */

/* Long sentences may wrap; numbers and names may not. */
enum { LONGEST_UNBROKEN_CELL = 48 };

static bool is_long(const sr_page_cell *cell) {
  return cell->text && strlen(cell->text) > LONGEST_UNBROKEN_CELL;
}

/* `name` is what a phone shows before the cell where each row becomes a card; NULL: nothing. */
static sr_status html_cell(sr_context *ctx, sr__text *out, const char *tag, char alignment,
                           const char *name, const sr_page_cell *cell) {
  sr_status status = SR_OK;
  const char *text = cell->text ? cell->text : "";
  const char *mark = sr__agreement_mark(cell->agreement);
  SR_TRY(sr__text_print(ctx, out, "<%s class=\"%c%s %s\"", tag, alignment,
                        is_long(cell) ? " w" : "", sr__agreement_class(cell->agreement)));
  if (name) {
    SR_TRY(sr__text_string(ctx, out, " data-name=\""));
    SR_TRY(sr__html_escape(ctx, out, name));
    SR_TRY(sr__text_string(ctx, out, "\""));
  }
  SR_TRY(sr__text_string(ctx, out, ">"));
  SR_TRY(sr__html_escape(ctx, out, text));
  if (*mark) SR_TRY(sr__text_print(ctx, out, "<span class=\"mark\">%s</span>", mark));
  SR_TRY(sr__text_print(ctx, out, "</%s>", tag));
cleanup:
  return status;
}

/* Whether the rows of the table are better read as cards on a phone: it holds sentences, or few
 * columns that together are wider than the screen. Many narrow columns scroll beside the first. */
static bool needs_cards(const sr_page_table *table) {
  enum { PHONE_LETTERS = 42, MOST_CARD_COLUMNS = 6 };
  size_t wide = 0;
  for (int32_t c = 0; c < table->columns; c++) {
    size_t most = strlen(table->header[c]);
    for (int64_t r = 0; r < table->rows; r++) {
      const sr_page_cell *cell = &table->cells[r * table->columns + c];
      if (is_long(cell)) return true;
      if (cell->text && strlen(cell->text) > most) most = strlen(cell->text);
    }
    wide += most;
  }
  return table->columns > 2 && table->columns <= MOST_CARD_COLUMNS && wide > PHONE_LETTERS;
}

static sr_status html_table(sr_context *ctx, sr__text *out, const sr_page_table *table) {
  sr_status status = SR_OK;
  bool cards = needs_cards(table);
  SR_TRY(sr__text_print(ctx, out, "<div class=\"scroll%s\"><table>\n", cards ? " cards" : ""));
  if (table->caption) SR_TRY(element(ctx, out, "caption", "", table->caption));
  SR_TRY(sr__text_string(ctx, out, "<thead><tr>"));
  for (int32_t c = 0; c < table->columns; c++)
    SR_TRY(html_cell(ctx, out, "th", sr__table_alignment(table, c), NULL,
                     &(sr_page_cell){table->header[c], SR_AGREEMENT_NONE}));
  SR_TRY(sr__text_string(ctx, out, "</tr></thead>\n<tbody>\n"));
  for (int64_t r = 0; r < table->rows; r++) {
    SR_TRY(sr__text_string(ctx, out, "<tr>"));
    for (int32_t c = 0; c < table->columns; c++)
      SR_TRY(html_cell(ctx, out, c ? "td" : "th", sr__table_alignment(table, c),
                       cards && c ? table->header[c] : NULL,
                       &table->cells[r * table->columns + c]));
    SR_TRY(sr__text_string(ctx, out, "</tr>\n"));
  }
  SR_TRY(sr__text_string(ctx, out, "</tbody></table></div>\n"));
cleanup:
  return status;
}

static sr_status html_plot(sr_context *ctx, sr__text *out, const char *title, const char *svg) {
  sr_status status = SR_OK;
  if (!svg) {
    SR_TRY(sr__text_string(ctx, out, "<div class=\"note\">Nothing to plot: "));
    SR_TRY(sr__html_escape(ctx, out, title));
    SR_TRY(sr__text_string(ctx, out, "</div>\n"));
    goto cleanup;
  }
  SR_TRY(sr__text_string(ctx, out, "<figure class=\"plot\">"));
  SR_TRY(element(ctx, out, "figcaption", "", title));
  SR_TRY(sr__text_string(ctx, out, svg));
  SR_TRY(sr__text_string(ctx, out, "</figure>\n"));
cleanup:
  return status;
}

const sr__renderer sr__render_html = {.begin = html_begin,
                                      .end = html_end,
                                      .heading = html_heading,
                                      .contents_entry = html_contents_entry,
                                      .contents = html_contents,
                                      .paragraph = html_paragraph,
                                      .note = html_note,
                                      .table = html_table,
                                      .plot = html_plot,
                                      .draws = true};
