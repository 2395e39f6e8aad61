/* How members that are trained in steps came to where they are. */
#include <math.h>

#include "describe.h"

enum { MOST_CURVES = 12 };

static json_t *curve_json(const sr_ensemble *ensemble, int32_t member) {
  json_t *curve = json_array();
  sr_learning_look look;
  for (int64_t k = 0; sr_ensemble_look(ensemble, member, k, &look); k++)
    json_array_append_new(curve, json_pack("{s:I,s:o,s:o,s:b,s:b}", "step", (json_int_t)look.step,
                                           "training_loss", sr__json_real(look.training_loss),
                                           "held_out_loss", sr__json_real(look.held_out_loss),
                                           "kept", look.kept, "best", look.best));
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

/* ---- what members left out ------------------------------------------------------------------ */

void sr__json_add_own_judgments(const sr_ensemble *ensemble, json_t *object) {
  sr_own_judgment own;
  bool any = false;
  json_t *list = json_array();
  for (int32_t j = 0; j < sr_ensemble_get(ensemble)->members; j++) {
    bool found = sr_ensemble_own_judgment(ensemble, j, &own);
    any = any || found;
    json_array_append_new(list,
                          found ? json_pack("{s:I,s:o,s:I,s:o,s:o}", "judged",
                                            (json_int_t)own.judged, "error",
                                            sr__json_real(own.error), "sets", (json_int_t)own.sets,
                                            "penalty", sr__json_real(own.penalty), "temperature",
                                            sr__json_real(own.temperature))
                                : json_null());
  }
  if (any)
    json_object_set_new(object, "left_out", list);
  else
    json_decref(list);
}

typedef struct value_range {
  double low, high;
} value_range;

static void widen(value_range *range, double value) {
  if (!(range->low <= value)) range->low = value;
  if (!(range->high >= value)) range->high = value;
}

static void add_range(sr__description *lines, const char *name, const value_range *range) {
  if (!isfinite(range->low)) return;
  sr__description_add(lines, ", %s %.3g", name, range->low);
  if (range->high > range->low) sr__description_add(lines, " to %.3g", range->high);
}

void sr__description_add_own_judgments(sr__description *lines, const sr_ensemble *ensemble) {
  int32_t members = sr_ensemble_get(ensemble)->members, count = 0;
  bool together = true;
  double error = 0.0;
  value_range penalty = {NAN, NAN}, temperature = {NAN, NAN};
  sr_own_judgment own;
  for (int32_t j = 0; j < members; j++) {
    if (!sr_ensemble_own_judgment(ensemble, j, &own)) continue;
    count++;
    error += own.error;
    together = together && own.sets > 0;
    if (isfinite(own.penalty)) widen(&penalty, own.penalty);
    widen(&temperature, own.temperature);
  }
  if (count == 0) return;
  sr__description_add(lines, "left out  %s %.4f on rows of its bag that it left out %s",
                      members == 1 ? "the member's error" : "mean error of a member", error / count,
                      together ? "in whole sets" : "one by one");
  add_range(lines, "penalty", &penalty);
  add_range(lines, "temperature", &temperature);
  sr__description_add(lines, "\n");
}

/* ---- curves on a page ----------------------------------------------------------------------- */

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
  bool any_held = false, all_held = true, refitted = false;
  char text[320], label[MOST_CURVES][24];
  for (int32_t j = 0; j < shown; j++) looks += count_looks(ensemble, j);
  if (looks == 0) return SR_OK;
  SR_NEW(ctx, x, looks);
  SR_NEW(ctx, y, looks);
  for (int32_t j = 0; j < shown; j++) {
    sr_learning_look look;
    int64_t first = at;
    for (int64_t k = 0; sr_ensemble_look(ensemble, j, k, &look); k++, at++) {
      x[at] = (double)look.step;
      bool held = !isnan(look.held_out_loss);
      y[at] = held ? look.held_out_loss : look.training_loss;
      any_held = any_held || held;
      all_held = all_held && held;
      refitted = refitted || (look.best && !look.kept);
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
                  .y_label = all_held   ? "loss on held-out parts"
                             : any_held ? "loss on held-out parts, else on batches"
                                        : "loss on the batches of training",
                  .series_count = shown,
                  .series = series};
  snprintf(text, sizeof text, "%s%s",
           !any_held ? "Nothing was held out: each member is the net of its last step."
           : refitted
               ? "Parts that each member held out chose its step, its augmentation and its "
                 "temperature; then it was trained anew on all rows of its bag for all steps."
               : "Each member kept the net of the step at which its loss on parts that it held out "
                 "was least.",
           shown < members ? " The first twelve are shown." : "");
  SR_TRY(sr_page_heading(ctx, page, 1, "Training"));
  SR_TRY(sr_page_paragraph(ctx, page, text));
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  sr__free(ctx, x);
  sr__free(ctx, y);
  return status;
}
