/* Charts: lines, points and bars over two axes. */
#include <math.h>
#include <stdio.h>

#include "draw.h"

enum {
  LINE_POINTS_KEPT = 2000, /* a longer series cannot be told apart on a screen */
  MOST_TIPS = 300,         /* points that say their numbers */
  MOST_BAR_VALUES = 12,
  PLOT_HEIGHT = 250
};

typedef struct chart {
  const sr_plot *plot;
  sr__axis x, y;
  double bar_width; /* pixels */
} chart;

bool sr__is_shown(const sr_plot *plot, const sr_plot_series *series, int64_t i) {
  double x = series->x[i], y = series->y[i];
  if (!isfinite(x) || !isfinite(y) || (plot->log_x && x <= 0.0)) return false;
  if (series->kind == SR_PLOT_HEAT_MAP) return isfinite(series->value[i]);
  return !plot->log_y || y > 0.0;
}

static double place_x(const chart *c, double x) { return sr__axis_place(&c->x, x); }

/* A log axis cannot show an interval that reaches zero: it ends at the axis. */
static double place_y(const chart *c, double y) {
  if (c->y.log && !(y > c->y.low)) return c->y.from;
  return sr__axis_place(&c->y, y);
}

static bool has_interval(const sr_plot_series *s, int64_t i) {
  return s->low && s->high && isfinite(s->low[i]) && isfinite(s->high[i]);
}

static void find_extent(chart *c) {
  for (int32_t k = 0; k < c->plot->series_count; k++) {
    const sr_plot_series *s = &c->plot->series[k];
    for (int64_t i = 0; i < s->count; i++) {
      if (!sr__is_shown(c->plot, s, i)) continue;
      sr__axis_widen(&c->x, s->x[i]);
      sr__axis_widen(&c->y, s->y[i]);
      if (s->kind == SR_PLOT_BARS && !c->plot->log_y) sr__axis_widen(&c->y, 0.0);
      if (!has_interval(s, i)) continue;
      sr__axis_widen(&c->y, s->high[i]);
      if (!c->y.log || s->low[i] > s->y[i] * 1e-3) sr__axis_widen(&c->y, s->low[i]);
    }
  }
}

/* Bars stand at their x and need half a step on either side. */
static void make_room_for_bars(chart *c, double left, double right) {
  double step = INFINITY;
  int64_t bars = 0;
  for (int32_t k = 0; k < c->plot->series_count; k++) {
    const sr_plot_series *s = &c->plot->series[k];
    if (s->kind != SR_PLOT_BARS) continue;
    bars += s->count;
    for (int64_t i = 1; i < s->count; i++) {
      double gap = fabs(s->x[i] - s->x[i - 1]);
      if (gap > 0.0 && gap < step) step = gap;
    }
  }
  if (bars == 0 || c->x.log) {
    sr__axis_round(&c->x);
    return;
  }
  if (!isfinite(step)) step = 1.0;
  c->x.low -= 0.6 * step;
  c->x.high += 0.6 * step;
  c->bar_width = 0.7 * step * (right - left) / (c->x.high - c->x.low);
}

static void draw_axes(sr__drawing *d, const chart *c) {
  double tick[SR__MOST_TICKS];
  char name[32];
  int count = sr__axis_ticks(&c->y, tick);
  for (int k = 0; k < count; k++) {
    double y = sr__axis_place(&c->y, tick[k]);
    sr__draw_svg(d, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"currentColor\" stroke-opacity=\"%s\"/>",
                 c->x.from, y, c->x.to, tick[k] == 0.0 ? ".5" : ".14");
    snprintf(name, sizeof name, "%.6g", tick[k]);
    sr__draw_words(d, c->x.from - 6.0, y + 5.0, "end", name);
  }
  count = sr__axis_ticks(&c->x, tick);
  double last = -INFINITY;
  for (int k = 0; k < count; k++) {
    double x = sr__axis_place(&c->x, tick[k]);
    snprintf(name, sizeof name, "%.6g", tick[k]);
    double half = sr__words_width(name) / 2.0 + 3.0;
    sr__draw_svg(d, "<path d=\"M%.1f %.1fv5\" stroke=\"currentColor\" stroke-opacity=\".5\"/>", x,
                 c->y.from);
    if (x - half < last) continue;
    sr__draw_words(d, x, c->y.from + 19.0, "middle", name);
    last = x + half;
  }
  sr__draw_svg(d, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"currentColor\" stroke-opacity=\".5\"/>\n",
               c->x.from, c->y.from, c->x.to);
}

/* The points that are drawn: all that can be shown, or the lowest and the highest of each stretch
 * of a long line, in order. */
typedef void (*visit)(sr__drawing *d, const chart *c, const sr_plot_series *s, int64_t i,
                      bool first);

