/* Critical-difference diagrams: a rank axis, a stem per method, bars over groups. */
#include <math.h>

#include "draw.h"
#include "page.h"

enum {
  WIDTH = SR__PICTURE_WIDTH,
  NARROWEST = 150, /* room for the names on one side; the rest is the axis */
  WIDEST = 205,
  GAP = 16, /* between axis and names */
  AXIS = 40,
  LINE_HEIGHT = 22,
  FIRST_LABEL = 92
};

typedef struct ranking {
  int32_t count;
  const char *const *names;
  const double *ranks;
  int32_t *order; /* methods from best to worst */
  double difference;
  double left, right; /* ends of the axis */
} ranking;

static void sort_by_rank(ranking *r) {
  for (int32_t i = 0; i < r->count; i++) {
    int32_t place = i;
    for (; place > 0 && r->ranks[r->order[place - 1]] > r->ranks[i]; place--)
      r->order[place] = r->order[place - 1];
    r->order[place] = i;
  }
}

static double position(const ranking *r, double rank) {
  double share = r->count > 1 ? (rank - 1.0) / (double)(r->count - 1) : 0.5;
  return r->left + share * (r->right - r->left);
}

typedef struct point {
  double x, y;
} point;

static sr_status segment(sr_context *ctx, sr__text *out, point from, point to, double width) {
  return sr__text_print(
      ctx, out,
      "<path d=\"M%.1f,%.1f L%.1f,%.1f\" stroke=\"currentColor\" stroke-width=\"%.1f\"/>\n", from.x,
      from.y, to.x, to.y, width);
}

static double label_width(const char *name, double rank) {
  char number[32] = "";
  if (isfinite(rank)) snprintf(number, sizeof number, " (%.2f)", rank);
  return sr__words_width(name) + sr__words_width(number);
}

/* Words that are longer than their side of the picture are set narrower. */
static sr_status label(sr_context *ctx, sr__text *out, point at, const char *anchor,
                       const char *text, double rank) {
  sr_status status = SR_OK;
  SR_TRY(sr__text_print(ctx, out,
                        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"currentColor\"",
                        at.x, at.y, anchor));
  if (label_width(text, rank) > WIDEST - GAP)
    SR_TRY(sr__text_print(ctx, out, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"",
                          WIDEST - GAP - 4));
  SR_TRY(sr__text_string(ctx, out, ">"));
  SR_TRY(sr__html_escape(ctx, out, text));
  if (isfinite(rank)) SR_TRY(sr__text_print(ctx, out, " (%.2f)", rank));
  SR_TRY(sr__text_string(ctx, out, "</text>\n"));
cleanup:
  return status;
}

/* The axis takes what the names on both sides leave. */
static void place_axis(ranking *r) {
  int32_t half = (r->count + 1) / 2;
  double room[2] = {NARROWEST, NARROWEST};
  for (int32_t i = 0; i < r->count; i++) {
    double needed = label_width(r->names[r->order[i]], r->ranks[r->order[i]]) + GAP;
    double *side = &room[i >= half];
    *side = fmin(fmax(*side, needed), WIDEST);
  }
  r->left = room[0];
  r->right = WIDTH - room[1];
}

static sr_status axis(sr_context *ctx, sr__text *out, const ranking *r) {
  sr_status status = SR_OK;
  SR_TRY(segment(ctx, out, (point){r->left, AXIS}, (point){r->right, AXIS}, 1.5));
  int32_t every = (int32_t)ceil(sr__words_width("10 ") / (position(r, 2) - position(r, 1)));
  for (int32_t k = 1; k <= r->count; k++) {
    char text[16];
    snprintf(text, sizeof text, "%d", k);
    SR_TRY(
        segment(ctx, out, (point){position(r, k), AXIS - 5}, (point){position(r, k), AXIS}, 1.0));
    if ((k - 1) % every == 0)
      SR_TRY(label(ctx, out, (point){position(r, k), AXIS - 10}, "middle", text, NAN));
  }
cleanup:
  return status;
}

/* The better half is named on the left, the other on the right, so that stems do not cross. */
static sr_status stems(sr_context *ctx, sr__text *out, const ranking *r) {
  sr_status status = SR_OK;
  int32_t half = (r->count + 1) / 2;
  for (int32_t i = 0; i < r->count; i++) {
    int32_t method = r->order[i];
    bool left = i < half;
    double x = position(r, r->ranks[method]);
    double y = FIRST_LABEL + LINE_HEIGHT * (double)(left ? i : r->count - 1 - i);
    double end = left ? r->left - GAP + 4 : r->right + GAP - 4;
    SR_TRY(segment(ctx, out, (point){x, AXIS}, (point){x, y}, 1.0));
    SR_TRY(segment(ctx, out, (point){x, y}, (point){end, y}, 1.0));
    SR_TRY(label(ctx, out, (point){left ? end - 4 : end + 4, y + 4.5}, left ? "end" : "start",
                 r->names[method], r->ranks[method]));
  }
cleanup:
  return status;
}

/* Maximal runs in rank order whose ends differ by less than the critical difference. */
static sr_status cliques(sr_context *ctx, sr__text *out, const ranking *r) {
  sr_status status = SR_OK;
  int32_t reached = 0, drawn = 0;
  for (int32_t i = 0; i < r->count; i++) {
    int32_t last = i;
    while (last + 1 < r->count &&
           r->ranks[r->order[last + 1]] - r->ranks[r->order[i]] < r->difference)
      last++;
    if (last <= reached || last == i) continue;
    double y = AXIS + 10 + 7.0 * (double)(drawn++ % 5);
    SR_TRY(segment(ctx, out, (point){position(r, r->ranks[r->order[i]]) - 4, y},
                   (point){position(r, r->ranks[r->order[last]]) + 4, y}, 4.0));
    reached = last;
  }
cleanup:
  return status;
}

static sr_status diagram(sr_context *ctx, sr__text *out, const ranking *r) {
  sr_status status = SR_OK;
  int32_t half = (r->count + 1) / 2;
  int32_t height = FIRST_LABEL + LINE_HEIGHT * half + 26;
  char text[64];
  sr__drawing opened = {ctx, out, SR_OK};
  sr__draw_begin(&opened, height, "Average ranks, 1 is best; bars join what cannot be told apart");
  SR_TRY(opened.status);
  SR_TRY(axis(ctx, out, r));
  SR_TRY(stems(ctx, out, r));
  SR_TRY(cliques(ctx, out, r));
  snprintf(text, sizeof text, "critical difference %.3f", r->difference);
  SR_TRY(label(ctx, out, (point){WIDTH / 2.0, height - 8.0}, "middle", text, NAN));
  SR_TRY(sr__text_string(ctx, out, "</svg>\n"));
cleanup:
  return status;
}

sr_status sr_page_add_ranks(sr_context *ctx, sr_page *page, const char *title, int32_t count,
                            const char *const *names, const double *ranks,
                            double critical_difference) {
  sr_status status = SR_OK;
  ranking r = {.count = count, .names = names, .ranks = ranks, .difference = critical_difference};
  sr__text svg = {0};
  if (count < 2)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "a ranking needs two methods at least, not %d", count));
  SR_NEW(ctx, r.order, count);
  sort_by_rank(&r);
  place_axis(&r);
  SR_TRY(diagram(ctx, &svg, &r));
  SR_TRY(page->renderer->plot(ctx, &page->body, title, svg.bytes));
  page->plots += page->renderer->draws;
cleanup:
  sr__free(ctx, r.order);
  sr__free(ctx, svg.bytes);
  return status;
}
