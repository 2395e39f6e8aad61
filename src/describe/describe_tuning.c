/* What a search tried and found. */
#include <math.h>

#include "describe.h"

enum { SHOWN = 12, CELL = 64, COLUMNS = 4 };

/* ---- the best tries -------------------------------------------------------------------------- */

/* Whether try k is the last of its setting. */
static bool is_last(const sr_tuning_view *v, int32_t k) {
  for (int32_t j = k + 1; j < v->tried_count; j++)
    if (strcmp(v->tried[j].plan, v->tried[k].plan) == 0 &&
        strcmp(v->tried[j].learner, v->tried[k].learner) == 0)
      return false;
  return true;
}

/* Later rounds first, then smaller errors. */
static bool is_better(const sr_tune_try *a, const sr_tune_try *b) {
  return a->round != b->round ? a->round > b->round : a->error < b->error;
}

static int32_t list_best(const sr_tuning_view *v, int32_t *list) {
  int32_t count = 0;
  for (; count < SHOWN; count++) {
    int32_t best = -1;
    for (int32_t k = 0; k < v->tried_count; k++) {
      bool used = !is_last(v, k);
      for (int32_t j = 0; j < count; j++) used |= list[j] == k;
      if (!used && (best < 0 || is_better(&v->tried[k], &v->tried[best]))) best = k;
    }
    if (best < 0) break;
    list[count] = best;
  }
  return count;
}

static bool is_first(const sr_tuning_view *v) {
  return strcmp(v->best_plan, v->first_plan) == 0 && strcmp(v->best_learner, v->first_learner) == 0;
}

/* Whether the winner is better than the first setting where the search never looked. */
static bool has_gained(const sr_tuning_view *v) { return v->best.error < v->first.error; }

/* ---- text --------------------------------------------------------------------------------- */

static void print_error(const sr_judgment *j, char *text, size_t size) {
  if (isfinite(j->low))
    snprintf(text, size, "%.4f (%.4f to %.4f)", j->error, j->low, j->high);
  else
    snprintf(text, size, "%.4f (no interval can be told)", j->error);
}

static void add_lines(sr__description *lines, const void *object) {
  const sr_tuning_view *v = sr_tuning_get(object);
  int32_t list[SHOWN], count = list_best(v, list);
  char error[CELL];
  sr__description_add(
      lines,
      "tried     %d settings in %d rounds up to %d members, on %lld rows in %d folds of %ss\n"
      "          %8s %8s  plan, learner\n",
      v->settings, v->rounds, v->members, (long long)v->searched_rows, v->folds,
      sr_unit_name(v->held_out), "error", "members");
  for (int32_t k = 0; k < count; k++) {
    const sr_tune_try *t = &v->tried[list[k]];
    sr__description_add(lines, "          %8.4f %8d  %s, %s\n", t->error, t->members, t->plan,
                        t->learner);
  }
  print_error(&v->best, error, sizeof error);
  sr__description_add(lines,
                      "best      --plan %s --learner %s\n"
                      "error     %s on %lld rows that the search never saw, %g %% interval\n",
                      v->best_plan, v->best_learner, error, (long long)v->best.rows,
                      100 * v->best.level);
  print_error(&v->first, error, sizeof error);
  if (is_first(v))
    sr__description_add(lines,
                        "          this is the first setting: nothing that was tried is "
                        "better\n");
  else
    sr__description_add(lines, "          %s by the first setting (%s, %s) on the same rows%s\n",
                        error, v->first_plan, v->first_learner,
                        has_gained(v) ? "" : ": the search gained nothing");
  sr__description_add(lines, "          always naming the most frequent class: %.4f\n",
                      v->best.baseline);
  sr__description_add_metrics(lines, &v->best.metrics);
  sr__description_add_warnings(lines, v->warning_count, v->warnings);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *try_json(const sr_tune_try *t) {
  return json_pack("{s:s,s:s,s:o,s:i,s:i,s:o}", "plan", t->plan, "learner", t->learner, "error",
                   sr__json_real(t->error), "members", (int)t->members, "round", (int)t->round,
                   "seconds", sr__json_real(t->seconds));
}

/* The keys of "NAME:KEY=VALUE,..." into an object. */
static void add_options(json_t *to, const char *text) {
  const char *at = strchr(text, ':');
  while (at) {
    const char *key = at + 1, *equals = strchr(key, '=');
    size_t length = strcspn(key, ",");
    at = key[length] ? key + length : NULL;
    if (!equals || equals >= key + length) continue;
    char name[CELL], value[CELL];
    snprintf(name, sizeof name, "%.*s", (int)(equals - key), key);
    snprintf(value, sizeof value, "%.*s", (int)(key + length - equals - 1), equals + 1);
    json_object_set_new(to, name, json_string(value));
  }
}

static json_t *error_json(const sr_judgment *j) {
  return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:i}", "honest", sr__json_real(j->error),
                   "honest_low", sr__json_real(j->low), "honest_high", sr__json_real(j->high),
                   "naive", sr__json_real(j->error), "naive_low", sr__json_real(j->naive_low),
                   "naive_high", sr__json_real(j->naive_high), "baseline",
                   sr__json_real(j->baseline), "held_out", sr_unit_name(j->unit), "units",
                   (int)j->units);
}

