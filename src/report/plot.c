/* Plots on a page: which kind of picture draws them. */
#include "draw.h"
#include "page.h"

static sr_status check_plot(sr_context *ctx, const sr_plot *plot) {
  for (int32_t k = 0; k < plot->series_count; k++) {
    const sr_plot_series *s = &plot->series[k];
    if (s->kind == SR_PLOT_HEAT_MAP && s->count && !s->value)
      return sr__fail(ctx, SR_ERROR_ARGUMENT, "a heat map needs a value at every point");
  }
  return SR_OK;
}

static bool has_points(const sr_plot *plot) {
  for (int32_t k = 0; k < plot->series_count; k++)
    for (int64_t i = 0; i < plot->series[k].count; i++)
      if (sr__is_shown(plot, &plot->series[k], i)) return true;
  return false;
}

static sr_status draw_plot(sr_context *ctx, const sr_plot *plot, sr__text *svg) {
  sr__drawing drawing = {ctx, svg, SR_OK};
  for (int32_t k = 0; k < plot->series_count; k++) {
    if (plot->series[k].kind != SR_PLOT_HEAT_MAP) continue;
    sr__draw_map(&drawing, plot, &plot->series[k]);
    return drawing.status;
  }
  bool named = plot->x_names && plot->series[0].kind == SR_PLOT_BARS && !plot->log_y;
  if (named)
    sr__draw_named_bars(&drawing, plot);
  else
    sr__draw_chart(&drawing, plot);
  return drawing.status;
}

sr_status sr_page_add_plot(sr_context *ctx, sr_page *page, const sr_plot *plot) {
  sr_status status = SR_OK;
  sr__text svg = {0};
  SR_TRY(check_plot(ctx, plot));
  bool drawn = has_points(plot);
  if (drawn && page->renderer->draws) SR_TRY(draw_plot(ctx, plot, &svg));
  SR_TRY(page->renderer->plot(ctx, &page->body, plot->title ? plot->title : "", svg.bytes));
  page->plots += svg.bytes != NULL;
cleanup:
  sr__free(ctx, svg.bytes);
  return status;
}
