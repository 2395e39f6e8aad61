/* Words, axes and legends of pictures. */
#include "draw.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "page.h"

void sr__draw_svg(sr__drawing *drawing, const char *format, ...) {
  char piece[512];
  if (drawing->status != SR_OK) return;
  va_list list;
  va_start(list, format);
  vsnprintf(piece, sizeof piece, format, list);
  va_end(list);
  drawing->status = sr__text_string(drawing->ctx, drawing->out, piece);
}

void sr__draw_text(sr__drawing *drawing, const char *text) {
  if (drawing->status == SR_OK) drawing->status = sr__html_escape(drawing->ctx, drawing->out, text);
}

void sr__draw_words(sr__drawing *drawing, double x, double y, const char *anchor,
                    const char *text) {
  sr__draw_svg(drawing, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"currentColor\">", x,
               y, anchor);
  sr__draw_text(drawing, text);
  sr__draw_svg(drawing, "</text>\n");
}

void sr__draw_tip(sr__drawing *drawing, const char *name, double x, double y) {
  sr__draw_svg(drawing, "<title>");
  if (name) sr__draw_text(drawing, name);
  sr__draw_svg(drawing, "%s%.6g, %.6g</title>", name ? ": " : "", x, y);
}

/* Letters of the usual sans-serif fonts are .55 of their size wide on average. Bytes that continue
 * a character are not counted. */
double sr__words_width(const char *text) {
  double letters = 0.0;
  for (const char *c = text; *c; c++) /* digits are wider than most letters */
    letters += *c >= '0' && *c <= '9' ? 1.16 : ((unsigned char)*c & 0xc0) != 0x80;
  return letters * 0.55 * SR__PICTURE_FONT;
}

void sr__draw_begin(sr__drawing *drawing, double height, const char *title) {
  sr__draw_svg(drawing,
               "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" font-family=\"system-ui,sans-serif\" "
               "font-size=\"%d\" aria-label=\"",
               SR__PICTURE_WIDTH, height, SR__PICTURE_FONT);
  sr__draw_text(drawing, title);
  sr__draw_svg(drawing, "\">\n");
}

const char *sr__series_color(int32_t k) {
  static const char *const colors[] = {"#3b7fc4", "#d9662b", "#2e9e6b", "#a85cc6",
                                       "#b98a14", "#d14b6f", "#2aa3b5", "#7a8794"};
  return colors[k % (int32_t)(sizeof colors / sizeof *colors)];
}

double sr__draw_legend(sr__drawing *drawing, const sr__legend_entry *entries, int32_t count,
                       double top) {
  const double swatch = 22.0, gap = 16.0, row = 20.0;
  double x = 6.0, y = top;
  bool any = false;
  for (int32_t k = 0; k < count; k++) {
    const sr__legend_entry *entry = &entries[k];
    if (!entry->name) continue;
    double width = swatch + 6.0 + sr__words_width(entry->name) + gap;
    if (any && x + width > SR__PICTURE_WIDTH) {
      x = 6.0;
      y += row;
    }
    if (entry->line)
      sr__draw_svg(drawing, "<path d=\"M%.1f %.1fh%.0f\" stroke=\"%s\" stroke-width=\"3\"%s/>", x,
                   y + 10.0, swatch, entry->color,
                   entry->dashed ? " stroke-dasharray=\"6 4\"" : "");
    else
      sr__draw_svg(drawing, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"14\" fill=\"%s\"/>",
                   x + 4.0, y + 3.0, entry->color);
    sr__draw_words(drawing, x + swatch + 6.0, y + 15.0, "start", entry->name);
    x += width;
    any = true;
  }
  return any ? y + row - top + 4.0 : 0.0;
}

/* ---- axes --------------------------------------------------------------------------------- */

sr__axis sr__axis_empty(bool log) { return (sr__axis){INFINITY, -INFINITY, 0.0, 1.0, log}; }

void sr__axis_widen(sr__axis *axis, double value) {
  if (!isfinite(value) || (axis->log && value <= 0.0)) return;
  if (value < axis->low) axis->low = value;
  if (value > axis->high) axis->high = value;
}

bool sr__axis_is_empty(const sr__axis *axis) { return !(axis->low <= axis->high); }

/* 1, 2 or 5 times a power of ten, so that about five steps make the span. */
static double round_step(double span) {
  double step = pow(10.0, floor(log10(span / 5.0)));
  double ratio = span / 5.0 / step;
  return step * (ratio > 5.0 ? 10.0 : ratio > 2.0 ? 5.0 : ratio > 1.0 ? 2.0 : 1.0);
}

void sr__axis_round(sr__axis *axis) {
  const double margin = 1.4;
  if (axis->log) {
    axis->low /= margin;
    axis->high *= margin;
    return;
  }
  if (axis->high - axis->low <= 1e-12 * fmax(fabs(axis->low), fabs(axis->high))) {
    double half = axis->low == 0.0 ? 1.0 : fabs(axis->low) / 2.0;
    axis->low -= half;
    axis->high += half;
  }
  double step = round_step(axis->high - axis->low);
  axis->low = floor(axis->low / step + 1e-9) * step;
  axis->high = ceil(axis->high / step - 1e-9) * step;
}

double sr__axis_place(const sr__axis *axis, double value) {
  double low = axis->low, high = axis->high;
  if (axis->log) {
    low = log(low);
    high = log(high);
    value = log(value);
  }
  return axis->from + (axis->to - axis->from) * (value - low) / (high - low);
}

static int log_ticks(const sr__axis *axis, double *tick) {
  static const int multiples[] = {1, 2, 5};
  int count = 0;
  int first = (int)floor(log10(axis->low)), last = (int)ceil(log10(axis->high));
  int every = 1 + (last - first) / 8, names = axis->high / axis->low < 200.0 ? 3 : 1;
  for (int decade = first; decade <= last && count < SR__MOST_TICKS; decade += every) {
    for (int k = 0; k < names && count < SR__MOST_TICKS; k++) {
      double value = multiples[k] * pow(10.0, decade);
      if (value >= axis->low && value <= axis->high) tick[count++] = value;
    }
  }
  return count;
}

int sr__axis_ticks(const sr__axis *axis, double *tick) {
  if (axis->log) return log_ticks(axis, tick);
  int count = 0;
  double step = round_step(axis->high - axis->low);
  double first = ceil(axis->low / step - 1e-9);
  for (int k = 0; k < SR__MOST_TICKS; k++) {
    double value = (first + k) * step;
    if (value > axis->high + 1e-9 * step) break;
    tick[count++] = fabs(value) < 1e-9 * step ? 0.0 : value;
  }
  return count;
}
