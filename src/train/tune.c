/* Options of learner and plan searched by successive halving on honest folds.
 *
 * Two folds of the honest layout are put aside, with the rows near them. On the others every
 * setting gets few members; the best third gets three times as many, and so on. What wins is
 * trained on the searched rows and judged on the folds that the search never saw, beside the first
 * setting, so that it is seen what the search was worth. */
#include <math.h>
#include <stdlib.h>

#include "core/text.h"
#include "data/table.h"
#include "learner/learner.h"
#include "train.h"

enum { MOST_METHODS = 64, KEPT_SHARE = 3, ROUNDS = 3, LEAST_MEMBERS = 9, DRAWS = 50 };

struct sr_tuning {
  sr_tuning_view view;
  sr_allocator allocator;
  sr_tune_try *tried;
  int64_t room;
  char **text;
  int64_t texts, text_room;
  sr_structure *structure; /* of all rows; its warnings are shown as long as the tuning lives */
};

typedef struct method_list {
  const char *kind;
  sr_method_at at;
  int32_t count;
  sr__configuration method[MOST_METHODS];
  const char *search[MOST_METHODS];
} method_list;

typedef struct setting {
  sr__configuration plan;
  const char *plan_text, *learner_text; /* owned by the tuning */
  double error;                         /* at the last round */
} setting;

typedef struct tune_job {
  const sr_tune_options *options;
  uint64_t seed;
  sr_tuning *tuning;
  method_list plans, learners;
  setting *settings;
  int64_t setting_count, setting_room;
  sr_table *kept; /* rows that can teach, where some cannot */
  const sr_table *table;
  sr_structure *structure;
  sr_folds *folds;
  int64_t *searched, *judged; /* rows */
  int64_t searched_count, judged_count;
  sr_table *search_table, *grouped; /* grouped: groups counted anew */
  int32_t *group;
  sr__class_weights weights;
  sr_structure *search_structure;
  sr_folds *search_folds;
  sr__member_store *store; /* of tries; NULL: none */
} tune_job;

#define TUNE(kind, key, field, ...) SR_##kind##_AT(sr_tune_options, field, key, __VA_ARGS__)

static const sr_option tune_options[] = {
    TUNE(TEXT, "plans", plans, "auto,uniform,uniform-nm,routed",
         "plans to search; options that are named stay, others are tried"),
    TUNE(TEXT, "learners", learners, "tree",
         "learners to search; options that are named stay, others are tried"),
    TUNE(INTEGER, "tries", tries, "27", 1, 10000, "settings that are tried"),
    TUNE(INTEGER, "members", members, "100", 1, 1e7, "number of members of the last round"),
    TUNE(CHOICE, "vote", vote, "auto", "hard|soft|auto",
         "majority, mean probability, or soft where members are calibrated and else hard"),
    SR__CLASS_WEIGHT_OPTION(TUNE),
    TUNE(TEXT, "resume", resume, "",
         "keep the tries here as they are made: the same command goes on after an interrupt"),
    TUNE(REAL, "level", level, "0.95", 0.01, 0.999, "probability of the interval"),
    SR__STRUCTURE_OPTIONS(TUNE, structure.),
    SR__FOLDS_OPTIONS(TUNE, folds.),
    SR_OPTIONS_END};

const sr_option *sr_tune_option_list(void) { return tune_options; }

void sr_tune_options_init(sr_tune_options *options) {
  *options = (sr_tune_options){0};
  sr_options_init(tune_options, options);
}

/* ---- settings ----------------------------------------------------------------------------- */

static sr_status keep_text(sr_context *ctx, sr_tuning *t, char *text, const char **kept) {
  sr_status status = SR_OK;
  if (!text) return SR_ERROR_MEMORY;
  SR_GROW(ctx, t->text, t->text_room, t->texts + 1);
  t->text[t->texts++] = text;
  *kept = text;
  text = NULL;
cleanup:
  sr__free(ctx, text);
  return status;
}

