/* Plots as gnuplot scripts. */
#include <math.h>
#include <stdlib.h>

#include "page.h"

/* Readable on light and on dark paper. */
static const char *const colours[] = {"#3b7fc4", "#d9662b", "#2e9e6b", "#a85cc6",
                                      "#b98a14", "#d14b6f", "#2aa3b5", "#7a8794"};
enum { COLOURS = sizeof colours / sizeof *colours };

enum {
  LINE_POINTS_KEPT = 2000, /* a longer series cannot be told apart on a screen */
  MAP_COLUMNS = 160,
  MAP_ROWS = 100
};

/* Single quotes take no escapes in gnuplot, except that '' is one quote. */
static sr_status quoted(sr_context *ctx, sr__text *out, const char *text) {
  sr_status status = SR_OK;
  SR_TRY(sr__text_string(ctx, out, "'"));
  for (const char *c = text; *c; c++) {
    if (*c == '\'') SR_TRY(sr__text_string(ctx, out, "'"));
    SR_TRY(sr__text_put(ctx, out, (unsigned char)*c < ' ' ? " " : c, 1));
  }
  SR_TRY(sr__text_string(ctx, out, "'"));
cleanup:
  return status;
}

static sr_status setting(sr_context *ctx, sr__text *out, const char *name, const char *text) {
  sr_status status = SR_OK;
  if (!text) return SR_OK;
  SR_TRY(sr__text_print(ctx, out, "set %s ", name));
  SR_TRY(quoted(ctx, out, text));
  SR_TRY(sr__text_string(ctx, out, "\n"));
cleanup:
  return status;
}

static bool is_shown(const sr_plot *plot, const sr_plot_series *series, int64_t i) {
  double x = series->x[i], y = series->y[i];
  if (!isfinite(x) || !isfinite(y) || (plot->log_x && x <= 0.0)) return false;
  if (series->kind == SR_PLOT_HEAT_MAP) return isfinite(series->value[i]);
  return !plot->log_y || y > 0.0;
}

/* ---- data blocks -------------------------------------------------------------------------- */

static sr_status point(sr_context *ctx, sr__text *out, const sr_plot *plot, const sr_plot_series *s,
                       int64_t i) {
  double low = s->low ? s->low[i] : s->y[i], high = s->high ? s->high[i] : s->y[i];
  /* A log axis cannot show an interval that reaches zero; it ends three decades below. */
  if (plot->log_y && !(low > 0.0)) low = s->y[i] * 1e-3;
  if (!isfinite(low)) low = s->y[i];
  if (!isfinite(high)) high = s->y[i];
  return sr__text_print(ctx, out, "%.10g %.10g %.10g %.10g\n", s->x[i], s->y[i], low, high);
}

/* Each stretch of a long series keeps its lowest and its highest point, in order. */
static sr_status thinned(sr_context *ctx, sr__text *out, const sr_plot *plot,
                         const sr_plot_series *s) {
  sr_status status = SR_OK;
  int64_t stretches = LINE_POINTS_KEPT / 2;
  for (int64_t k = 0; k < stretches; k++) {
    int64_t lowest = -1, highest = -1;
    for (int64_t i = s->count * k / stretches; i < s->count * (k + 1) / stretches; i++) {
      if (!is_shown(plot, s, i)) continue;
      if (lowest < 0 || s->y[i] < s->y[lowest]) lowest = i;
      if (highest < 0 || s->y[i] > s->y[highest]) highest = i;
    }
    if (lowest < 0) continue;
    SR_TRY(point(ctx, out, plot, s, lowest < highest ? lowest : highest));
    if (lowest != highest) SR_TRY(point(ctx, out, plot, s, lowest < highest ? highest : lowest));
  }
cleanup:
  return status;
}

typedef struct extent {
  double low, high;
} extent;

static void widen(extent *e, double value) {
  if (value < e->low) e->low = value;
  if (value > e->high) e->high = value;
}

/* How many cells along an axis: the number of distinct values where the points lie on a lattice,
 * else the limit. */
static int64_t cells_along(const sr_plot *plot, const sr_plot_series *s, const double *v, extent e,
                           int64_t limit) {
  double step = INFINITY;
  for (int64_t i = 0; i < s->count; i++) {
    double offset = v[i] - e.low;
    if (is_shown(plot, s, i) && offset > 0.0 && offset < step) step = offset;
  }
  double cells = isfinite(step) ? (e.high - e.low) / step + 1.0 : 1.0;
  return cells < (double)limit ? (int64_t)(cells + 0.5) : limit;
}

static int64_t cell_of(double v, extent e, int64_t cells) {
  if (cells < 2) return 0;
  return (int64_t)((v - e.low) / (e.high - e.low) * (double)(cells - 1) + 0.5);
}

