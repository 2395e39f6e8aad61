/* What an ensemble is, and what its votes are worth, as text and JSON. */
#include <math.h>
#include <stdlib.h>

#include "describe.h"
#include "ensemble_words.h"
#include "plan/plan.h"

enum { SHOWN_FEATURES = 5, SHOWN_CLASSES = 12, CELL = 96 };

static const char *vote_name(sr_vote vote) {
  return vote == SR_VOTE_SOFT ? "soft" : vote == SR_VOTE_GATED ? "gated" : "hard";
}

void sr__name_feature(const sr_ensemble_view *view, int64_t j, char *name, size_t size) {
  if (view->feature_names)
    snprintf(name, size, "%s", view->feature_names[j]);
  else
    snprintf(name, size, "feature %lld", (long long)j + 1);
}

/* ---- text --------------------------------------------------------------------------------- */

static void add_entry(sr__description *lines, const sr_mix_entry *entry) {
  sr__description_add(lines, "%s", entry->name);
  for (int32_t k = 0; k < entry->parameter_count; k++)
    sr__description_add(lines, "%s%s %g%s", k ? ", " : " (", entry->parameters[k].name,
                        entry->parameters[k].value, k + 1 == entry->parameter_count ? ")" : "");
}

static void add_plan_lines(sr__description *lines, const sr_ensemble_view *view) {
  sr__description_add(lines, "plan      ");
  if (view->mix_count == 1) {
    add_entry(lines, view->mix);
    sr__description_add(lines, ": %s\n", view->reason);
  } else {
    sr__description_add(lines, "a mix of %d: %s\n", view->mix_count, view->reason);
    for (int32_t k = 0; k < view->mix_count; k++) {
      sr__description_add(lines, "          weight %.3f, %d members, %.0f %% from large leaves: ",
                          view->mix[k].weight, view->mix[k].members, 100 * view->mix[k].large_leaf);
      add_entry(lines, &view->mix[k]);
      sr__description_add(lines, "\n");
    }
  }
  if (view->tmix <= 1.0)
    sr__description_add(lines, "scale     every row is new\n");
  else if (isfinite(view->tmix))
    sr__description_add(lines, "scale     rows are new after about %.9g rows\n",
                        sr__three_digits(view->tmix));
}

void sr__name_question(const sr_evaluation *e, const sr_question *q, char *text, size_t size) {
  static const char *const words[] = {"naive: new rows between these",
                                      "honest: the process elsewhere",
                                      "",
                                      "the rows that follow",
                                      "honest: new groups",
                                      "new pixels of the same fields",
                                      "new fields of the same ground",
                                      "new areas",
                                      "a new region",
                                      "where it will be used"};
  if (q->kind != SR_QUESTION_NEXT)
    snprintf(text, size, "%s", words[q->kind]);
  else if (e->next_rows > 0)
    snprintf(text, size, "the next %lld rows", (long long)e->next_rows);
  else
    snprintf(text, size, "the next %s", sr_unit_name(e->held_out));
}

void sr__print_number(double value, char *text, size_t size) {
  if (isfinite(value))
    snprintf(text, size, "%.4f", value);
  else
    snprintf(text, size, "not told");
}

void sr__print_interval(double low, double high, char *text, size_t size) {
  if (isfinite(low) && isfinite(high))
    snprintf(text, size, "%.4f to %.4f", low, high);
  else
    snprintf(text, size, "not told");
}

/* Whether what was held out are stretches of rows in order. */
static bool in_stretches(const sr_evaluation *e) {
  return e->folds > 0 && e->held_out != SR_UNIT_GROUP && e->held_out != SR_UNIT_FIELD &&
         e->held_out != SR_UNIT_AREA && e->held_out != SR_UNIT_ROW;
}

