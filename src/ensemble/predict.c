/* Votes of all members on new rows, in chunks of rows. */
#include "applicability.h"
#include "data/match_columns.h"
#include "ensemble.h"

enum {
  PREDICT_CHUNK = 16384, /* rows and their binned form stay in the cache; a tree is read for many */
  PANEL = 8              /* members that are asked together */
};

typedef struct predict_job {
  const sr_ensemble *ensemble;
  sr_vote rule;
  const sr_table *table;
  const sr_table_view *view;
  int64_t chunk;
  int32_t *label;
  float *proba;
  float *outside; /* 1 where a row is outside the area of applicability; NULL: not asked for */
  int32_t *votes; /* members x rows; NULL: not asked for */
  sr__rows_done rows_done;
  atomic_int_fast64_t done;
} predict_job;

/* A chunk of rows and what is made of it. */
typedef struct predict_scratch {
  int64_t first, count;
  sr__encoded *rows;
  sr__arena arena;
  sr__member_votes votes;
  float *tally;
  float *nearness; /* votes weighted by parts only */
  uint8_t *panel;  /* PANEL x rows: votes of several members; NULL: they are asked one by one */
} predict_scratch;

static sr_status scratch_init(sr_context *ctx, const predict_job *job, predict_scratch *s) {
  const sr_ensemble *e = job->ensemble;
  int64_t count = s->count;
  int32_t classes = e->view.classes.count;
  s->votes = (sr__member_votes){.learner = e->learner,
                                .encoder = e->encoder,
                                .rule = job->rule,
                                .classes = classes};
  s->tally = sr__arena_alloc(ctx, &s->arena, count * classes, sizeof(float));
  s->votes.vote = sr__arena_alloc(ctx, &s->arena, count, sizeof(int32_t));
  if (!s->tally || !s->votes.vote) return SR_ERROR_MEMORY;
  if (job->rule == SR_VOTE_SOFT) {
    s->votes.proba = sr__arena_alloc(ctx, &s->arena, count * classes, sizeof(float));
    if (!s->votes.proba) return SR_ERROR_MEMORY;
  }
  if (job->rule == SR_VOTE_GATED) {
    s->nearness = sr__arena_alloc(ctx, &s->arena, count * e->part_weights.parts, sizeof(float));
    if (!s->nearness) return SR_ERROR_MEMORY;
  }
  if (job->rule != SR_VOTE_SOFT && e->learner->predict_votes && classes <= UINT8_MAX + 1) {
    s->panel = sr__arena_alloc(ctx, &s->arena, PANEL * count, 1);
    if (!s->panel) return SR_ERROR_MEMORY;
  }
  memset(s->tally, 0, (size_t)(count * classes) * sizeof(float));
  return SR_OK;
}

static void write_result(const predict_job *job, predict_scratch *s) {
  int32_t classes = s->votes.classes;
  for (int64_t i = 0; i < s->count; i++) {
    float *tally = s->tally + i * classes;
    int32_t winner = sr__tally_settle(tally, classes, job->ensemble->offset);
    if (job->label) job->label[s->first + i] = winner;
    if (job->proba)
      memcpy(job->proba + (s->first + i) * classes, tally, (size_t)classes * sizeof *tally);
  }
}

static void add_weighted(const sr_ensemble *e, int32_t member, predict_scratch *s) {
  if (!s->nearness && s->votes.rule == SR_VOTE_SOFT) { /* one weight for all rows */
    float weight = e->weight[member], *restrict tally = s->tally;
    const float *restrict proba = s->votes.proba;
    for (int64_t k = 0; k < s->count * s->votes.classes; k++) tally[k] += weight * proba[k];
    return;
  }
  for (int64_t i = 0; i < s->count; i++) {
    float weight = e->weight ? e->weight[member] : 1.0f;
    if (s->nearness)
      weight *= sr__part_weight(&e->part_weights, member, s->nearness + i * e->part_weights.parts);
    sr__vote_add(&s->votes, i, weight, s->tally + i * s->votes.classes);
  }
}