static sr_status heat_map(sr_context *ctx, sr__text *out, const sr_plot *plot,
                          const sr_plot_series *s) {
  sr_status status = SR_OK;
  double *sum = NULL;
  int64_t *seen = NULL;
  extent ex = {INFINITY, -INFINITY}, ey = ex;
  for (int64_t i = 0; i < s->count; i++) {
    if (!is_shown(plot, s, i)) continue;
    widen(&ex, s->x[i]);
    widen(&ey, s->y[i]);
  }
  int64_t columns = cells_along(plot, s, s->x, ex, MAP_COLUMNS);
  int64_t rows = cells_along(plot, s, s->y, ey, MAP_ROWS);
  SR_NEW_ZERO(ctx, sum, rows * columns);
  SR_NEW_ZERO(ctx, seen, rows * columns);
  for (int64_t i = 0; i < s->count; i++) {
    if (!is_shown(plot, s, i)) continue;
    int64_t cell = cell_of(s->y[i], ey, rows) * columns + cell_of(s->x[i], ex, columns);
    sum[cell] += s->value[i];
    seen[cell]++;
  }
  for (int64_t cell = 0; cell < rows * columns; cell++) {
    double x = ex.low + (ex.high - ex.low) * (double)(cell % columns) /
                            (double)(columns > 1 ? columns - 1 : 1);
    double y =
        ey.low + (ey.high - ey.low) * (double)(cell / columns) / (double)(rows > 1 ? rows - 1 : 1);
    if (seen[cell])
      SR_TRY(sr__text_print(ctx, out, "%.10g %.10g %.10g\n", x, y, sum[cell] / (double)seen[cell]));
    else
      SR_TRY(sr__text_print(ctx, out, "%.10g %.10g NaN\n", x, y));
  }
cleanup:
  sr__free(ctx, sum);
  sr__free(ctx, seen);
  return status;
}

static sr_status data_block(sr_context *ctx, sr__text *out, const sr_plot *plot,
                            const sr_plot_series *s, int32_t index, bool *empty) {
  sr_status status = SR_OK;
  SR_TRY(sr__text_print(ctx, out, "$data%d << END\n", index));
  int64_t before = out->length;
  bool line = s->kind == SR_PLOT_LINE || s->kind == SR_PLOT_DASHED;
  if (s->kind == SR_PLOT_HEAT_MAP) {
    SR_TRY(heat_map(ctx, out, plot, s));
  } else if (line && s->count > LINE_POINTS_KEPT) {
    SR_TRY(thinned(ctx, out, plot, s));
  } else {
    for (int64_t i = 0; i < s->count; i++)
      if (is_shown(plot, s, i)) SR_TRY(point(ctx, out, plot, s, i));
  }
  *empty = out->length == before;
  SR_TRY(sr__text_string(ctx, out, "END\n"));
cleanup:
  return status;
}

/* ---- the plot command --------------------------------------------------------------------- */

static const char *drawing_of(const sr_plot_series *s) {
  switch (s->kind) {
    case SR_PLOT_LINE:
      return "using 1:2 with lines lw 2";
    case SR_PLOT_DASHED:
      return "using 1:2 with lines lw 1.5 dt (8,5)";
    case SR_PLOT_POINTS:
      return "using 1:2 with points pt 7 ps 0.6";
    case SR_PLOT_LINE_POINTS:
      return "using 1:2 with linespoints lw 2 pt 7 ps 0.7";
    case SR_PLOT_BARS:
      return "using 1:2 with boxes fs solid 0.65 noborder";
    case SR_PLOT_HEAT_MAP:
      return "using 1:2:3 with image";
  }
  return "using 1:2 with lines";
}

static sr_status plot_series(sr_context *ctx, sr__text *out, const sr_plot_series *s,
                             int32_t index) {
  sr_status status = SR_OK;
  const char *colour = colours[index % COLOURS];
  SR_TRY(sr__text_print(ctx, out, "$data%d %s", index, drawing_of(s)));
  if (s->kind != SR_PLOT_HEAT_MAP) SR_TRY(sr__text_print(ctx, out, " lc rgb '%s'", colour));
  SR_TRY(sr__text_string(ctx, out, s->label ? " title " : " notitle"));
  if (s->label) SR_TRY(quoted(ctx, out, s->label));
  if (s->low && s->high && s->kind != SR_PLOT_HEAT_MAP)
    SR_TRY(sr__text_print(
        ctx, out, ", $data%d using 1:2:3:4 with yerrorbars pt 7 ps 0.5 lw 1.2 lc rgb '%s' notitle",
        index, s->kind == SR_PLOT_BARS ? "#7a8794" : colour));
cleanup:
  return status;
}

static sr_status axis_names(sr_context *ctx, sr__text *out, const sr_plot *plot) {
  sr_status status = SR_OK;
  if (!plot->x_names) return SR_OK;
  SR_TRY(sr__text_string(ctx, out, "set xtics rotate by 30 right ("));
  for (int32_t i = 0; i < plot->x_name_count; i++) {
    SR_TRY(sr__text_string(ctx, out, i ? ", " : ""));
    SR_TRY(quoted(ctx, out, plot->x_names[i]));
    SR_TRY(sr__text_print(ctx, out, " %d", i));
  }
  SR_TRY(sr__text_print(ctx, out, ")\nset xrange [-0.7:%d.7]\n", plot->x_name_count - 1));
cleanup:
  return status;
}