void sr__print_held_out(const sr__held_out *h, char *text, size_t size) {
  const char *unit = sr_unit_name(h->unit);
  char kept[CELL] = ", and a buffer around each", distance[40];
  sr_distance_text(h->distance, h->distance_unit, distance, sizeof distance);
  if (isfinite(h->distance)) /* on maps fields need none, areas may have none that residuals show */
    snprintf(kept, sizeof kept, h->distance > 0.0 ? ", %s kept free around each" : "", distance);
  if (!h->folds)
    snprintf(text, size, "each of %d %ss, judged by the members that saw nothing of it", h->units,
             unit);
  else if (h->unit == SR_UNIT_GROUP || h->unit == SR_UNIT_FIELD)
    snprintf(text, size, "%d whole %ss in %d folds%s", h->units, unit, h->folds,
             h->distance > 0.0 ? kept : "");
  else if (h->unit == SR_UNIT_AREA)
    snprintf(text, size, "%d compact areas%s", h->folds, kept);
  else if (h->unit == SR_UNIT_ROW)
    snprintf(text, size, "rows at random in %d folds of about %lld", h->folds,
             (long long)(h->rows / h->folds));
  else
    snprintf(text, size,
             "%d stretches of about %lld rows (%d blocks), %lld rows kept free around each",
             h->folds, (long long)(h->rows / h->folds), h->units, (long long)h->buffer);
}

void sr__print_evaluated(const sr_evaluation *e, char *text, size_t size) {
  sr__print_held_out(&(sr__held_out){e->held_out, e->units, e->folds, e->rows, e->buffer,
                                     e->buffer_distance, e->distance_unit},
                     text, size);
}

void sr__print_reach(const sr_evaluation *e, char *text, size_t size) {
  char reach[40];
  text[0] = '\0';
  if (e->distance_unit == SR_DISTANCE_NONE || !isfinite(e->reach)) return;
  sr_distance_text(e->reach, e->distance_unit, reach, sizeof reach);
  if (e->reach > 0.0)
    snprintf(text, size, "residuals are alike up to %s", reach);
  else
    snprintf(text, size, "residuals of near rows are not alike");
}

void sr__print_map_line(const sr_evaluation *e, const sr_question *q, char *text, size_t size) {
  static const char *const what[] = {"rows", "fields", "areas", "regions", "areas"};
  char away[64] = "", buffer[64] = "", next[64] = "", number[40];
  text[0] = '\0';
  if (q->kind < SR_QUESTION_PIXELS || !isfinite(q->estimate)) return;
  sr_distance_text(q->distance, e->distance_unit, number, sizeof number);
  if (isfinite(q->distance)) snprintf(away, sizeof away, ", %s away", number);
  sr_distance_text(q->buffer, e->distance_unit, number, sizeof number);
  if (q->buffer > 0.0) snprintf(buffer, sizeof buffer, " (buffer %s)", number);
  if (isfinite(q->next_low))
    snprintf(next, sizeof next, "; the next one %.4f to %.4f", q->next_low, q->next_high);
  snprintf(text, size, "%d %s held out%s%s%s%s", q->units, what[q->kind - SR_QUESTION_PIXELS],
           q->kind == SR_QUESTION_USE ? ", losses matched by distance" : "", away, buffer, next);
}

static void add_question_lines(sr__description *lines, const sr_evaluation *e) {
  char name[CELL], estimate[CELL], interval[CELL], held[2 * CELL];
  sr__description_add(lines, "error     %-32s %8s   %g %% interval\n", "", "", 100 * e->level);
  for (int32_t k = 0; k < e->question_count; k++) {
    const sr_question *q = &e->questions[k];
    sr__name_question(e, q, name, sizeof name);
    sr__print_number(q->estimate, estimate, sizeof estimate);
    sr__print_interval(q->low, q->high, interval, sizeof interval);
    sr__description_add(lines, "          %-32s %8s   %s\n", name, estimate, interval);
    sr__print_map_line(e, q, held, sizeof held);
    if (*held) sr__description_add(lines, "            %s\n", held);
    if (q->reason) sr__description_add(lines, "            %s\n", q->reason);
  }
  if (e->origin_count > 0) {
    sr__description_add(lines, "          errors from origin to origin  ");
    for (int32_t k = 0; k < e->origin_count; k++)
      sr__description_add(lines, " %.4f", e->origin_error[k]);
    sr__description_add(lines, "; their mean %.4f\n", e->forward_mean);
  }
}

