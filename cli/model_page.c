#include "model_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan_options.h"

enum { SHOWN_FEATURES = 5, SHOWN_CLASSES = 12 };

static const char *vote_name(sr_vote vote) {
  return vote == SR_VOTE_SOFT ? "soft" : vote == SR_VOTE_GATED ? "gated" : "hard";
}

/* ---- the page ----------------------------------------------------------------------------- */

static void say_plan(const cli_run *run, const sr_ensemble_view *view) {
  cli_say(run, "plan      ");
  cli_say_plan(run, view->mix[0].name, view->mix[0].parameter_count, view->mix[0].parameters);
  cli_say(run, ": %s\n", view->reason);
  if (isfinite(view->tmix))
    cli_say(run, "scale     rows are new after about %.3g rows\n", view->tmix);
}

static void say_error(const cli_run *run, const sr_evaluation *e) {
  cli_say(run, "error     honest %.4f (%g %% interval %.4f to %.4f)\n", e->honest, 100 * e->level,
          e->honest_low, e->honest_high);
  if (e->folds)
    cli_say(run, "          held out: %d %ss in %d folds, %lld rows kept free around them\n",
            e->units, sr_unit_name(e->held_out), e->folds, (long long)e->buffer);
  else
    cli_say(run,
            "          held out: each of %d %ss is judged by the members that saw nothing of it"
            " (%.0f on average)\n",
            e->units, sr_unit_name(e->held_out), e->judges);
  cli_say(run,
          "          naive  %.4f (held out: single rows, by the members that did not draw them)\n",
          e->naive);
  cli_say(run, "          always naming the most frequent class: %.4f\n", e->baseline);
}

static void say_members(const cli_run *run, const sr_evaluation *e) {
  cli_say(run,
          "members   mean pairwise covariance %.4f, variance of the margin %.4f, worth %.1f "
          "independent members\n",
          e->covariance, e->variance_of_margin, e->effective_members);
}

static void say_classes(const cli_run *run, const sr_ensemble_view *view) {
  const sr_evaluation *e = view->evaluation;
  cli_say(run, "classes   %-16s %10s %8s %10s\n", "", "rows", "error", "precision");
  for (int32_t c = 0; c < e->classes && c < SHOWN_CLASSES; c++)
    cli_say(run, "          %-16s %10lld %8.4f %10.4f\n", view->classes.names[c],
            (long long)e->by_class[c].rows, e->by_class[c].error, e->by_class[c].precision);
  if (e->classes > SHOWN_CLASSES)
    cli_say(run, "          and %d more\n", e->classes - SHOWN_CLASSES);
}

static int64_t next_important(const sr_evaluation *e, const int64_t *taken, int count) {
  int64_t best = -1;
  for (int64_t j = 0; j < e->features; j++) {
    bool used = false;
    for (int k = 0; k < count; k++) used |= taken[k] == j;
    if (!used && (best < 0 || e->importance[j] > e->importance[best])) best = j;
  }
  return best;
}

static void name_feature(const sr_ensemble_view *view, int64_t j, char *name, size_t size) {
  if (view->feature_names)
    snprintf(name, size, "%s", view->feature_names[j]);
  else
    snprintf(name, size, "feature %lld", (long long)j + 1);
}

static void say_features(const cli_run *run, const sr_ensemble_view *view) {
  const sr_evaluation *e = view->evaluation;
  int64_t taken[SHOWN_FEATURES];
  char name[64];
  if (!e->importance) return;
  cli_say(run, "features  error gained by shuffling inside %s\n",
          e->folds ? "parts (naive error)" : "parts (honest error)");
  for (int k = 0; k < SHOWN_FEATURES && k < e->features; k++) {
    taken[k] = next_important(e, taken, k);
    name_feature(view, taken[k], name, sizeof name);
    cli_say(run, "          %-24s %+.4f\n", name, e->importance[taken[k]]);
  }
}