static sr_status parse_methods(sr_context *ctx, const char *kind, sr_method_at at, const char *text,
                               bool learners, method_list *list) {
  sr_status status = SR_OK;
  const char *start[MOST_METHODS];
  size_t length[MOST_METHODS];
  char *one = NULL;
  list->kind = kind;
  list->at = at;
  int32_t found = sr_methods_split(text, MOST_METHODS, start, length);
  if (found < 1 || found > MOST_METHODS)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "a search takes 1 to %d %ss, not %d", MOST_METHODS,
                    kind, found));
  for (int32_t k = 0; k < found; k++) {
    SR_NEW(ctx, one, (int64_t)length[k] + 1);
    memcpy(one, start[k], length[k]);
    one[length[k]] = '\0';
    SR_TRY(sr__configure(ctx, kind, at, one, &list->method[list->count]));
    const sr_method *method = list->method[list->count].method;
    list->search[list->count++] =
        learners ? ((const sr__learner *)method)->search : sr__plan_search(method);
    sr__free(ctx, one);
    one = NULL;
  }
cleanup:
  sr__free(ctx, one);
  return status;
}

/* Whether "NAME:KEY=VALUE,..." gives the key. */
static bool gives_key(const char *text, const char *key, size_t length) {
  for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ','))
    if (strncmp(at + 1, key, length) == 0 && at[1 + length] == '=') return true;
  return false;
}

/* Adds a value of every key of "KEY=A|B|C,..." that the text does not give yet. */
static sr_status draw_values(sr_context *ctx, const char *search, sr__random *random,
                             sr__text *text) {
  sr_status status = SR_OK;
  while (search && *search) {
    size_t item = strcspn(search, ","), key = strcspn(search, "=");
    const char *value = search + key + 1, *end = search + item;
    int32_t values = 1;
    for (const char *c = value; c < end; c++) values += *c == '|';
    int32_t drawn = (int32_t)sr__random_below(random, (uint64_t)values);
    for (; drawn > 0; drawn--) value = strchr(value, '|') + 1;
    size_t width = 0;
    while (value + width < end && value[width] != '|') width++;
    if (!gives_key(text->bytes, search, key))
      SR_TRY(sr__text_print(ctx, text, "%c%.*s=%.*s", strchr(text->bytes, ':') ? ',' : ':',
                            (int)key, search, (int)width, value));
    search += item + (search[item] == ',');
  }
cleanup:
  return status;
}

/* A method of the list with drawn values; the first as it was named where `random` is NULL. */
static sr_status draw_method(sr_context *ctx, tune_job *job, const method_list *list,
                             sr__random *random, sr__configuration *drawn, const char **kept) {
  sr_status status = SR_OK;
  sr__text text = {0};
  char *base = NULL;
  int32_t k = random ? (int32_t)sr__random_below(random, (uint64_t)list->count) : 0;
  base = sr__configuration_text(ctx, list->method[k].method, list->method[k].options);
  if (!base) SR_TRY(SR_ERROR_MEMORY);
  SR_TRY(sr__text_string(ctx, &text, base));
  if (random) SR_TRY(draw_values(ctx, list->search[k], random, &text));
  SR_TRY(sr__configure(ctx, list->kind, list->at, text.bytes, drawn));
  SR_TRY(keep_text(ctx, job->tuning, sr__configuration_text(ctx, drawn->method, drawn->options),
                   kept));
cleanup:
  sr__free(ctx, base);
  sr__free(ctx, text.bytes);
  return status;
}

static bool is_known(const tune_job *job, const setting *one) {
  for (int64_t k = 0; k < job->setting_count; k++)
    if (strcmp(job->settings[k].plan_text, one->plan_text) == 0 &&
        strcmp(job->settings[k].learner_text, one->learner_text) == 0)
      return true;
  return false;
}