static void each_point(sr__drawing *d, const chart *c, const sr_plot_series *s, visit take) {
  bool first = true, line = s->kind == SR_PLOT_LINE || s->kind == SR_PLOT_DASHED;
  int64_t stretches = line && s->count > LINE_POINTS_KEPT ? LINE_POINTS_KEPT / 2 : s->count;
  for (int64_t k = 0; k < stretches; k++) {
    int64_t lowest = -1, highest = -1;
    int64_t end = (int64_t)((double)s->count * (double)(k + 1) / (double)stretches);
    for (int64_t i = (int64_t)((double)s->count * (double)k / (double)stretches); i < end; i++) {
      if (!sr__is_shown(c->plot, s, i)) continue;
      if (lowest < 0 || s->y[i] < s->y[lowest]) lowest = i;
      if (highest < 0 || s->y[i] > s->y[highest]) highest = i;
    }
    if (lowest < 0) continue;
    take(d, c, s, lowest < highest ? lowest : highest, first);
    first = false;
    if (lowest != highest) take(d, c, s, lowest < highest ? highest : lowest, first);
  }
}

static void line_to(sr__drawing *d, const chart *c, const sr_plot_series *s, int64_t i,
                    bool first) {
  sr__draw_svg(d, "%s%.1f %.1f", first ? "M" : "L", place_x(c, s->x[i]), place_y(c, s->y[i]));
}

static void draw_line(sr__drawing *d, const chart *c, const sr_plot_series *s, const char *color) {
  bool dashed = s->kind == SR_PLOT_DASHED;
  sr__draw_svg(d, "<path d=\"");
  each_point(d, c, s, line_to);
  sr__draw_svg(d, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s stroke-linejoin=\"round\">",
               color, dashed ? "1.6" : "2", dashed ? " stroke-dasharray=\"7 5\"" : "");
  if (s->label) {
    sr__draw_svg(d, "<title>");
    sr__draw_text(d, s->label);
    sr__draw_svg(d, "</title>");
  }
  sr__draw_svg(d, "</path>\n");
}

/* Intervals of a line are a band behind it. */
static void draw_band(sr__drawing *d, const chart *c, const sr_plot_series *s, const char *color) {
  bool first = true;
  sr__draw_svg(d, "<path d=\"");
  for (int64_t i = 0; i < s->count; i++) {
    if (!sr__is_shown(c->plot, s, i) || !has_interval(s, i)) continue;
    sr__draw_svg(d, "%s%.1f %.1f", first ? "M" : "L", place_x(c, s->x[i]), place_y(c, s->high[i]));
    first = false;
  }
  for (int64_t i = s->count - 1; i >= 0 && !first; i--)
    if (sr__is_shown(c->plot, s, i) && has_interval(s, i))
      sr__draw_svg(d, "L%.1f %.1f", place_x(c, s->x[i]), place_y(c, s->low[i]));
  sr__draw_svg(d, "%s\" fill=\"%s\" fill-opacity=\".18\"/>\n", first ? "" : "Z", color);
}

static void draw_intervals(sr__drawing *d, const chart *c, const sr_plot_series *s,
                           const char *color) {
  sr__draw_svg(d, "<path d=\"");
  for (int64_t i = 0; i < s->count; i++) {
    if (!sr__is_shown(c->plot, s, i) || !has_interval(s, i)) continue;
    double x = place_x(c, s->x[i]), low = place_y(c, s->low[i]), high = place_y(c, s->high[i]);
    sr__draw_svg(d, "M%.1f %.1fh8m-4 0V%.1fm-4 0h8", x - 4.0, low, high);
  }
  sr__draw_svg(d, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\"/>\n", color);
}

static void dot(sr__drawing *d, const chart *c, const sr_plot_series *s, int64_t i, bool first) {
  (void)first;
  sr__draw_svg(d, "M%.1f %.1fh0", place_x(c, s->x[i]), place_y(c, s->y[i]));
}

static void draw_points(sr__drawing *d, const chart *c, const sr_plot_series *s,
                        const char *color) {
  if (s->count > MOST_TIPS) {
    sr__draw_svg(d, "<path d=\"");
    each_point(d, c, s, dot);
    sr__draw_svg(d, "\" stroke=\"%s\" stroke-width=\"4\" stroke-linecap=\"round\"/>\n", color);
    return;
  }
  for (int64_t i = 0; i < s->count; i++) {
    if (!sr__is_shown(c->plot, s, i)) continue;
    sr__draw_svg(d, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\">", place_x(c, s->x[i]),
                 place_y(c, s->y[i]), color);
    sr__draw_tip(d, s->label, s->x[i], s->y[i]);
    sr__draw_svg(d, "</circle>\n");
  }
}

static void draw_bars(sr__drawing *d, const chart *c, const sr_plot_series *s, const char *color) {
  double base = c->y.log ? c->y.from : sr__axis_place(&c->y, 0.0);
  double width = c->bar_width > 0.0 ? c->bar_width : 8.0;
  char value[32];
  for (int64_t i = 0; i < s->count; i++) {
    if (!sr__is_shown(c->plot, s, i)) continue;
    double x = place_x(c, s->x[i]), y = place_y(c, s->y[i]);
    sr__draw_svg(d, "<path d=\"M%.1f %.1fh%.1fV%.1fh%.1fz\" fill=\"%s\" fill-opacity=\".8\">",
                 x - width / 2.0, base, width, y, -width, color);
    sr__draw_tip(d, s->label, s->x[i], s->y[i]);
    sr__draw_svg(d, "</path>\n");
    if (s->count > MOST_BAR_VALUES || has_interval(s, i)) continue;
    snprintf(value, sizeof value, "%.3g", s->y[i]);
    sr__draw_words(d, x, y < base ? y - 4.0 : y + 15.0, "middle", value);
  }
}