void cli_say_model(const cli_run *run, const sr_ensemble *ensemble) {
  const sr_ensemble_view *view = sr_ensemble_get(ensemble);
  cli_say(run,
          "model     %d members (%s), %s vote, trained on %lld rows, %lld features, %d classes\n",
          view->members, view->learner_name, vote_name(view->vote), (long long)view->rows,
          (long long)view->features, view->classes.count);
  say_plan(run, view);
  if (!view->evaluation) return;
  say_error(run, view->evaluation);
  say_members(run, view->evaluation);
  say_classes(run, view);
  say_features(run, view);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *error_json(const sr_evaluation *e) {
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:s,s:i,s:i,s:I,s:I,s:I,s:o,s:o}", "honest",
                   cli_json_real(e->honest), "honest_low", cli_json_real(e->honest_low),
                   "honest_high", cli_json_real(e->honest_high), "naive", cli_json_real(e->naive),
                   "baseline", cli_json_real(e->baseline), "held_out", sr_unit_name(e->held_out),
                   "units", (int)e->units, "folds", (int)e->folds, "buffer", (json_int_t)e->buffer,
                   "honest_rows", (json_int_t)e->honest_rows, "naive_rows",
                   (json_int_t)e->naive_rows, "level", cli_json_real(e->level), "judges",
                   cli_json_real(e->judges));
}

static json_t *covariance_json(const sr_evaluation *e) {
  return json_pack("{s:o,s:o,s:o,s:o}", "mean_pairwise", cli_json_real(e->covariance),
                   "variance_of_margin", cli_json_real(e->variance_of_margin), "variance_of_member",
                   cli_json_real(e->variance_of_member), "effective_members",
                   cli_json_real(e->effective_members));
}

static json_t *classes_json(const sr_ensemble_view *view) {
  json_t *list = json_array();
  for (int32_t c = 0; c < view->classes.count; c++) {
    json_t *entry = json_pack("{s:s}", "name", view->classes.names[c]);
    if (view->evaluation) {
      const sr_class_report *report = &view->evaluation->by_class[c];
      json_object_set_new(entry, "rows", json_integer(report->rows));
      json_object_set_new(entry, "error", cli_json_real(report->error));
      json_object_set_new(entry, "precision", cli_json_real(report->precision));
    }
    json_array_append_new(list, entry);
  }
  return list;
}

static json_t *importance_json(const sr_ensemble_view *view) {
  json_t *values = json_object();
  char name[256];
  for (int64_t j = 0; j < view->evaluation->features; j++) {
    name_feature(view, j, name, sizeof name);
    json_object_set_new(values, name, cli_json_real(view->evaluation->importance[j]));
  }
  return values;
}

static json_t *candidates_json(const sr_choice *choice) {
  json_t *list = json_array();
  for (int32_t k = 0; k < choice->candidate_count; k++) {
    const sr_candidate *c = &choice->candidates[k];
    json_array_append_new(list, json_pack("{s:s,s:o,s:o,s:o,s:i,s:b}", "plan", c->plan, "error",
                                          cli_json_real(c->error), "difference",
                                          cli_json_real(c->difference), "difference_se",
                                          cli_json_real(c->difference_se), "members",
                                          (int)c->members, "chosen", k == choice->chosen));
  }
  return list;
}

json_t *cli_model_json(const sr_ensemble *ensemble) {
  const sr_ensemble_view *view = sr_ensemble_get(ensemble);
  json_t *object = json_pack("{s:o,s:i,s:s,s:s,s:I,s:I,s:s,s:o,s:o}", "plan",
                             cli_plan_json(view->mix[0].name, view->mix[0].parameter_count,
                                           view->mix[0].parameters),
                             "members", (int)view->members, "learner", view->learner_name, "vote",
                             vote_name(view->vote), "rows", (json_int_t)view->rows, "features",
                             (json_int_t)view->features, "reason", view->reason, "tmix",
                             cli_json_real(view->tmix), "classes", classes_json(view));
  if (!object) return NULL;
  if (view->target_name) json_object_set_new(object, "target", json_string(view->target_name));
  if (view->choice) json_object_set_new(object, "candidates", candidates_json(view->choice));
  if (!view->evaluation) return object;
  json_object_set_new(object, "error", error_json(view->evaluation));
  json_object_set_new(object, "covariance", covariance_json(view->evaluation));
  if (view->evaluation->importance)
    json_object_set_new(object, "importance", importance_json(view));
  return object;
}