static sr_status draw_settings(sr_context *ctx, tune_job *job) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  setting one = {0};
  sr__random random;
  sr__random_init(&random, job->seed, SR_PURPOSE_TUNE, 0, 0);
  for (int64_t draws = 0;
       job->setting_count < job->options->tries && draws < DRAWS * job->options->tries; draws++) {
    sr__random *from = draws ? &random : NULL;
    sr__configuration learner = {0};
    SR_TRY(draw_method(ctx, job, &job->plans, from, &one.plan, &one.plan_text));
    status = draw_method(ctx, job, &job->learners, from, &learner, &one.learner_text);
    sr__configuration_free(&allocator, &learner);
    SR_TRY(status);
    one.error = NAN;
    if (is_known(job, &one)) {
      sr__configuration_free(&allocator, &one.plan);
      continue;
    }
    SR_GROW(ctx, job->settings, job->setting_room, job->setting_count + 1);
    job->settings[job->setting_count++] = one;
    one = (setting){0};
  }
cleanup:
  sr__configuration_free(&allocator, &one.plan);
  return status;
}

/* ---- rows that the search sees -------------------------------------------------------------- */

/* Two of eight folds, one of few: those in the middle of each half, so that no end is judged alone.
 */
static bool is_judged(int32_t fold, int32_t folds) {
  if (folds < 4) return fold == folds / 2;
  return fold == folds / 4 || fold == (3 * folds) / 4;
}

static sr_status split_rows(sr_context *ctx, tune_job *job) {
  sr_status status = SR_OK;
  const sr_folds_view *folds = sr_folds_get(job->folds);
  SR_NEW(ctx, job->searched, folds->rows);
  SR_NEW(ctx, job->judged, folds->rows);
  for (int64_t i = 0; i < folds->rows; i++) {
    bool search = true, judge = false;
    for (int32_t f = 0; f < folds->folds; f++) {
      if (!is_judged(f, folds->folds)) continue;
      search &= folds->role[f * folds->rows + i] == SR_ROLE_TRAIN;
      judge |= folds->role[f * folds->rows + i] == SR_ROLE_TEST;
    }
    if (search) job->searched[job->searched_count++] = i;
    if (judge) job->judged[job->judged_count++] = i;
  }
cleanup:
  return status;
}

/* Groups that were put aside leave no empty code behind. */
static sr_status count_groups(sr_context *ctx, tune_job *job) {
  sr_status status = SR_OK;
  sr_table_view view = *sr_table_get(job->search_table);
  const char **names = NULL;
  int32_t *code = NULL, count = 0;
  if (!view.group) return SR_OK;
  SR_NEW(ctx, names, view.groups.count);
  SR_NEW(ctx, code, view.groups.count);
  SR_NEW(ctx, job->group, view.rows);
  for (int32_t g = 0; g < view.groups.count; g++) code[g] = -1;
  for (int64_t i = 0; i < view.rows; i++) {
    int32_t g = view.group[i];
    if (g >= 0 && code[g] < 0) {
      names[count] = view.groups.names[g];
      code[g] = count++;
    }
    job->group[i] = g < 0 ? -1 : code[g];
  }
  view.group = job->group;
  view.groups = (sr_dictionary){count, names};
  SR_TRY(sr_table_new(ctx, &view, &job->grouped));
cleanup:
  sr__free(ctx, names);
  sr__free(ctx, code);
  return status;
}

static const sr_table *search_rows(const tune_job *job) {
  return job->weights.table ? job->weights.table : job->grouped ? job->grouped : job->search_table;
}

/* Files that name rows count those of the whole table's file. */
static sr_status name_searched_rows(sr_context *ctx, tune_job *job) {
  sr_status status = SR_OK;
  int32_t *rows = NULL;
  SR_NEW(ctx, rows, job->searched_count);
  for (int64_t i = 0; i < job->searched_count; i++) rows[i] = (int32_t)job->searched[i];
  SR_TRY(sr__table_name_rows(ctx, job->search_table, rows, sr_table_get(job->table)->rows));
cleanup:
  sr__free(ctx, rows);
  return status;
}

