/* Named bars: one row per name, the value behind the bar. Rows read on a phone as on a wall. */
#include <math.h>
#include <stdio.h>

#include "draw.h"

enum { ROW = 24, BAR = 15, GAP = 8, GAP_OF_LONG = 16 };

typedef struct bars {
  const sr_plot *plot;
  sr__axis value;
  double top, gap; /* gap: between the rows of two names */
} bars;

static void find_values(bars *b) {
  sr__axis_widen(&b->value, 0.0);
  for (int32_t k = 0; k < b->plot->series_count; k++) {
    const sr_plot_series *s = &b->plot->series[k];
    for (int64_t i = 0; i < s->count; i++) {
      sr__axis_widen(&b->value, s->y[i]);
      if (s->high) sr__axis_widen(&b->value, s->high[i]);
      if (s->low) sr__axis_widen(&b->value, s->low[i]);
    }
  }
}

/* The row of point i of series k; -1 where it has no name. */
static double row_of(const bars *b, int32_t k, int64_t i) {
  double name = b->plot->series[k].x[i];
  if (!(name >= 0.0 && name < b->plot->x_name_count)) return -1.0;
  double block = ROW * b->plot->series_count + b->gap;
  return b->top + block * floor(name + 0.5) + ROW * k;
}

static void draw_bar(sr__drawing *d, const bars *b, int32_t k, int64_t i) {
  const sr_plot_series *s = &b->plot->series[k];
  double row = row_of(b, k, i), value = s->y[i];
  if (row < 0.0 || !isfinite(value)) return;
  double zero = sr__axis_place(&b->value, 0.0), end = sr__axis_place(&b->value, value);
  double middle = row + BAR / 2.0, reach = fmax(zero, end);
  char number[32];
  int32_t name = (int32_t)floor(s->x[i] + 0.5);
  sr__draw_svg(d, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\">",
               fmin(zero, end), row, fmax(fabs(end - zero), 1.0), BAR,
               sr__series_color(b->plot->series_count > 1 ? k : 0));
  sr__draw_svg(d, "<title>");
  sr__draw_text(d, b->plot->x_names[name]);
  sr__draw_svg(d, ": %.6g</title></rect>\n", value);
  if (s->low && s->high && isfinite(s->low[i]) && isfinite(s->high[i])) {
    double low = sr__axis_place(&b->value, s->low[i]), high = sr__axis_place(&b->value, s->high[i]);
    sr__draw_svg(d,
                 "<path d=\"M%.1f %.1fv8m0 -4H%.1fm0 -4v8\" fill=\"none\" stroke=\"currentColor\" "
                 "stroke-width=\"1.3\"/>\n",
                 low, middle - 4.0, high);
    reach = fmax(reach, high);
  }
  snprintf(number, sizeof number, "%.3g", value);
  sr__draw_words(d, reach + 6.0, middle + 5.0, "start", number);
}

/* Where a name that is too long for one line is parted: behind a space, comma or colon, else where
 * the room ends. */
static size_t line_length(const char *name, double room) {
  size_t most = (size_t)(room / sr__words_width("x")), length = strlen(name), at = 0;
  if (length <= most) return length;
  for (size_t k = 0; k < most; k++)
    if (strchr(" ,:", name[k])) at = k + 1;
  for (at = at ? at : most; at > 1 && ((unsigned char)name[at] & 0xc0) == 0x80;) at--;
  return at;
}

/* A name on one line, or on two, of which the second may end in dots; all of it where a pointer
 * rests. */
static void draw_name(sr__drawing *d, double right, double middle, double room, const char *name) {
  size_t first = line_length(name, room), second = line_length(name + first, room);
  bool whole = !name[first + second];
  char line[128];
  sr__draw_svg(d, "<text text-anchor=\"end\" fill=\"currentColor\"><title>");
  sr__draw_text(d, name);
  sr__draw_svg(d, "</title><tspan x=\"%.1f\" y=\"%.1f\">", right,
               second ? middle - 7.0 : middle + 1.0);
  snprintf(line, sizeof line, "%.*s", (int)first, name);
  sr__draw_text(d, line);
  if (second) {
    snprintf(line, sizeof line, "%.*s%s", (int)second, name + first, whole ? "" : "\u2026");
    sr__draw_svg(d, "</tspan><tspan x=\"%.1f\" dy=\"15\">", right);
    sr__draw_text(d, line);
  }
  sr__draw_svg(d, "</tspan></text>\n");
}

void sr__draw_named_bars(sr__drawing *d, const sr_plot *plot) {
  const double widest_name = 232.0, number_room = 64.0;
  bars b = {.plot = plot, .value = sr__axis_empty(false)};
  double left = 0.0;
  find_values(&b);
  if (b.value.high == b.value.low) b.value.high = 1.0;
  b.gap = GAP;
  for (int32_t k = 0; k < plot->x_name_count; k++) {
    double width = sr__words_width(plot->x_names[k]);
    left = fmax(left, fmin(width, widest_name));
    if (width > widest_name && plot->series_count == 1) b.gap = GAP_OF_LONG;
  }
  b.value.from = left + 14.0;
  b.value.to = SR__PICTURE_WIDTH - number_room;
  sr__legend_entry entries[8];
  int32_t named = plot->series_count < 8 ? plot->series_count : 8;
  for (int32_t k = 0; k < named; k++)
    entries[k] = (sr__legend_entry){.name = plot->series[k].label, .color = sr__series_color(k)};
  sr__text legend = {0};
  sr__drawing apart = {d->ctx, &legend, d->status};
  b.top = 6.0 + sr__draw_legend(&apart, entries, named, 2.0);
  d->status = apart.status;
  double block = ROW * plot->series_count + b.gap;
  double height = b.top + block * plot->x_name_count + (plot->y_label ? 24.0 : 4.0);
  sr__draw_begin(d, height, plot->title ? plot->title : "Bars");
  if (legend.bytes && d->status == SR_OK)
    d->status = sr__text_put(d->ctx, d->out, legend.bytes, legend.length);
  sr__free(d->ctx, legend.bytes);
  for (int32_t name = 0; name < plot->x_name_count; name++) {
    double middle = b.top + block * name + ROW * plot->series_count / 2.0;
    draw_name(d, b.value.from - 8.0, middle, widest_name, plot->x_names[name]);
  }
  for (int32_t k = 0; k < plot->series_count; k++)
    for (int64_t i = 0; i < plot->series[k].count; i++) draw_bar(d, &b, k, i);
  double zero = sr__axis_place(&b.value, 0.0);
  sr__draw_svg(d, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"currentColor\" stroke-opacity=\".5\"/>\n",
               zero, b.top - 4.0, b.top + block * plot->x_name_count - b.gap);
  if (plot->y_label) sr__draw_words(d, zero, height - 8.0, "start", plot->y_label);
  sr__draw_svg(d, "</svg>\n");
}
