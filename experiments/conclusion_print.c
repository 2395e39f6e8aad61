/* Conclusions as JSON, as tables on a page and as text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conclusion.h"

static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *conclusion_cells(const conclusion *c) {
  json_t *list = json_array();
  for (int64_t i = 0; i < c->cell_count; i++) {
    const conclusion_cell *k = &c->cells[i];
    json_t *object = json_pack("{s:s,s:s,s:o,s:o,s:o,s:I}", "row", k->row, "column", k->column,
                               "paper", real(k->paper), "measured", real(k->measured), "sd",
                               real(k->sd), "n", (json_int_t)k->n);
    if (c->table_count > 1) json_object_set_new(object, "table", json_string(c->caption[k->table]));
    if (isfinite(k->low)) {
      json_object_set_new(object, "low", real(k->low));
      json_object_set_new(object, "high", real(k->high));
    }
    json_array_append_new(list, object);
  }
  return list;
}

/* ---- the grid of a table ------------------------------------------------------------------ */

/* Distinct labels in the order of their first use. */
typedef struct labels {
  const char **name;
  int count;
} labels;

static int label_index(labels *l, const char *name) {
  for (int i = 0; i < l->count; i++)
    if (strcmp(l->name[i], name) == 0) return i;
  l->name[l->count] = name;
  return l->count++;
}

typedef struct grid {
  labels rows, columns;
  const conclusion_cell **at; /* rows x columns; NULL: empty */
  bool *has_paper;            /* a column */
} grid;

static void grid_free(grid *g) {
  free(g->rows.name);
  free(g->columns.name);
  free(g->at);
  free(g->has_paper);
}

static sr_status grid_make(const conclusion *c, int table, grid *g) {
  size_t most = (size_t)c->cell_count + 1;
  *g = (grid){{calloc(most, sizeof(char *)), 0}, {calloc(most, sizeof(char *)), 0}, NULL, NULL};
  if (!g->rows.name || !g->columns.name) return SR_ERROR_MEMORY;
  for (int64_t i = 0; i < c->cell_count; i++) {
    if (c->cells[i].table != table) continue;
    label_index(&g->rows, c->cells[i].row);
    label_index(&g->columns, c->cells[i].column);
  }
  g->at = calloc((size_t)g->rows.count * (size_t)g->columns.count + 1, sizeof *g->at);
  g->has_paper = calloc((size_t)g->columns.count + 1, sizeof *g->has_paper);
  if (!g->at || !g->has_paper) return SR_ERROR_MEMORY;
  for (int64_t i = 0; i < c->cell_count; i++) {
    const conclusion_cell *k = &c->cells[i];
    if (k->table != table) continue;
    int column = label_index(&g->columns, k->column);
    g->at[label_index(&g->rows, k->row) * g->columns.count + column] = k;
    if (!isnan(k->paper)) g->has_paper[column] = true;
  }
  return SR_OK;
}

/* ---- numbers as text ---------------------------------------------------------------------- */

enum { TEXT_SIZE = 96 };

/* Digits that the spread supports: two of the spread, or three of the value. */
static int decimals_for(double value, double spread) {
  double scale = spread > 0.0 && isfinite(spread) ? spread : fabs(value) / 10.0;
  if (!(scale > 0.0)) return 3;
  int digits = 1 - (int)floor(log10(scale));
  return digits < 0 ? 0 : digits > 8 ? 8 : digits;
}

/* A value far below its spread is as good as 0 and is written like the spread. */
static bool needs_exponent(double value, double spread) {
  double size = fmax(fabs(value), isfinite(spread) ? spread : 0.0);
  return size != 0.0 && (size < 1e-5 || size >= 1e7);
}

/* Values that differ by rounding alone have no spread. */
static double spread_of(const conclusion_cell *k) {
  if (isfinite(k->low)) return (k->high - k->low) / 4.0;
  return k->sd <= 1e-12 * fabs(k->measured) ? 0.0 : k->sd;
}

static void number_text(double value, double spread, char *text) {
  if (isnan(value))
    snprintf(text, TEXT_SIZE, "–");
  else if (needs_exponent(value, spread))
    snprintf(text, TEXT_SIZE, "%.2e", value);
  else
    snprintf(text, TEXT_SIZE, "%.*f", decimals_for(value, spread), value);
}

static void measured_text(const conclusion_cell *k, char *text) {
  char number[TEXT_SIZE], low[TEXT_SIZE], high[TEXT_SIZE];
  double spread = spread_of(k);
  number_text(k->measured, spread, number);
  if (isnan(k->measured)) {
    snprintf(text, 4 * TEXT_SIZE, "–");
  } else if (isfinite(k->low)) {
    number_text(k->low, spread, low);
    number_text(k->high, spread, high);
    snprintf(text, 4 * TEXT_SIZE, "%s [%s, %s]", number, low, high);
  } else if (isinf(k->low)) { /* too few seeds for an interval */
    snprintf(text, 4 * TEXT_SIZE, "%s [–]", number);
  } else if (k->n > 1 && isfinite(k->sd)) {
    number_text(spread, spread, low);
    snprintf(text, 4 * TEXT_SIZE, "%s ± %s", number, low);
  } else {
    snprintf(text, 4 * TEXT_SIZE, "%s", number);
  }
}