static sr_status open_search(sr_context *ctx, tune_job *job) {
  sr_status status = SR_OK;
  sr_structure_options structure = job->options->structure;
  SR_TRY(sr_structure_estimate(ctx, job->table, &structure, job->seed, &job->structure));
  SR_TRY(sr_folds_new(ctx, job->structure, &job->options->folds, job->seed, &job->folds));
  SR_TRY(split_rows(ctx, job));
  SR_TRY(sr_table_select(ctx, job->table, job->searched, job->searched_count, &job->search_table));
  SR_TRY(name_searched_rows(ctx, job));
  SR_TRY(count_groups(ctx, job));
  SR_TRY(sr__class_weights_new(ctx, job->grouped ? job->grouped : job->search_table,
                               job->options->class_weight, &job->weights));
  if (isfinite(job->structure->view.tmix)) /* of all rows: known once */
    structure.tmix = job->structure->view.tmix;
  SR_TRY(
      sr_structure_estimate(ctx, search_rows(job), &structure, job->seed, &job->search_structure));
  SR_TRY(sr_folds_new(ctx, job->search_structure, &job->options->folds, job->seed,
                      &job->search_folds));
cleanup:
  return status;
}

/* ---- one setting ---------------------------------------------------------------------------- */

/* Mean loss of the held-out rows, by the weights of their classes. */
static double mean_loss(const tune_job *job, const sr_table_view *view, const sr__judged *judged) {
  double loss = 0.0, total = 0.0;
  for (int64_t k = 0; k < judged->count; k++) {
    const double *of_class = job->weights.of_class;
    double weight = of_class ? of_class[view->label[judged->row[k]]] : 1.0;
    loss += weight * judged->loss[k];
    total += weight;
  }
  return total > 0.0 ? loss / total : NAN;
}

/* Everything that the error of a try depends on. */
static sr_status key_of_try(sr_context *ctx, const tune_job *job, const setting *one,
                            int32_t members, sr__prepared *prepared, sr__member_key *key) {
  const sr_folds_view *folds = sr_folds_get(job->search_folds);
  const sr_structure_view *structure = sr_structure_get(job->search_structure);
  const sr_parts_view *parts = structure->parts ? sr_parts_get(structure->parts) : NULL;
  const int64_t numbers[] = {members, job->options->members, job->options->vote,
                             (int64_t)job->seed};
  sr_status status = sr__prepared_use_store(ctx, prepared, one->learner_text, job->store);
  prepared->store = NULL; /* the try is kept, not its members */
  *key = prepared->key;
  sr__member_key_add(key, one->plan_text, (int64_t)strlen(one->plan_text));
  sr__member_key_add(key, numbers, sizeof numbers);
  sr__member_key_add(key, &structure->tmix, sizeof structure->tmix);
  sr__member_key_add(key, folds->role, folds->folds * folds->rows);
  if (parts) sr__member_key_add(key, parts->part, parts->nodes * (int64_t)sizeof *parts->part);
  if (job->weights.of_class)
    sr__member_key_add(key, job->weights.of_class,
                       sr_table_get(job->table)->classes.count *
                           (int64_t)sizeof *job->weights.of_class);
  return status;
}

/* The error of the setting with so many members on the folds of the search. */
static sr_status measure_setting(sr_context *ctx, const tune_job *job, const setting *one,
                                 int32_t members, const sr__prepared *prepared, double *error) {
  sr_status status = SR_OK;
  sr_allocator allocator = sr__allocator(ctx);
  sr__mix mix = {0};
  sr__trial trial = {0};
  sr__judged judged = {0};
  sr_vote vote;
  sr__choose_input choose = {.structure = job->search_structure,
                             .prepared = prepared,
                             .folds = job->search_folds,
                             .members = members,
                             .vote = sr__vote_of(prepared->learner, (sr_vote)job->options->vote),
                             .class_weight = job->weights.of_class,
                             .seed = job->seed};
  SR_TRY(sr__choose(ctx, &one->plan, &choose, &mix, &vote, &trial));
  SR_TRY(sr__try_mix(ctx, &choose, &mix, vote, &trial));
  if (sr__trial_is_empty(&trial))
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the bags of plan %s name rows and cannot be dealt on folds; leave it out",
                    one->plan_text));
  SR_TRY(sr__trial_losses(ctx, &trial, &judged));
  *error = mean_loss(job, sr_table_get(search_rows(job)), &judged);