#define WORTH_SAYING 0.05 /* share of the margin's variance that a remedy must take off */

void sr__print_remedy(const sr_evaluation *e, char *text, size_t size) {
  const struct {
    const char *what;
    double gain;
  } remedy[] = {{"more members", e->gain_members},
                {"smaller bags", e->gain_bags},
                {"another place for each member (half of the parts)", e->gain_place}};
  int best = 0;
  text[0] = '\0';
  if (!isfinite(e->shared_law) || !(e->variance_of_margin > 0.0)) return;
  for (int k = 1; k < 3; k++)
    if (remedy[k].gain > remedy[best].gain) best = k;
  double share[3];
  for (int k = 0; k < 3; k++) share[k] = 100.0 * remedy[k].gain / e->variance_of_margin;
  int used = snprintf(text, size,
                      "twice the members would take %.0f %% off the variance of the margin, bags "
                      "of 30 %% of the rows %.0f %%, half of the parts per member %.0f %%: ",
                      share[0], share[1], share[2]);
  if (used < 0 || (size_t)used >= size) return;
  if (remedy[best].gain > WORTH_SAYING * e->variance_of_margin)
    snprintf(text + used, size - (size_t)used, "%s would help most", remedy[best].what);
  else
    snprintf(text + used, size - (size_t)used,
             "what is left is the law that all members learn alike; another learner or other "
             "features would have to help");
}

/* What the members share, how the error falls as they join, and what would help. */
static void add_member_lines(sr__description *lines, const sr_evaluation *e) {
  char text[512];
  sr__description_add(
      lines,
      "members   mean pairwise covariance %.4f, variance of the margin %.4f, worth %.1f "
      "independent members\n",
      e->covariance, e->variance_of_margin, e->effective_members);
  for (int32_t k = 0; k < e->curve_count; k++)
    sr__description_add(lines, "%s%d", k ? ", " : "          error where ", e->curve[k].members);
  for (int32_t k = 0; k < e->curve_count; k++)
    sr__description_add(lines, "%s%.4f", k ? ", " : " vote: ", e->curve[k].error);
  if (e->curve_count) sr__description_add(lines, "\n");
  sr__print_remedy(e, text, sizeof text);
  if (*text)
    sr__description_add(lines,
                        "          of the covariance shared rows make %.4f, shared parts %.4f, the "
                        "shared law %.4f\n          %s\n",
                        e->shared_rows, e->shared_parts, e->shared_law, text);
}

static void add_error_lines(sr__description *lines, const sr_evaluation *e) {
  char text[256];
  add_question_lines(lines, e);
  sr__print_evaluated(e, text, sizeof text);
  sr__description_add(lines, "          held out: %s\n", text);
  sr__print_reach(e, text, sizeof text);
  if (*text) sr__description_add(lines, "          range: %s\n", text);
  sr__description_add(lines, "          always naming the most frequent class: %.4f\n",
                      e->baseline);
  add_member_lines(lines, e);
}

static void add_class_lines(sr__description *lines, const sr_ensemble_view *view) {
  const sr_evaluation *e = view->evaluation;
  sr__description_add(lines, "classes   %-16s %10s %8s %10s\n", "", "rows", "error", "precision");
  for (int32_t c = 0; c < e->classes && c < SHOWN_CLASSES; c++)
    sr__description_add(lines, "          %-16s %10lld %8.4f %10.4f\n", view->classes.names[c],
                        (long long)e->by_class[c].rows, e->by_class[c].error,
                        e->by_class[c].precision);
  if (e->classes > SHOWN_CLASSES)
    sr__description_add(lines, "          and %d more\n", e->classes - SHOWN_CLASSES);
}

int32_t sr__list_important(const sr_evaluation *e, int32_t most, int64_t *list) {
  int32_t count = 0;
  for (; count < most && count < e->features; count++) {
    list[count] = -1;
    for (int64_t j = 0; j < e->features; j++) {
      bool used = false;
      for (int32_t k = 0; k < count; k++) used |= list[k] == j;
      if (!used && (list[count] < 0 || e->importance[j] > e->importance[list[count]]))
        list[count] = j;
    }
  }
  return count;
}