static void paper_text(const conclusion_cell *k, char *text) {
  if (isnan(k->paper))
    text[0] = '\0';
  else if (isfinite(k->paper_sd) && k->paper_sd > 0.0)
    snprintf(text, 4 * TEXT_SIZE, "%g ± %g", k->paper, k->paper_sd);
  else
    snprintf(text, 4 * TEXT_SIZE, "%g", k->paper);
}

/* ---- tables of text ----------------------------------------------------------------------- */

/* A table as strings: header in row 0. */
typedef struct text_table {
  int rows, columns;
  char (*text)[4 * TEXT_SIZE];
  sr_agreement *agreement;
} text_table;

static void text_table_free(text_table *t) {
  free(t->text);
  free(t->agreement);
}

static char *text_at(text_table *t, int row, int column) {
  return t->text[row * t->columns + column];
}

static void fill_column(text_table *t, const grid *g, int column, int at) {
  bool paper = g->has_paper[column];
  snprintf(text_at(t, 0, at), sizeof *t->text, "%s%s", g->columns.name[column],
           paper ? ", paper" : "");
  if (paper)
    snprintf(text_at(t, 0, at + 1), sizeof *t->text, "%s, measured", g->columns.name[column]);
  for (int r = 0; r < g->rows.count; r++) {
    const conclusion_cell *k = g->at[r * g->columns.count + column];
    if (!k) continue;
    if (paper) paper_text(k, text_at(t, r + 1, at));
    measured_text(k, text_at(t, r + 1, at + paper));
    t->agreement[(r + 1) * t->columns + at + paper] = k->agreement;
  }
}

static sr_status text_table_make(const conclusion *c, int table, text_table *t) {
  grid g;
  *t = (text_table){0};
  sr_status status = grid_make(c, table, &g);
  if (status != SR_OK) goto cleanup;
  t->rows = g.rows.count + 1;
  t->columns = 1 + g.columns.count;
  for (int k = 0; k < g.columns.count; k++) t->columns += g.has_paper[k];
  t->text = calloc((size_t)t->rows * (size_t)t->columns, sizeof *t->text);
  t->agreement = calloc((size_t)t->rows * (size_t)t->columns, sizeof *t->agreement);
  if (!t->text || !t->agreement) SR_TRY(SR_ERROR_MEMORY);
  for (int r = 0; r < g.rows.count; r++)
    snprintf(text_at(t, r + 1, 0), sizeof *t->text, "%s", g.rows.name[r]);
  for (int k = 0, at = 1; k < g.columns.count; at += 1 + g.has_paper[k], k++)
    fill_column(t, &g, k, at);
cleanup:
  grid_free(&g);
  return status;
}

/* ---- onto a page -------------------------------------------------------------------------- */

static sr_status page_table(const conclusion *c, int table, sr_page *page) {
  sr_status status = SR_OK;
  text_table t = {0};
  const char **header = NULL;
  sr_page_cell *cells = NULL;
  SR_TRY(text_table_make(c, table, &t));
  header = calloc((size_t)t.columns, sizeof *header);
  cells = calloc((size_t)t.rows * (size_t)t.columns, sizeof *cells);
  if (!header || !cells) SR_TRY(SR_ERROR_MEMORY);
  for (int k = 0; k < t.columns; k++) header[k] = text_at(&t, 0, k);
  for (int i = t.columns; i < t.rows * t.columns; i++)
    cells[i] = (sr_page_cell){t.text[i], t.agreement[i]};
  sr_page_table out = {.caption = c->caption[table],
                       .columns = t.columns,
                       .header = header,
                       .rows = t.rows - 1,
                       .cells = cells + t.columns};
  SR_TRY(sr_page_add_table(c->ctx, page, &out));
cleanup:
  text_table_free(&t);
  free(header);
  free(cells);
  return status;
}

sr_status conclusion_tables(const conclusion *c, sr_page *page) {
  sr_status status = SR_OK;
  for (int t = 0; t < c->table_count; t++) SR_TRY(page_table(c, t, page));
  for (int i = 0; i < c->remark_count; i++) SR_TRY(sr_page_paragraph(c->ctx, page, c->remark[i]));
cleanup:
  return status;
}

/* ---- onto a terminal ---------------------------------------------------------------------- */

/* Characters, not bytes: "±" is one column wide. */
static int width_of(const char *text) {
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
  return width;
}

static void print_table(text_table *t, FILE *out) {
  for (int r = 0; r < t->rows; r++) {
    for (int k = 0; k < t->columns; k++) {
      int widest = 0;
      for (int i = 0; i < t->rows; i++) {
        int width = width_of(text_at(t, i, k));
        if (width > widest) widest = width;
      }
      const char *text = text_at(t, r, k);
      int space = widest - width_of(text);
      if (k == 0)
        fprintf(out, "%s%*s", text, space, "");
      else
        fprintf(out, "  %*s%s", space, "", text);
    }
    fputc('\n', out);
  }
}

void conclusion_print(const conclusion *c, FILE *out) {
  for (int i = 0; i < c->table_count; i++) {
    text_table t;
    fprintf(out, "%s\n", c->caption[i]);
    if (text_table_make(c, i, &t) == SR_OK) print_table(&t, out);
    text_table_free(&t);
    fputc('\n', out);
  }
  for (int i = 0; i < c->remark_count; i++) fprintf(out, "%s\n", c->remark[i]);
  if (c->reason[0]) fprintf(out, "verdict: %s: %s\n", verdict_name(c->verdict), c->reason);
}