/* Every member weighs 1. */
static void add_plain(predict_scratch *s) {
  int32_t classes = s->votes.classes;
  if (s->votes.rule == SR_VOTE_SOFT)
    for (int64_t k = 0; k < s->count * classes; k++) s->tally[k] += s->votes.proba[k];
  else
    for (int64_t i = 0; i < s->count; i++) s->tally[i * classes + s->votes.vote[i]] += 1.0f;
}

static void add_member(const sr_ensemble *e, int32_t member, predict_scratch *s) {
  if (s->nearness || e->weight)
    add_weighted(e, member, s);
  else
    add_plain(s);
}

/* Votes of a panel whose members weigh 1. Of two classes they are added up as bytes before. */
static void add_panel(int32_t members, predict_scratch *s) {
  int64_t count = s->count;
  int32_t classes = s->votes.classes;
  uint8_t *restrict sum = s->panel;
  if (classes != 2) {
    for (int32_t j = 0; j < members; j++)
      for (int64_t i = 0; i < count; i++) s->tally[i * classes + s->panel[j * count + i]] += 1.0f;
    return;
  }
  for (int32_t j = 1; j < members; j++) {
    const uint8_t *restrict vote = s->panel + j * count;
    for (int64_t i = 0; i < count; i++) sum[i] = (uint8_t)(sum[i] + vote[i]);
  }
  for (int64_t i = 0; i < count; i++) {
    s->tally[2 * i] += (float)(members - sum[i]);
    s->tally[2 * i + 1] += (float)sum[i];
  }
}

/* Where the votes of a member go. */
static void place_votes(const predict_job *job, int32_t member, predict_scratch *s) {
  if (job->votes) s->votes.vote = job->votes + member * job->view->rows + s->first;
}

static sr_status ask_one(sr_context *ctx, const predict_job *job, int32_t member,
                         predict_scratch *s) {
  const sr_ensemble *e = job->ensemble;
  place_votes(job, member, s);
  sr_status status = sr__ask_member(ctx, &s->votes, e->member[member], s->rows, NULL, s->count);
  if (status == SR_OK && !job->votes) add_member(e, member, s);
  return status;
}

static sr_status ask_panel(sr_context *ctx, const predict_job *job, int32_t first, int32_t members,
                           predict_scratch *s) {
  const sr_ensemble *e = job->ensemble;
  sr__panel panel = {e->member + first, members};
  sr_status status = e->learner->predict_votes(ctx, e->encoder, panel, s->rows, s->panel);
  if (status != SR_OK) return status;
  if (!job->votes && !s->nearness && !e->weight) {
    add_panel(members, s);
    return SR_OK;
  }
  for (int32_t j = 0; j < members; j++) {
    place_votes(job, first + j, s);
    for (int64_t i = 0; i < s->count; i++) s->votes.vote[i] = s->panel[j * s->count + i];
    if (!job->votes) add_member(e, first + j, s);
  }
  return SR_OK;
}

static sr_status ask_members(sr_context *ctx, const predict_job *job, predict_scratch *s) {
  sr_status status = SR_OK;
  int32_t members = job->ensemble->view.members;
  for (int32_t j = 0; !s->panel && j < members; j++) SR_TRY(ask_one(ctx, job, j, s));
  for (int32_t j = 0; s->panel && j < members; j += PANEL)
    SR_TRY(ask_panel(ctx, job, j, members - j < PANEL ? members - j : PANEL, s));
cleanup:
  return status;
}

static sr_status predict_chunk(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  predict_job *job = data;
  const sr_ensemble *e = job->ensemble;
  sr_status status = SR_OK;
  int64_t first = item * job->chunk, left = job->view->rows - first;
  int64_t count = left < job->chunk ? left : job->chunk;
  predict_scratch s = {.first = first, .count = count};
  SR_TRY(scratch_init(ctx, job, &s));
  SR_TRY(e->learner->encode(ctx, e->encoder, job->table, first, count, &s.rows));
  if (s.nearness) sr__part_nearness(&e->part_weights, job->view, first, count, NULL, s.nearness);
  SR_TRY(ask_members(ctx, job, &s));
  write_result(job, &s);
  if (job->outside)
    SR_TRY(sr__applicability_ask(ctx, e->evaluation.applicability, job->view, first, count,
                                 job->outside + first));
  sr__progress(ctx, "predict",
               job->rows_done.before + (atomic_fetch_add(&job->done, 1) + 1) * job->chunk,
               job->rows_done.total ? job->rows_done.total : job->view->rows);
cleanup:
  e->learner->free_encoded(s.rows);
  sr__arena_free(ctx, &s.arena);
  return status;
}