static void add_feature_lines(sr__description *lines, const sr_ensemble_view *view) {
  const sr_evaluation *e = view->evaluation;
  int64_t list[SHOWN_FEATURES];
  char name[64];
  if (!e->importance) return;
  sr__description_add(lines, "features  error gained on held-out rows by shuffling inside parts\n");
  int32_t count = sr__list_important(e, SHOWN_FEATURES, list);
  for (int32_t k = 0; k < count; k++) {
    sr__name_feature(view, list[k], name, sizeof name);
    sr__description_add(lines, "          %-24s %+.4f\n", name, e->importance[list[k]]);
  }
}

static void add_lines(sr__description *lines, const void *object) {
  const sr_ensemble_view *view = sr_ensemble_get(object);
  sr__description_add(lines, "model     %d members (%s), %s vote, trained on %lld rows, ",
                      view->members, view->learner, vote_name(view->vote), (long long)view->rows);
  if (view->channels)
    sr__description_add(lines, "series of %d channel%s", view->channels,
                        view->channels == 1 ? "" : "s");
  else
    sr__description_add(lines, "%lld features", (long long)view->features);
  sr__description_add(lines, ", %d classes\n", view->classes.count);
  add_plan_lines(lines, view);
  sr__description_add_own_judgments(lines, object);
  if (view->evaluation) {
    add_error_lines(lines, view->evaluation);
    add_class_lines(lines, view);
    if (view->evaluation->confusion) {
      sr__description_add_metrics(lines, &view->evaluation->metrics);
      sr__description_add_confusion(lines, &view->classes, view->evaluation->confusion);
    }
    add_feature_lines(lines, view);
  }
  sr__description_add_warnings(lines, view->warning_count, view->warnings);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *gain_json(const sr_mix_gain *g) {
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b}", "plain", sr__json_real(g->plain),
                   "mix", sr__json_real(g->mix), "difference", sr__json_real(g->difference),
                   "difference_se", sr__json_real(g->difference_se), "bag_size",
                   sr__json_real(g->bag_size), "leaf_size", sr__json_real(g->leaf_size), "place",
                   sr__json_real(g->place), "offset", sr__json_real(g->offset), "score_tmix",
                   sr__json_real(g->score_tmix), "thin", g->thin);
}

static json_t *plan_json(const sr_ensemble_view *view) {
  json_t *values = json_object(), *weights = json_array();
  const sr_mix_entry *first = view->mix;
  for (int32_t k = 0; k < first->parameter_count; k++)
    json_object_set_new(values, first->parameters[k].name,
                        sr__json_real(first->parameters[k].value));
  for (int32_t k = 0; k < view->mix_count; k++)
    json_array_append_new(weights, json_pack("{s:s,s:i,s:o,s:o}", "plan", view->mix[k].plan,
                                             "members", (int)view->mix[k].members, "weight",
                                             sr__json_real(view->mix[k].weight), "large_leaf",
                                             sr__json_real(view->mix[k].large_leaf)));
  json_t *value = json_pack("{s:s,s:o,s:o}", "name", view->gain ? "auto" : first->name,
                            "parameters", values, "weights", weights);
  if (view->gain) json_object_set_new(value, "gain", gain_json(view->gain));
  if (view->offset) {
    json_t *offset = json_object();
    for (int32_t c = 0; c < view->classes.count; c++)
      json_object_set_new(offset, view->classes.names[c], sr__json_real((double)view->offset[c]));
    json_object_set_new(value, "offset", offset);
  }
  return value;
}

static json_t *question_json(const sr_question *q) {
  json_t *value = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:i,s:o}", "name", sr_question_name(q->kind),
                            "estimate", sr__json_real(q->estimate), "low", sr__json_real(q->low),
                            "high", sr__json_real(q->high), "next_low", sr__json_real(q->next_low),
                            "next_high", sr__json_real(q->next_high), "units", (int)q->units,
                            "distance", sr__json_real(q->distance));
  json_object_set_new(value, "reason", q->reason ? json_string(q->reason) : json_null());
  json_object_set_new(value, "buffer", sr__json_real(q->buffer));
  return value;
}