static void draw_series(sr__drawing *d, const chart *c, const sr_plot_series *s,
                        const char *color) {
  bool intervals = s->low && s->high;
  switch (s->kind) {
    case SR_PLOT_LINE:
    case SR_PLOT_DASHED:
      if (intervals) draw_band(d, c, s, color);
      draw_line(d, c, s, color);
      return;
    case SR_PLOT_LINE_POINTS:
      draw_line(d, c, s, color);
      if (intervals) draw_intervals(d, c, s, color);
      draw_points(d, c, s, color);
      return;
    case SR_PLOT_BARS:
      draw_bars(d, c, s, color);
      if (intervals) draw_intervals(d, c, s, "currentColor");
      return;
    case SR_PLOT_POINTS:
      if (intervals) draw_intervals(d, c, s, color);
      draw_points(d, c, s, color);
      return;
    case SR_PLOT_HEAT_MAP:
      return;
  }
}

/* Opens the picture and says in words what is seen. */
static void begin(sr__drawing *d, const chart *c, double height) {
  const sr_plot *plot = c->plot;
  char words[400];
  snprintf(words, sizeof words, "%.120s: %.40s from %.4g to %.4g over %.40s from %.4g to %.4g",
           plot->title ? plot->title : "Plot", plot->y_label ? plot->y_label : "values", c->y.low,
           c->y.high, plot->x_label ? plot->x_label : "x", c->x.low, c->x.high);
  sr__draw_begin(d, height, words);
}

static double widest_tick(const sr__axis *axis) {
  double tick[SR__MOST_TICKS], widest = 0.0;
  int count = sr__axis_ticks(axis, tick);
  for (int k = 0; k < count; k++) {
    char name[32];
    snprintf(name, sizeof name, "%.6g", tick[k]);
    widest = fmax(widest, sr__words_width(name));
  }
  return widest;
}

static double draw_chart_legend(sr__drawing *d, const sr_plot *plot, double top) {
  double taken = 0.0;
  sr__legend_entry *entries = sr__alloc(d->ctx, plot->series_count, sizeof *entries);
  if (!entries) {
    d->status = SR_ERROR_MEMORY;
    return 0.0;
  }
  for (int32_t k = 0; k < plot->series_count; k++) {
    const sr_plot_series *s = &plot->series[k];
    entries[k] = (sr__legend_entry){.name = s->count ? s->label : NULL,
                                    .color = sr__series_color(k),
                                    .dashed = s->kind == SR_PLOT_DASHED,
                                    .line = s->kind != SR_PLOT_BARS && s->kind != SR_PLOT_POINTS};
  }
  taken = sr__draw_legend(d, entries, plot->series_count, top);
  sr__free(d->ctx, entries);
  return taken;
}

void sr__draw_chart(sr__drawing *d, const sr_plot *plot) {
  chart c = {.plot = plot, .x = sr__axis_empty(plot->log_x), .y = sr__axis_empty(plot->log_y)};
  find_extent(&c);
  if (sr__axis_is_empty(&c.x) || sr__axis_is_empty(&c.y)) return;
  sr__axis_round(&c.y);
  double left = widest_tick(&c.y) + 14.0, right = SR__PICTURE_WIDTH - 14.0;
  make_room_for_bars(&c, left, right);
  right = SR__PICTURE_WIDTH - fmax(14.0, widest_tick(&c.x) / 2.0 + 4.0); /* the last name too */
  /* The legend's height is known once it is drawn, so it goes to a text of its own first. */
  sr__text legend = {0};
  sr__drawing apart = {d->ctx, &legend, d->status};
  double top = 6.0 + draw_chart_legend(&apart, plot, 2.0);
  d->status = apart.status;
  if (plot->y_label) top += 26.0;
  c.x.from = left;
  c.x.to = right;
  c.y.to = top + 4.0;
  c.y.from = c.y.to + PLOT_HEIGHT;
  begin(d, &c, c.y.from + (plot->x_label ? 46.0 : 26.0));
  if (legend.bytes && d->status == SR_OK)
    d->status = sr__text_put(d->ctx, d->out, legend.bytes, legend.length);
  sr__free(d->ctx, legend.bytes);
  if (plot->y_label) sr__draw_words(d, 6.0, c.y.to - 16.0, "start", plot->y_label);
  draw_axes(d, &c);
  for (int32_t k = 0; k < plot->series_count; k++)
    draw_series(d, &c, &plot->series[k], sr__series_color(k));
  if (plot->x_label)
    sr__draw_words(d, (c.x.from + c.x.to) / 2.0, c.y.from + 40.0, "middle", plot->x_label);
  sr__draw_svg(d, "</svg>\n");
}
