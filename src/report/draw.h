/* Drawing SVG: a writer that remembers its first failure, and axes. Internal.
 *
 * Pictures carry their own colors and no style: lines and words take the color of the text around
 * them, so that one picture serves light and dark pages. */
#ifndef SR_REPORT_DRAW_H
#define SR_REPORT_DRAW_H

#include <specroute/report.h>

#include "core/text.h"

enum { SR__PICTURE_WIDTH = 520, SR__PICTURE_FONT = 14 };

typedef struct sr__drawing {
  sr_context *ctx;
  sr__text *out;
  sr_status status;
} sr__drawing;

void sr__draw_svg(sr__drawing *drawing, const char *format, ...) SR_PRINTF(2, 3);
/* The text with what is markup in SVG escaped. */
void sr__draw_text(sr__drawing *drawing, const char *text);
/* Words at (x, y); anchor: "start", "middle" or "end". */
void sr__draw_words(sr__drawing *drawing, double x, double y, const char *anchor, const char *text);
/* The name that a pointer resting on the shape shows; goes inside the shape's element. */
void sr__draw_tip(sr__drawing *drawing, const char *name, double x, double y);
/* About how wide the words will be. */
double sr__words_width(const char *text);
/* Opens a picture of the given height that says `title` to those who cannot see it. */
void sr__draw_begin(sr__drawing *drawing, double height, const char *title);

/* An axis maps [low, high] to pixels [from, to]. */
typedef struct sr__axis {
  double low, high;
  double from, to;
  bool log;
} sr__axis;

/* {+inf, -inf}: nothing seen yet. */
sr__axis sr__axis_empty(bool log);
void sr__axis_widen(sr__axis *axis, double value);
bool sr__axis_is_empty(const sr__axis *axis);
/* Moves the ends outwards to round numbers, or a little beyond the data on a log axis. */
void sr__axis_round(sr__axis *axis);
double sr__axis_place(const sr__axis *axis, double value);

enum { SR__MOST_TICKS = 24 };
/* Round values inside the axis; gives how many. */
int sr__axis_ticks(const sr__axis *axis, double *tick);

/* Color of series k, readable on light and dark paper. */
const char *sr__series_color(int32_t k);

/* A legend of `count` names in rows from `top` on; `dashed` (may be NULL) says whose line is.
 * Entries without a name are left out. Gives the height that it took. */
typedef struct sr__legend_entry {
  const char *name, *color;
  bool dashed, line;
} sr__legend_entry;
double sr__draw_legend(sr__drawing *drawing, const sr__legend_entry *entries, int32_t count,
                       double top);

/* Whether point i of the series can be shown on the plot's axes. */
bool sr__is_shown(const sr_plot *plot, const sr_plot_series *series, int64_t i);

/* The kinds of picture. */
void sr__draw_named_bars(sr__drawing *drawing, const sr_plot *plot);
void sr__draw_map(sr__drawing *drawing, const sr_plot *plot, const sr_plot_series *series);
void sr__draw_chart(sr__drawing *drawing, const sr_plot *plot);

typedef struct sr__picture {
  int32_t width, height;
  const uint8_t *pixel; /* width x height indices into the palette; 0 is transparent */
  int32_t colors;
  const uint8_t *palette; /* r, g, b each */
} sr__picture;

/* The picture as the address "data:image/png;base64,...". */
SR_MUST_CHECK sr_status sr__png_address(sr_context *ctx, const sr__picture *picture, sr__text *out);

#endif