/* Bands of another scene are known by their place alone: said once. */
static sr_status tell_position(sr_context *ctx, const predict_job *job, const sr_table *table) {
  const sr_table_view *own = sr_table_get(job->ensemble->schema), *view = sr_table_get(table);
  bool by_position = false;
  if (job->rows_done.silent) return SR_OK;
  sr_status status = sr__match_by_position(ctx, own, view, &by_position);
  if (status == SR_OK && by_position)
    sr__log(ctx, SR_LOG_INFO, "columns are taken by their position: '%s' as '%s'%s",
            view->feature_names[0], own->feature_names[0], view->features > 1 ? " and so on" : "");
  return status;
}

static sr_status predict_all(sr_context *ctx, const sr_table *table, predict_job *job) {
  sr_status status = SR_OK;
  sr_table *owned = NULL;
  atomic_init(&job->done, 0);
  SR_TRY(tell_position(ctx, job, table));
  SR_TRY(sr__match_columns(ctx, sr_table_get(job->ensemble->schema), table, &job->table, &owned));
  job->view = sr_table_get(job->table);
  job->chunk = sr__chunk_size(job->view->rows, PREDICT_CHUNK);
  SR_TRY(
      sr__parallel_for(ctx, sr__chunk_count(job->view->rows, PREDICT_CHUNK), predict_chunk, job));
cleanup:
  sr_table_free(&owned);
  return status;
}

sr_status sr_ensemble_predict(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                              int32_t *label, float *proba) {
  predict_job job = {.ensemble = ensemble,
                     .rule = ensemble->view.vote,
                     .label = label,
                     .proba = proba};
  return predict_all(ctx, table, &job);
}

sr_status sr_ensemble_predict_view(sr_context *ctx, const sr_ensemble *ensemble,
                                   const sr_table_view *rows, int32_t *label, float *proba) {
  sr_table *table = NULL;
  sr_status status = sr_table_wrap(ctx, rows, &table);
  if (status == SR_OK) status = sr_ensemble_predict(ctx, ensemble, table, label, proba);
  sr_table_free(&table);
  return status;
}

/* Votes are the members' classes under any rule. */
sr_status sr_ensemble_votes(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                            int32_t *votes) {
  predict_job job = {.ensemble = ensemble, .rule = SR_VOTE_HARD, .votes = votes};
  return predict_all(ctx, table, &job);
}

/* ---- predictions as a table --------------------------------------------------------------- */

/* One column per class, then the uncertainty, whichever are asked for; the column of rows that are
 * outside is filled by the votes. */
static void fill_columns(const float *proba, int64_t rows, int64_t classes,
                         const sr_predict_options *o, float *column) {
  for (int64_t c = 0; o->proba && c < classes; c++, column += rows)
    for (int64_t i = 0; i < rows; i++) column[i] = proba[i * classes + c];
  for (int64_t i = 0; o->uncertainty && i < rows; i++) {
    float largest = 0.0f;
    for (int64_t c = 0; c < classes; c++)
      if (proba[i * classes + c] > largest) largest = proba[i * classes + c];
    column[i] = 1.0f - largest;
  }
}

sr_status sr__name_shares(sr_context *ctx, const sr_dictionary *classes, sr__arena *arena,
                          const char **name) {
  for (int32_t c = 0; c < classes->count; c++) {
    size_t length = strlen(classes->names[c]) + sizeof "p_";
    char *text = sr__arena_alloc(ctx, arena, (int64_t)length, 1);
    if (!text) return SR_ERROR_MEMORY;
    snprintf(text, length, "p_%s", classes->names[c]);
    name[c] = text;
  }
  return SR_OK;
}