static json_t *error_json(const sr_evaluation *e) {
  double next_low = NAN, next_high = NAN;
  json_t *questions = json_array(), *origins = json_array(), *curve = json_array();
  for (int32_t k = 0; k < e->question_count; k++) {
    const sr_question *q = &e->questions[k];
    json_array_append_new(questions, question_json(q));
    if (q->kind != SR_QUESTION_NEXT) continue;
    next_low = q->low;
    next_high = q->high;
  }
  for (int32_t k = 0; k < e->origin_count; k++)
    json_array_append_new(origins, sr__json_real(e->origin_error[k]));
  for (int32_t k = 0; k < e->curve_count; k++)
    json_array_append_new(curve, json_pack("{s:i,s:o}", "members", (int)e->curve[k].members,
                                           "error", sr__json_real(e->curve[k].error)));
  json_t *value =
      json_pack("{s:o,s:o,s:o,s:o,s:o,s:s,s:i,s:i,s:I,s:I,s:I,s:o,s:o,s:o}", "honest",
                sr__json_real(e->honest), "honest_low", sr__json_real(e->honest_low), "honest_high",
                sr__json_real(e->honest_high), "naive", sr__json_real(e->naive), "baseline",
                sr__json_real(e->baseline), "held_out", sr_unit_name(e->held_out), "units",
                (int)e->units, "folds", (int)e->folds, "buffer", (json_int_t)e->buffer,
                "honest_rows", (json_int_t)e->honest_rows, "naive_rows", (json_int_t)e->naive_rows,
                "level", sr__json_real(e->level), "judges", sr__json_real(e->judges), "questions",
                questions);
  const struct {
    const char *key;
    double value;
  } more[] = {{"stretch_rows", in_stretches(e) ? (double)(e->rows / e->folds) : NAN},
              {"next_low", next_low},
              {"next_high", next_high},
              {"forward", e->origin_count ? e->forward : NAN},
              {"forward_low", e->origin_count ? e->forward_low : NAN},
              {"forward_high", e->origin_count ? e->forward_high : NAN},
              {"forward_mean", e->origin_count ? e->forward_mean : NAN},
              {"forward_slope", e->origin_count ? e->forward_slope : NAN},
              {"tmix_careful", e->tmix_careful},
              {"degrees", e->degrees},
              {"applicability_limit", e->applicability_limit},
              {"outside", e->outside},
              {"buffer_distance", e->buffer_distance},
              {"reach", e->reach}};
  for (size_t k = 0; k < sizeof more / sizeof *more; k++)
    json_object_set_new(value, more[k].key, sr__json_real(more[k].value));
  const char *unit = sr_distance_unit_name(e->distance_unit);
  json_object_set_new(value, "distance_unit", unit ? json_string(unit) : json_null());
  json_object_set_new(value, "next_rows", json_integer(e->next_rows));
  json_object_set_new(value, "origins", origins);
  json_object_set_new(value, "by_members", curve);
  return value;
}

static json_t *covariance_json(const sr_evaluation *e) {
  json_t *value = json_object();
  char text[512];
  const struct {
    const char *key;
    double value;
  } reals[] = {{"mean_pairwise", e->covariance},
               {"variance_of_margin", e->variance_of_margin},
               {"variance_of_member", e->variance_of_member},
               {"effective_members", e->effective_members},
               {"shared_rows", e->shared_rows},
               {"shared_parts", e->shared_parts},
               {"shared_law", e->shared_law},
               {"gain_members", e->gain_members},
               {"gain_bags", e->gain_bags},
               {"gain_place", e->gain_place}};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++)
    json_object_set_new(value, reals[k].key, sr__json_real(reals[k].value));
  sr__print_remedy(e, text, sizeof text);
  json_object_set_new(value, "remedy", *text ? json_string(text) : json_null());
  return value;
}