/* Fewer than two decades need names between the powers of ten. */
static sr_status short_log_tics(sr_context *ctx, sr__text *out, char axis, extent e) {
  sr_status status = SR_OK;
  static const int steps[] = {1, 2, 5};
  int first = (int)floor(log10(e.low)) - 1, last = (int)ceil(log10(e.high)) + 1;
  SR_TRY(sr__text_print(ctx, out, "set %ctics (", axis));
  for (int decade = first; decade <= last; decade++)
    for (int k = 0; k < 3; k++)
      SR_TRY(sr__text_print(ctx, out, "%s%de%d", decade == first && k == 0 ? "" : ",", steps[k],
                            decade));
  SR_TRY(sr__text_string(ctx, out, ")\n"));
cleanup:
  return status;
}

/* gnuplot would widen a log axis to whole decades; a quarter decade on each side is enough. */
static sr_status log_axis(sr_context *ctx, sr__text *out, const sr_plot *plot, char axis) {
  sr_status status = SR_OK;
  const double margin = 1.6;
  extent e = {INFINITY, -INFINITY};
  for (int32_t k = 0; k < plot->series_count; k++) {
    const sr_plot_series *s = &plot->series[k];
    for (int64_t i = 0; i < s->count; i++)
      if (is_shown(plot, s, i)) widen(&e, axis == 'x' ? s->x[i] : s->y[i]);
  }
  SR_TRY(sr__text_print(ctx, out, "set logscale %c\nset format %c '%%g'\n", axis, axis));
  if (!(e.low <= e.high)) goto cleanup;
  SR_TRY(sr__text_print(ctx, out, "set %crange [%.10g:%.10g]\n", axis, e.low / margin,
                        e.high * margin));
  if (e.high / e.low < 200.0) SR_TRY(short_log_tics(ctx, out, axis, e));
cleanup:
  return status;
}

static sr_status settings(sr_context *ctx, sr__text *out, const sr_plot *plot) {
  sr_status status = SR_OK;
  bool bars = false, map = false;
  for (int32_t k = 0; k < plot->series_count; k++) {
    bars = bars || plot->series[k].kind == SR_PLOT_BARS;
    map = map || plot->series[k].kind == SR_PLOT_HEAT_MAP;
  }
  SR_TRY(sr__text_string(ctx, out,
                         "set terminal svg size 680,400 dynamic noenhanced font 'sans-serif,14'\n"
                         "set grid lc rgb 'gray' dt solid lw 0.6\n"
                         "set border 3 lw 1\nset tics nomirror\nset pointintervalbox 0\n"
                         "set key top left Left reverse samplen 2 spacing 1.1\n"));
  if (map)
    SR_TRY(sr__text_string(ctx, out,
                           "set border 0\nunset grid\nset autoscale noextend\n"
                           "set palette defined (0 '#2c5fa8', 0.5 '#e9e6df', 1 '#c2502a')\n"));
  if (bars) SR_TRY(sr__text_string(ctx, out, "set boxwidth 0.7\nset style fill solid\n"));
  if (bars && !plot->log_y) SR_TRY(sr__text_string(ctx, out, "set yrange [*<0:0<*]\n"));
  if (plot->log_x) SR_TRY(log_axis(ctx, out, plot, 'x'));
  if (plot->log_y) SR_TRY(log_axis(ctx, out, plot, 'y'));
  SR_TRY(axis_names(ctx, out, plot));
  SR_TRY(setting(ctx, out, "xlabel", plot->x_label));
  SR_TRY(setting(ctx, out, "ylabel", plot->y_label));
cleanup:
  return status;
}

sr_status sr__plot_script(sr_context *ctx, const sr_plot *plot, sr__text *script) {
  sr_status status = SR_OK;
  bool *empty = NULL, any = false;
  SR_TRY(settings(ctx, script, plot));
  SR_NEW_ZERO(ctx, empty, plot->series_count);
  for (int32_t k = 0; k < plot->series_count; k++) {
    const sr_plot_series *s = &plot->series[k];
    if (s->kind == SR_PLOT_HEAT_MAP && s->count && !s->value)
      SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "a heat map needs a value at every point"));
    SR_TRY(data_block(ctx, script, plot, s, k, &empty[k]));
  }
  for (int32_t k = 0; k < plot->series_count; k++) {
    if (empty[k]) continue;
    SR_TRY(sr__text_string(ctx, script, any ? ", " : "plot "));
    SR_TRY(plot_series(ctx, script, &plot->series[k], k));
    any = true;
  }
  if (!any)
    SR_TRY(sr__fail(ctx, SR_ERROR_FORMAT, "the plot \"%s\" has no point that can be shown",
                    plot->title ? plot->title : ""));
  SR_TRY(sr__text_string(ctx, script, "\n"));
cleanup:
  sr__free(ctx, empty);
  return status;
}