static const sr_option predict_options[] = {
    SR_FLAG(sr_predict_options, proba, "no", "also write each class's share of the vote"),
    SR_FLAG(sr_predict_options, uncertainty, "no", "also write 1 - the largest share of the vote"),
    SR_FLAG(sr_predict_options, outside, "no",
            "also write 1 where a row is unlike those of training (maps: area of applicability), "
            "else 0"),
    SR_INTEGER(sr_predict_options, along, "0", 0, 1e12,
               "series: the answer after every so many samples, as if they were still coming in "
               "(mamba); 0 is one answer"),
    SR_INTEGER(sr_predict_options, tile, "0", 0, 1e12,
               "rasters: cells in memory at once, which the map does not depend on; 0 is about "
               "256 MB"),
    SR_OPTIONS_END};

const sr_option *sr_predict_option_list(void) { return predict_options; }

void sr_predict_options_init(sr_predict_options *options) {
  sr_options_init(predict_options, options);
}

sr_status sr__predict_options_check(sr_context *ctx, const sr_predict_options *options) {
  if (options->along > 0 && options->outside)
    return sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "what lies outside is told of whole series, not along them: leave one out");
  return sr__options_check(ctx, "predict", predict_options, options);
}

sr_status sr_ensemble_predict_table(sr_context *ctx, const sr_ensemble *ensemble,
                                    const sr_table *table, const sr_predict_options *options,
                                    sr_table **predictions) {
  sr_predict_options defaults;
  sr_predict_options_init(&defaults);
  if (!options) options = &defaults;
  *predictions = NULL;
  sr_status status = sr__predict_options_check(ctx, options);
  if (status != SR_OK) return status;
  return options->along > 0
             ? sr__predict_along(ctx, ensemble, table, options, predictions)
             : sr__predict_rows(ctx, ensemble, table, options, (sr__rows_done){0}, predictions);
}

sr_status sr__predict_rows(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                           const sr_predict_options *o, sr__rows_done done,
                           sr_table **predictions) {
  sr_status status = SR_OK;
  sr_table_view view = *sr_table_get(table);
  int64_t rows = view.rows, classes = ensemble->view.classes.count;
  int64_t columns = (o->proba ? classes : 0) + o->uncertainty + o->outside;
  int32_t *label = NULL;
  float *proba = NULL, *column = NULL;
  const char **name = NULL;
  sr__arena arena = {0};
  *predictions = NULL;
  if (o->outside && !ensemble->evaluation.applicability)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the model does not know its area of applicability: it was trained without "
                    "coordinates or without an evaluation"));
  SR_NEW(ctx, label, rows);
  if (columns > 0) {
    SR_NEW(ctx, proba, rows * classes);
    SR_NEW(ctx, column, rows * columns);
    SR_NEW(ctx, name, classes + 2);
    if (o->proba) SR_TRY(sr__name_shares(ctx, &ensemble->view.classes, &arena, name));
    int64_t next = o->proba ? classes : 0;
    if (o->uncertainty) name[next++] = "uncertainty";
    if (o->outside) name[next] = "outside";
  }
  predict_job job = {.ensemble = ensemble,
                     .rule = ensemble->view.vote,
                     .label = label,
                     .proba = proba,
                     .outside = o->outside ? column + (columns - 1) * rows : NULL,
                     .rows_done = done};
  SR_TRY(predict_all(ctx, table, &job));
  if (columns > 0) fill_columns(proba, rows, classes, o, column);
  view.features = columns;
  view.x = column;
  view.feature_names = name;
  view.categories = NULL;
  view.channels = 0;
  view.series_offset = NULL;
  view.series = NULL;
  view.channel_names = NULL;
  view.value = NULL;
  view.label = label;
  view.classes = ensemble->view.classes;
  view.target_name = ensemble->view.target_name ? ensemble->view.target_name : "class";
  view.predicted = 1;
  view.weight = NULL;
  SR_TRY(sr_table_new(ctx, &view, predictions));
cleanup:
  sr__free(ctx, label);
  sr__free(ctx, proba);
  sr__free(ctx, column);
  sr__free(ctx, name);
  sr__arena_free(ctx, &arena);
  return status;
}
