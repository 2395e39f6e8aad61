/* How members that are trained in steps came to where they are. */
#include <math.h>

#include "describe.h"

enum { MOST_CURVES = 12 };

static json_t *curve_json(const sr_ensemble *ensemble, int32_t member) {
  json_t *curve = json_array();
  sr_learning_look look;
  for (int64_t k = 0; sr_ensemble_look(ensemble, member, k, &look); k++)
    json_array_append_new(curve, json_pack("{s:I,s:o,s:o,s:b}", "step", (json_int_t)look.step,
                                           "training_loss", sr__json_real(look.training_loss),
                                           "held_out_loss", sr__json_real(look.held_out_loss),
                                           "kept", look.kept));
  return curve;
}

void sr__json_add_learning(const sr_ensemble *ensemble, json_t *object) {
  sr_learning_look look;
  if (!sr_ensemble_look(ensemble, 0, 0, &look)) return;
  json_t *curves = json_array();
  for (int32_t j = 0; j < sr_ensemble_get(ensemble)->members; j++)
    json_array_append_new(curves, curve_json(ensemble, j));
  json_object_set_new(object, "learning", curves);
}

static int64_t count_looks(const sr_ensemble *ensemble, int32_t member) {
  sr_learning_look look;
  int64_t count = 0;
  while (sr_ensemble_look(ensemble, member, count, &look)) count++;
  return count;
}

sr_status sr__page_add_learning(sr_context *ctx, sr_page *page, const sr_ensemble *ensemble) {
  sr_status status = SR_OK;
  int32_t members = sr_ensemble_get(ensemble)->members;
  int32_t shown = members < MOST_CURVES ? members : MOST_CURVES;
  sr_plot_series series[MOST_CURVES] = {{0}};
  double *x = NULL, *y = NULL;
  int64_t looks = 0, at = 0;
  char text[256], label[MOST_CURVES][24];
  for (int32_t j = 0; j < shown; j++) looks += count_looks(ensemble, j);
  if (looks == 0) return SR_OK;
  SR_NEW(ctx, x, looks);
  SR_NEW(ctx, y, looks);
  for (int32_t j = 0; j < shown; j++) {
    sr_learning_look look;
    int64_t first = at;
    for (int64_t k = 0; sr_ensemble_look(ensemble, j, k, &look); k++, at++) {
      x[at] = (double)look.step;
      y[at] = isnan(look.held_out_loss) ? look.training_loss : look.held_out_loss;
    }
    snprintf(label[j], sizeof label[j], "member %d", j + 1);
    series[j] = (sr_plot_series){.label = label[j],
                                 .kind = SR_PLOT_LINE,
                                 .count = at - first,
                                 .x = x + first,
                                 .y = y + first};
  }
  sr_plot plot = {.title = "Loss while members were trained",
                  .x_label = "step",
                  .y_label = "loss on held-out parts",
                  .series_count = shown,
                  .series = series};
  snprintf(text, sizeof text,
           "Each member kept the net of the step at which its loss on parts that it held out was "
           "least%s.",
           shown < members ? "; the first twelve are shown" : "");
  SR_TRY(sr_page_heading(ctx, page, 1, "Training"));
  SR_TRY(sr_page_paragraph(ctx, page, text));
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  sr__free(ctx, x);
  sr__free(ctx, y);
  return status;
}
