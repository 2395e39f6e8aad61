/* Maps: values or classes at places, averaged (or the first class met) into cells of a picture. */
#include <math.h>
#include <stdio.h>

#include "draw.h"

enum { MOST_COLUMNS = 240, MOST_ROWS = 240, COLORS = 256, NAMED_CLASSES = 64 };

typedef struct map {
  const sr_plot *plot;
  const sr_plot_series *series;
  sr__axis x, y, value;
  int64_t columns, rows;
  bool classes;
} map;

/* How many cells along an axis: the number of steps where the points lie on a lattice, else the
 * limit. */
static int64_t cells_along(const map *m, const double *v, const sr__axis *axis, int64_t limit) {
  double step = INFINITY;
  for (int64_t i = 0; i < m->series->count; i++) {
    double offset = v[i] - axis->low;
    if (sr__is_shown(m->plot, m->series, i) && offset > 0.0 && offset < step) step = offset;
  }
  double cells = isfinite(step) ? (axis->high - axis->low) / step + 1.0 : 1.0;
  return cells < (double)limit ? (int64_t)(cells + 0.5) : limit;
}

static int64_t cell_along(double v, const sr__axis *axis, int64_t cells) {
  if (cells < 2) return 0;
  return (int64_t)((v - axis->low) / (axis->high - axis->low) * (double)(cells - 1) + 0.5);
}

static void hex_color(const char *text, uint8_t *rgb) {
  unsigned r = 0, g = 0, b = 0;
  sscanf(text, "#%2x%2x%2x", &r, &g, &b);
  rgb[0] = (uint8_t)r;
  rgb[1] = (uint8_t)g;
  rgb[2] = (uint8_t)b;
}

static const char *class_color(int32_t k) {
  static const char *const more[] = {"#5b3a8c", "#8c5a2b", "#1f6f5c", "#c9a0dc",
                                     "#e0b84c", "#f08fa8", "#7fd0dc", "#4a5560"};
  return k < 8 ? sr__series_color(k) : more[(k - 8) % 8];
}

/* Blue, paper, red about zero where values have both signs; else from light to dark. */
static void fill_palette(const map *m, uint8_t *palette) {
  static const char *const both[] = {"#2c5fa8", "#cfcabd", "#c2502a"};
  static const char *const rising[] = {"#e6c765", "#4f9f8a", "#2a64ad"};
  const char *const *stop = m->value.low < 0.0 ? both : rising;
  for (int32_t k = 1; k < COLORS; k++) {
    if (m->classes) {
      hex_color(class_color(k - 1), palette + 3 * k);
      continue;
    }
    double at = 2.0 * (double)(k - 1) / (double)(COLORS - 2);
    int first = at < 1.0 ? 0 : 1;
    uint8_t from[3], to[3];
    hex_color(stop[first], from);
    hex_color(stop[first + 1], to);
    for (int c = 0; c < 3; c++)
      palette[3 * k + c] = (uint8_t)(from[c] + (to[c] - from[c]) * (at - first) + 0.5);
  }
}

static uint8_t color_of(const map *m, double value) {
  if (m->classes) return (uint8_t)(1 + (int64_t)value % (COLORS - 1));
  double share = (value - m->value.low) / (m->value.high - m->value.low);
  return (uint8_t)(1.5 + share * (COLORS - 2));
}

static sr_status paint(sr_context *ctx, const map *m, uint8_t *pixel) {
  sr_status status = SR_OK;
  double *sum = NULL;
  int64_t *seen = NULL;
  const sr_plot_series *s = m->series;
  SR_NEW_ZERO(ctx, sum, m->rows * m->columns);
  SR_NEW_ZERO(ctx, seen, m->rows * m->columns);
  for (int64_t i = 0; i < s->count; i++) {
    if (!sr__is_shown(m->plot, s, i) || (m->classes && !(s->value[i] >= 0.0))) continue;
    int64_t cell = (m->rows - 1 - cell_along(s->y[i], &m->y, m->rows)) * m->columns +
                   cell_along(s->x[i], &m->x, m->columns);
    if (m->classes && seen[cell]) continue;
    sum[cell] += s->value[i];
    seen[cell]++;
  }
  for (int64_t cell = 0; cell < m->rows * m->columns; cell++)
    pixel[cell] = seen[cell] ? color_of(m, sum[cell] / (double)seen[cell]) : 0;
cleanup:
  sr__free(ctx, sum);
  sr__free(ctx, seen);
  return status;
}

static void draw_color_bar(sr__drawing *d, const map *m, const uint8_t *palette, double top) {
  const int steps = 32;
  const double left = 120.0, width = SR__PICTURE_WIDTH - 2.0 * left;
  char number[32];
  for (int k = 0; k < steps; k++) {
    const uint8_t *rgb = palette + 3 * (1 + k * (COLORS - 2) / (steps - 1));
    sr__draw_svg(
        d, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" fill=\"#%02x%02x%02x\"/>",
        left + width * k / steps, top, width / steps + 0.5, rgb[0], rgb[1], rgb[2]);
  }
  snprintf(number, sizeof number, "%.3g", m->value.low);
  sr__draw_words(d, left - 8.0, top + 11.0, "end", number);
  snprintf(number, sizeof number, "%.3g", m->value.high);
  sr__draw_words(d, left + width + 8.0, top + 11.0, "start", number);
}