static json_t *to_json(const void *object) {
  const sr_tuning_view *v = sr_tuning_get(object);
  json_t *tried = json_array(), *options = json_object();
  for (int32_t k = 0; k < v->tried_count; k++) json_array_append_new(tried, try_json(&v->tried[k]));
  add_options(options, v->best_plan);
  add_options(options, v->best_learner);
  json_object_set_new(options, "members", json_integer(v->members));
  return json_pack("{s:o,s:{s:s,s:s,s:o},s:o,s:o,s:{s:s,s:s,s:o},s:i,s:i,s:I,s:I,s:i,s:o,s:o}",
                   "tried", tried, "best", "plan", v->best_plan, "learner", v->best_learner,
                   "options", options, "error", error_json(&v->best), "metrics",
                   sr__json_metrics(&v->best.metrics), "first", "plan", v->first_plan, "learner",
                   v->first_learner, "error", error_json(&v->first), "settings", (int)v->settings,
                   "rounds", (int)v->rounds, "searched_rows", (json_int_t)v->searched_rows,
                   "judged_rows", (json_int_t)v->best.rows, "folds", (int)v->folds, "level",
                   sr__json_real(v->best.level), "warnings",
                   sr__json_strings(v->warning_count, v->warnings));
}

/* ---- the page ----------------------------------------------------------------------------- */

static sr_status add_headline(sr_context *ctx, sr_page *page, const sr_tuning_view *v) {
  char text[1024], error[CELL], first[CELL];
  print_error(&v->best, error, sizeof error);
  print_error(&v->first, first, sizeof first);
  if (is_first(v))
    snprintf(text, sizeof text,
             "Nothing that was tried beats the first setting, plan %s with learner %s: error %s on "
             "rows that the search never saw.",
             v->best_plan, v->best_learner, error);
  else
    snprintf(text, sizeof text,
             "%s plan %s with learner %s won on its folds, and has the error %s on rows that the "
             "search never saw, where the first setting (%s, %s) has %s.",
             has_gained(v) ? "The search paid:" : "The search gained nothing:", v->best_plan,
             v->best_learner, error, v->first_plan, v->first_learner, first);
  return sr_page_note(ctx, page, has_gained(v) ? SR_AGREEMENT_GOOD : SR_AGREEMENT_PARTLY, text);
}

static sr_status add_table(sr_context *ctx, sr_page *page, const sr_tuning_view *v) {
  static const char *const header[COLUMNS] = {"plan", "learner", "error", "members"};
  int32_t list[SHOWN], count = list_best(v, list);
  char text[SHOWN][2][CELL];
  sr_page_cell cells[SHOWN * COLUMNS] = {0};
  for (int32_t k = 0; k < count; k++) {
    const sr_tune_try *t = &v->tried[list[k]];
    snprintf(text[k][0], CELL, "%.4f", t->error);
    snprintf(text[k][1], CELL, "%d", t->members);
    cells[COLUMNS * k] = (sr_page_cell){t->plan, k == 0 ? SR_AGREEMENT_GOOD : SR_AGREEMENT_NONE};
    cells[COLUMNS * k + 1].text = t->learner;
    cells[COLUMNS * k + 2].text = text[k][0];
    cells[COLUMNS * k + 3].text = text[k][1];
  }
  sr_page_table table = {.caption = "Settings that went furthest, on the folds of the search",
                         .columns = COLUMNS,
                         .header = header,
                         .alignment = "llrr",
                         .rows = count,
                         .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

/* Every try as a point: its members and its error. */
static sr_status add_plot(sr_context *ctx, sr_page *page, const sr_tuning_view *v) {
  sr_status status = SR_OK;
  double *x = NULL;
  SR_NEW(ctx, x, 2 * v->tried_count);
  double *y = x + v->tried_count;
  for (int32_t k = 0; k < v->tried_count; k++) {
    x[k] = v->tried[k].members;
    y[k] = v->tried[k].error;
  }
  sr_plot_series series = {.kind = SR_PLOT_POINTS, .count = v->tried_count, .x = x, .y = y};
  sr_plot plot = {.title = "Every try: members of the round and error on the folds",
                  .x_label = "members",
                  .y_label = "error",
                  .log_x = 1,
                  .series_count = 1,
                  .series = &series};
  SR_TRY(sr_page_add_plot(ctx, page, &plot));
cleanup:
  sr__free(ctx, x);
  return status;
}

sr_status sr_page_add_tuning(sr_context *ctx, sr_page *page, const sr_tuning *tuning) {
  sr_status status = SR_OK;
  const sr_tuning_view *v = sr_tuning_get(tuning);
  char text[512];
  SR_TRY(add_headline(ctx, page, v));
  for (int32_t i = 0; i < v->warning_count; i++)
    SR_TRY(sr_page_note(ctx, page, SR_AGREEMENT_PARTLY, v->warnings[i]));
  snprintf(text, sizeof text,
           "%d settings were tried in %d rounds on %lld rows, in %d folds of whole %ss; a third of "
           "them went on with three times the members. %lld other rows, and those near them, were "
           "put aside before the search began; they tell the error.",
           v->settings, v->rounds, (long long)v->searched_rows, v->folds, sr_unit_name(v->held_out),
           (long long)v->best.rows);
  SR_TRY(sr_page_paragraph(ctx, page, text));
  SR_TRY(add_table(ctx, page, v));
  SR_TRY(add_plot(ctx, page, v));
  SR_TRY(sr_page_heading(ctx, page, 1, "The winner on rows that the search never saw"));
  SR_TRY(sr_page_add_judgment(ctx, page, &v->best));
cleanup:
  return status;
}

static sr_status add_to_page(sr_context *ctx, sr_page *page, const void *object) {
  return sr_page_add_tuning(ctx, page, object);
}

sr_status sr_describe_tuning(sr_context *ctx, const sr_tuning *tuning, sr_description format,
                             char **text) {
  static const sr__describer describer = {"What the search found", add_lines, to_json, add_to_page};
  return sr__describe(ctx, &describer, tuning, format, text);
}