cleanup:
  sr__judged_free(ctx, &judged);
  sr__trial_free(ctx, &trial);
  sr__mix_free(&allocator, &mix);
  return status;
}

/* The same, from the store where it is there, and else kept in it. */
static sr_status measure_or_find(sr_context *ctx, const tune_job *job, const setting *one,
                                 int32_t members, sr__prepared *prepared, double *error) {
  sr_status status = SR_OK;
  sr__bytes bytes = {.ctx = ctx};
  sr__member_key key = {0};
  const uint8_t *found = NULL;
  int64_t size = 0;
  if (job->store) {
    SR_TRY(key_of_try(ctx, job, one, members, prepared, &key));
    found = sr__member_store_find(job->store, &key, &size);
  }
  if (found) {
    sr__byte_reader reader = {ctx, found, size, 0, "the stored try", SR_OK};
    *error = sr__get_f64(&reader);
    SR_TRY(reader.status);
    goto cleanup;
  }
  SR_TRY(measure_setting(ctx, job, one, members, prepared, error));
  if (!job->store) goto cleanup;
  sr__put_f64(&bytes, *error);
  SR_TRY(bytes.status);
  SR_TRY(sr__member_store_add(ctx, job->store, &key, &bytes));
cleanup:
  sr__bytes_free(&bytes);
  return status;
}

static sr_status try_setting(sr_context *ctx, tune_job *job, setting *one, int32_t members,
                             int32_t round) {
  sr_status status = SR_OK;
  sr__prepared prepared = {0};
  sr_tuning *t = job->tuning;
  double start = sr_seconds();
  sr__fit_plans plans = {members, INT64_MAX, job->search_structure};
  SR_TRY(sr__prepare(ctx, search_rows(job), one->learner_text, &plans, &prepared));
  SR_TRY(measure_or_find(ctx, job, one, members, &prepared, &one->error));
  SR_GROW(ctx, t->tried, t->room, t->view.tried_count + 1);
  t->tried[t->view.tried_count++] = (sr_tune_try){.plan = one->plan_text,
                                                  .learner = one->learner_text,
                                                  .members = members,
                                                  .round = round,
                                                  .error = one->error,
                                                  .seconds = sr_seconds() - start};
  t->view.tried = t->tried;
cleanup:
  sr__prepared_free(ctx, &prepared);
  return status;
}

/* The better first; ties by the order in which they were drawn, which settings keep. */
static void sort_settings(tune_job *job, int64_t count) {
  for (int64_t k = 1; k < count; k++) {
    setting one = job->settings[k];
    int64_t at = k;
    for (; at > 0 && job->settings[at - 1].error > one.error; at--)
      job->settings[at] = job->settings[at - 1];
    job->settings[at] = one;
  }
}

static int32_t members_of_round(const tune_job *job, int32_t round) {
  int64_t members = job->options->members;
  for (int32_t r = round + 1; r < ROUNDS; r++) members = (members + KEPT_SHARE - 1) / KEPT_SHARE;
  if (members < LEAST_MEMBERS) members = LEAST_MEMBERS;
  return (int32_t)(members < job->options->members ? members : job->options->members);
}

static sr_status search(sr_context *ctx, tune_job *job) {
  sr_status status = SR_OK;
  int64_t alive = job->setting_count, all = 0, done = 0, left = alive;
  for (int32_t r = 0; r < ROUNDS; r++, left = (left + KEPT_SHARE - 1) / KEPT_SHARE)
    all += left * members_of_round(job, r);
  for (int32_t round = 0; round < ROUNDS; round++) {
    int32_t members = members_of_round(job, round);
    for (int64_t k = 0; k < alive; k++) {
      SR_TRY(sr__check_interrupt(ctx));
      SR_TRY(try_setting(ctx, job, &job->settings[k], members, round));
      done += members;
      sr__progress(ctx, "tune", done, all);
    }
    sort_settings(job, alive);
    alive = (alive + KEPT_SHARE - 1) / KEPT_SHARE;
  }
cleanup:
  return status;
}