static json_t *classes_json(const sr_ensemble_view *view) {
  json_t *list = json_array();
  for (int32_t c = 0; c < view->classes.count; c++) {
    json_t *entry = json_pack("{s:o}", "name", sr__json_text(view->classes.names[c]));
    if (view->evaluation) {
      const sr_class_report *report = &view->evaluation->by_class[c];
      json_object_set_new(entry, "rows", json_integer(report->rows));
      json_object_set_new(entry, "error", sr__json_real(report->error));
      json_object_set_new(entry, "precision", sr__json_real(report->precision));
    }
    json_array_append_new(list, entry);
  }
  return list;
}

static json_t *importance_json(const sr_ensemble_view *view) {
  json_t *values = json_object();
  char name[256], clean[3 * sizeof name];
  for (int64_t j = 0; j < view->evaluation->features; j++) {
    sr__name_feature(view, j, name, sizeof name);
    sr_text_clean(name, true, clean, sizeof clean);
    json_object_set_new(values, clean, sr__json_real(view->evaluation->importance[j]));
  }
  return values;
}

static json_t *candidates_json(const sr_choice *choice) {
  json_t *list = json_array();
  for (int32_t k = 0; k < choice->candidate_count; k++) {
    const sr_candidate *c = &choice->candidates[k];
    json_array_append_new(list, json_pack("{s:s,s:o,s:o,s:o,s:i,s:b}", "plan", c->plan, "error",
                                          sr__json_real(c->error), "difference",
                                          sr__json_real(c->difference), "difference_se",
                                          sr__json_real(c->difference_se), "members",
                                          (int)c->members, "chosen", k == choice->chosen));
  }
  return list;
}

/* A model that was loaded knows the estimate alone. */
static json_t *scale_json(const sr_ensemble_view *view) {
  const sr_structure_view *s = view->structure ? sr_structure_get(view->structure) : NULL;
  return sr__json_scale(view->tmix, s ? s->tmix_low : NAN, s ? s->tmix_high : NAN,
                        s ? s->tmix_method : NULL);
}

static json_t *to_json(const void *object) {
  const sr_ensemble_view *view = sr_ensemble_get(object);
  json_t *value =
      json_pack("{s:o,s:i,s:s,s:s,s:I,s:I,s:s,s:o,s:o}", "plan", plan_json(view), "members",
                (int)view->members, "learner", view->learner, "vote", vote_name(view->vote), "rows",
                (json_int_t)view->rows, "features", (json_int_t)view->features, "reason",
                view->reason, "tmix", scale_json(view), "classes", classes_json(view));
  if (!value) return NULL;
  if (view->channels) json_object_set_new(value, "channels", json_integer(view->channels));
  sr__json_add_learning(object, value);
  sr__json_add_own_judgments(object, value);
  if (view->target_name) json_object_set_new(value, "target", sr__json_text(view->target_name));
  if (view->choice) json_object_set_new(value, "candidates", candidates_json(view->choice));
  if (view->evaluation) {
    json_object_set_new(value, "error", error_json(view->evaluation));
    if (view->evaluation->confusion) {
      const sr_metrics *m = &view->evaluation->metrics;
      json_object_set_new(value, "metrics", sr__json_metrics(m));
      json_object_set_new(value, "confusion",
                          sr__json_confusion(&view->classes, view->evaluation->confusion));
      json_object_set_new(value, "calibration", sr__json_calibration(m));
    }
    json_object_set_new(value, "covariance", covariance_json(view->evaluation));
    if (view->evaluation->importance)
      json_object_set_new(value, "importance", importance_json(view));
  }
  json_object_set_new(value, "warnings", sr__json_strings(view->warning_count, view->warnings));
  return value;
}

static sr_status add_to_page(sr_context *ctx, sr_page *page, const void *object) {
  return sr_page_add_ensemble(ctx, page, object);
}

sr_status sr_describe_ensemble(sr_context *ctx, const sr_ensemble *ensemble, sr_description format,
                               char **text) {
  static const sr__describer describer = {"An ensemble", add_lines, to_json, add_to_page};
  return sr__describe(ctx, &describer, ensemble, format, text);
}