static void draw_class_names(sr__drawing *d, const sr_plot *plot, double top, double *taken) {
  sr__legend_entry entries[NAMED_CLASSES];
  int32_t count = plot->value_name_count < NAMED_CLASSES ? plot->value_name_count : NAMED_CLASSES;
  for (int32_t k = 0; k < count; k++)
    entries[k] = (sr__legend_entry){.name = plot->value_names[k], .color = class_color(k)};
  *taken = sr__draw_legend(d, entries, count, top);
}

static void measure(map *m) {
  const sr_plot_series *s = m->series;
  for (int64_t i = 0; i < s->count; i++) {
    if (!sr__is_shown(m->plot, s, i)) continue;
    sr__axis_widen(&m->x, s->x[i]);
    sr__axis_widen(&m->y, s->y[i]);
    sr__axis_widen(&m->value, s->value[i]);
  }
  if (m->value.low < 0.0 && m->value.high > 0.0) {
    m->value.high = fmax(m->value.high, -m->value.low);
    m->value.low = -m->value.high;
  }
  if (!(m->value.high > m->value.low)) m->value.high = m->value.low + 1.0;
  m->columns = cells_along(m, s->x, &m->x, MOST_COLUMNS);
  m->rows = cells_along(m, s->y, &m->y, MOST_ROWS);
}

/* Few places far apart get larger cells, so that they are seen. */
static sr_status widen_cells(sr_context *ctx, map *m) {
  enum { LEAST_CELLS = 50 };
  const double least_share = 0.04;
  sr_status status = SR_OK;
  uint8_t *seen = NULL;
  for (;;) {
    int64_t taken = 0, cells = m->rows * m->columns;
    sr__free(ctx, seen);
    SR_NEW_ZERO(ctx, seen, cells);
    for (int64_t i = 0; i < m->series->count; i++) {
      if (!sr__is_shown(m->plot, m->series, i)) continue;
      uint8_t *cell = &seen[cell_along(m->series->y[i], &m->y, m->rows) * m->columns +
                            cell_along(m->series->x[i], &m->x, m->columns)];
      taken += !*cell;
      *cell = 1;
    }
    if ((double)taken > least_share * (double)cells || m->columns < 2 * LEAST_CELLS ||
        m->rows < 2 * LEAST_CELLS)
      break;
    m->columns /= 2;
    m->rows /= 2;
  }
cleanup:
  sr__free(ctx, seen);
  return status;
}

void sr__draw_map(sr__drawing *d, const sr_plot *plot, const sr_plot_series *series) {
  map m = {.plot = plot,
           .series = series,
           .x = sr__axis_empty(false),
           .y = sr__axis_empty(false),
           .value = sr__axis_empty(false),
           .classes = plot->value_names != NULL};
  uint8_t palette[3 * COLORS] = {0}, *pixel = NULL;
  measure(&m);
  if (sr__axis_is_empty(&m.x) || d->status != SR_OK) return;
  d->status = widen_cells(d->ctx, &m);
  double wide = SR__PICTURE_WIDTH - 20.0, across = m.x.high - m.x.low, up = m.y.high - m.y.low;
  double tall = across > 0.0 && up > 0.0 ? wide * up / across : 120.0;
  tall = fmin(fmax(tall, 60.0), 520.0);
  if (across > 0.0 && up > 0.0) wide = fmin(wide, fmax(tall * across / up, 60.0));
  fill_palette(&m, palette);
  sr__text legend = {0}, address = {0};
  sr__drawing apart = {d->ctx, &legend, SR_OK};
  double below = 24.0;
  if (m.classes)
    draw_class_names(&apart, plot, tall + 14.0, &below);
  else
    draw_color_bar(&apart, &m, palette, tall + 16.0);
  d->status = apart.status;
  pixel = sr__alloc(d->ctx, m.rows * m.columns, 1);
  if (!pixel) d->status = SR_ERROR_MEMORY;
  if (d->status == SR_OK) d->status = paint(d->ctx, &m, pixel);
  if (d->status == SR_OK)
    d->status = sr__png_address(d->ctx,
                                &(sr__picture){.width = (int32_t)m.columns,
                                               .height = (int32_t)m.rows,
                                               .pixel = pixel,
                                               .colors = COLORS,
                                               .palette = palette},
                                &address);
  sr__draw_begin(d, tall + 20.0 + below, plot->title ? plot->title : "Map");
  sr__draw_svg(d,
               "<image x=\"%.1f\" y=\"6\" width=\"%.1f\" height=\"%.1f\" "
               "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"",
               (SR__PICTURE_WIDTH - wide) / 2.0, wide, tall);
  if (d->status == SR_OK) d->status = sr__text_put(d->ctx, d->out, address.bytes, address.length);
  sr__draw_svg(d, "\"/>\n");
  if (d->status == SR_OK && legend.bytes)
    d->status = sr__text_put(d->ctx, d->out, legend.bytes, legend.length);
  sr__draw_svg(d, "</svg>\n");
  sr__free(d->ctx, legend.bytes);
  sr__free(d->ctx, address.bytes);
  sr__free(d->ctx, pixel);
}