/* ---- the judgment ------------------------------------------------------------------------- */

/* Trained on the searched rows, judged on those that were put aside. */
static sr_status judge_setting(sr_context *ctx, tune_job *job, const char *plan,
                               const char *learner, sr_judgment *judgment) {
  sr_status status = SR_OK;
  const sr_table_view *view = sr_table_get(job->table);
  sr_train_options options;
  sr_train_input known = {.structure = job->search_structure};
  sr_judge_options how = {.level = job->options->level};
  sr_ensemble *ensemble = NULL;
  sr_table *rows = NULL;
  int32_t *label = NULL, *vote = NULL, classes = view->classes.count;
  float *proba = NULL, *share = NULL;
  sr_train_options_init(&options);
  options.plan = plan;
  options.learner = learner;
  options.members = job->options->members;
  options.vote = job->options->vote;
  options.evaluate.evaluate = 0;
  options.evaluate.folds = job->options->folds;
  SR_TRY(sr__train_weighted(ctx, search_rows(job), &known, &options, job->weights.of_class,
                            job->seed, &ensemble));
  SR_TRY(sr_table_select(ctx, job->table, job->judged, job->judged_count, &rows));
  SR_NEW(ctx, vote, job->judged_count);
  SR_NEW(ctx, share, job->judged_count * classes);
  SR_TRY(sr_ensemble_predict(ctx, ensemble, rows, vote, share));
  SR_NEW(ctx, label, view->rows);
  SR_NEW(ctx, proba, view->rows * classes);
  for (int64_t i = 0; i < view->rows; i++) label[i] = -1;
  for (int64_t i = 0; i < view->rows * classes; i++) proba[i] = NAN;
  for (int64_t k = 0; k < job->judged_count; k++) {
    label[job->judged[k]] = vote[k];
    memcpy(proba + job->judged[k] * classes, share + k * classes, (size_t)classes * sizeof *share);
  }
  sr_predictions said = {.label = label, .proba = proba};
  SR_TRY(sr_judge(ctx, job->table, job->structure, &said, &how, judgment));
  judgment->classes = (sr_dictionary){0};
cleanup:
  sr__free(ctx, label);
  sr__free(ctx, vote);
  sr__free(ctx, proba);
  sr__free(ctx, share);
  sr_table_free(&rows);
  sr_ensemble_free(&ensemble);
  return status;
}

static sr_status judge_winner(sr_context *ctx, tune_job *job, const char *first_plan,
                              const char *first_learner) {
  sr_status status = SR_OK;
  sr_tuning_view *view = &job->tuning->view;
  view->best_plan = job->settings[0].plan_text;
  view->best_learner = job->settings[0].learner_text;
  view->first_plan = first_plan;
  view->first_learner = first_learner;
  SR_TRY(judge_setting(ctx, job, view->best_plan, view->best_learner, &view->best));
  bool same =
      strcmp(view->best_plan, first_plan) == 0 && strcmp(view->best_learner, first_learner) == 0;
  view->first = view->best;
  if (!same) SR_TRY(judge_setting(ctx, job, first_plan, first_learner, &view->first));
cleanup:
  return status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static sr_status check_options(sr_context *ctx, tune_job *job) {
  sr_status status = SR_OK;
  const sr_tune_options *o = job->options;
  SR_TRY(sr__options_check(ctx, "tune", tune_options, o));
  SR_TRY(sr__folds_options_check(ctx, &o->folds));
  SR_TRY(parse_methods(ctx, "plan", sr_train_plan_method, o->plans, false, &job->plans));
  SR_TRY(parse_methods(ctx, "learner", sr_learner_method, o->learners, true, &job->learners));
cleanup:
  return status;
}

static void methods_free(sr_context *ctx, method_list *list) {
  sr_allocator allocator = sr__allocator(ctx);
  for (int32_t k = 0; k < MOST_METHODS; k++) sr__configuration_free(&allocator, &list->method[k]);
}

static void job_free(sr_context *ctx, tune_job *job) {
  sr_allocator allocator = sr__allocator(ctx);
  for (int64_t k = 0; k < job->setting_count; k++)
    sr__configuration_free(&allocator, &job->settings[k].plan);
  methods_free(ctx, &job->plans);
  methods_free(ctx, &job->learners);
  sr__member_store_close(&job->store);
  sr_folds_free(&job->search_folds);
  sr_structure_free(&job->search_structure);
  sr__class_weights_free(ctx, &job->weights);
  sr_table_free(&job->grouped);
  sr_table_free(&job->search_table);
  sr_folds_free(&job->folds);
  sr_structure_free(&job->structure);
  sr_table_free(&job->kept);
  sr__free(ctx, job->group);
  sr__free(ctx, job->searched);
  sr__free(ctx, job->judged);
  sr__free(ctx, job->settings);
  sr_tuning_free(&job->tuning);
}

static sr_status tune(sr_context *ctx, const sr_table *table, tune_job *job) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, job->tuning, 1);
  job->tuning->allocator = sr__allocator(ctx);
  SR_TRY(check_options(ctx, job));
  SR_TRY(sr__check_target(ctx, table));
  SR_TRY(draw_settings(ctx, job));
  const char *first_plan = job->settings[0].plan_text, *first = job->settings[0].learner_text;
  SR_TRY(sr__keep_teaching_rows(ctx, table, &job->kept));
  job->table = job->kept ? job->kept : table;
  if (job->options->resume && *job->options->resume)
    SR_TRY(sr__member_store_open(ctx, job->options->resume, &job->store));
  SR_TRY(open_search(ctx, job));
  job->tuning->structure = sr__structure_share(job->structure);
  const sr_folds_view *folds = sr_folds_get(job->search_folds);
  sr_tuning_view *view = &job->tuning->view;
  view->settings = (int32_t)job->setting_count;
  view->rounds = ROUNDS;
  view->members = (int32_t)job->options->members;
  view->searched_rows = job->searched_count;
  view->judged_rows = job->judged_count;
  view->folds = folds->folds;
  view->held_out = folds->unit;
  const sr_dependence *dependence = sr_structure_get(job->structure)->dependence;
  if (dependence) {
    view->warning_count = sr_dependence_get(dependence)->warning_count;
    view->warnings = sr_dependence_get(dependence)->warnings;
  }
  SR_TRY(search(ctx, job));
  SR_TRY(judge_winner(ctx, job, first_plan, first));
cleanup:
  return status;
}

sr_status sr_tune(sr_context *ctx, const sr_table *table, const sr_tune_options *options,
                  uint64_t seed, sr_tuning **tuning) {
  sr_tune_options defaults;
  sr_tune_options_init(&defaults);
  tune_job job = {.options = options ? options : &defaults, .seed = seed};
  *tuning = NULL;
  sr_status status = tune(ctx, table, &job);
  if (status == SR_OK) {
    *tuning = job.tuning;
    job.tuning = NULL;
  }
  job_free(ctx, &job);
  return status;
}

void sr_tuning_free(sr_tuning **tuning) {
  if (!tuning || !*tuning) return;
  sr_tuning *t = *tuning;
  sr_allocator allocator = t->allocator;
  sr_structure_free(&t->structure);
  for (int64_t k = 0; k < t->texts; k++) sr__release(&allocator, t->text[k]);
  sr__release(&allocator, t->text);
  sr__release(&allocator, t->tried);
  sr__release(&allocator, t);
  *tuning = NULL;
}

const sr_tuning_view *sr_tuning_get(const sr_tuning *tuning) { return &tuning->view; }
