/* Votes of all members on new rows, in chunks of rows. */
#include "applicability.h"
#include "data/match_columns.h"
#include "ensemble.h"

enum {
  PREDICT_CHUNK = 16384
}; /* rows and their binned form stay in the cache; a tree is read for many */

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

typedef struct predict_scratch {
  sr__arena arena;
  sr__member_votes votes;
  float *tally;
  float *nearness; /* votes weighted by parts only */
} predict_scratch;

static sr_status scratch_init(sr_context *ctx, const predict_job *job, int64_t count,
                              predict_scratch *s) {
  const sr_ensemble *e = job->ensemble;
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
  memset(s->tally, 0, (size_t)(count * classes) * sizeof(float));
  return SR_OK;
}

static void write_result(const predict_job *job, predict_scratch *s, int64_t first, int64_t count) {
  int32_t classes = s->votes.classes;
  for (int64_t i = 0; i < count; i++) {
    float *tally = s->tally + i * classes;
    int32_t winner = sr__tally_settle(tally, classes, job->ensemble->offset);
    if (job->label) job->label[first + i] = winner;
    if (job->proba)
      memcpy(job->proba + (first + i) * classes, tally, (size_t)classes * sizeof *tally);
  }
}

static void add_weighted(const sr_ensemble *e, int32_t member, predict_scratch *s, int64_t count) {
  if (!s->nearness && s->votes.rule == SR_VOTE_SOFT) { /* one weight for all rows */
    float weight = e->weight[member], *restrict tally = s->tally;
    const float *restrict proba = s->votes.proba;
    for (int64_t k = 0; k < count * s->votes.classes; k++) tally[k] += weight * proba[k];
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    float weight = e->weight ? e->weight[member] : 1.0f;
    if (s->nearness)
      weight *= sr__part_weight(&e->part_weights, member, s->nearness + i * e->part_weights.parts);
    sr__vote_add(&s->votes, i, weight, s->tally + i * s->votes.classes);
  }
}

/* Every member weighs 1. */
static void add_plain(predict_scratch *s, int64_t count) {
  int32_t classes = s->votes.classes;
  if (s->votes.rule == SR_VOTE_SOFT)
    for (int64_t k = 0; k < count * classes; k++) s->tally[k] += s->votes.proba[k];
  else if (classes == 2) /* side by side */
    for (int64_t i = 0; i < count; i++) {
      float second = (float)s->votes.vote[i];
      s->tally[2 * i] += 1.0f - second;
      s->tally[2 * i + 1] += second;
    }
  else
    for (int64_t i = 0; i < count; i++) s->tally[i * classes + s->votes.vote[i]] += 1.0f;
}

static sr_status predict_chunk(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  predict_job *job = data;
  const sr_ensemble *e = job->ensemble;
  sr_status status = SR_OK;
  predict_scratch s = {0};
  sr__encoded *rows = NULL;
  int64_t first = item * job->chunk;
  int64_t count = job->view->rows - first < job->chunk ? job->view->rows - first : job->chunk;
  SR_TRY(scratch_init(ctx, job, count, &s));
  SR_TRY(e->learner->encode(ctx, e->encoder, job->table, first, count, &rows));
  if (s.nearness) sr__part_nearness(&e->part_weights, job->view, first, count, NULL, s.nearness);
  for (int32_t j = 0; j < e->view.members; j++) {
    if (job->votes) s.votes.vote = job->votes + j * job->view->rows + first;
    SR_TRY(sr__ask_member(ctx, &s.votes, e->member[j], rows, NULL, count));
    if (job->votes) continue;
    if (s.nearness || e->weight)
      add_weighted(e, j, &s, count);
    else
      add_plain(&s, count);
  }
  write_result(job, &s, first, count);
  if (job->outside)
    SR_TRY(sr__applicability_ask(ctx, e->evaluation.applicability, job->view, first, count,
                                 job->outside + first));
  sr__progress(ctx, "predict",
               job->rows_done.before + (atomic_fetch_add(&job->done, 1) + 1) * job->chunk,
               job->rows_done.total ? job->rows_done.total : job->view->rows);
cleanup:
  e->learner->free_encoded(rows);
  sr__arena_free(ctx, &s.arena);
  return status;
}

static sr_status predict_all(sr_context *ctx, const sr_table *table, predict_job *job) {
  sr_status status = SR_OK;
  sr_table *owned = NULL;
  atomic_init(&job->done, 0);
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
static void fill_columns(const float *proba, int64_t rows, int64_t classes, int shares,
                         float *column) {
  for (int64_t c = 0; shares & SR_PREDICT_SHARES && c < classes; c++, column += rows)
    for (int64_t i = 0; i < rows; i++) column[i] = proba[i * classes + c];
  for (int64_t i = 0; shares & SR_PREDICT_UNCERTAINTY && i < rows; i++) {
    float largest = 0.0f;
    for (int64_t c = 0; c < classes; c++)
      if (proba[i * classes + c] > largest) largest = proba[i * classes + c];
    column[i] = 1.0f - largest;
  }
}

static sr_status name_shares(sr_context *ctx, const sr_dictionary *classes, sr__arena *arena,
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

sr_status sr_ensemble_predict_table(sr_context *ctx, const sr_ensemble *ensemble,
                                    const sr_table *table, int shares, sr_table **predictions) {
  return sr__predict_table(ctx, ensemble, table, shares, (sr__rows_done){0}, predictions);
}

sr_status sr__predict_table(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                            int shares, sr__rows_done done, sr_table **predictions) {
  sr_status status = SR_OK;
  sr_table_view view = *sr_table_get(table);
  int64_t rows = view.rows, classes = ensemble->view.classes.count;
  int64_t columns = (shares & SR_PREDICT_SHARES ? classes : 0) +
                    (shares & SR_PREDICT_UNCERTAINTY ? 1 : 0) +
                    (shares & SR_PREDICT_OUTSIDE ? 1 : 0);
  int32_t *label = NULL;
  float *proba = NULL, *column = NULL;
  const char **name = NULL;
  sr__arena arena = {0};
  *predictions = NULL;
  if (shares & SR_PREDICT_OUTSIDE && !ensemble->evaluation.applicability)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "the model does not know its area of applicability: it was trained without "
                    "coordinates or without an evaluation"));
  SR_NEW(ctx, label, rows);
  if (shares) {
    SR_NEW(ctx, proba, rows * classes);
    SR_NEW(ctx, column, rows * columns);
    SR_NEW(ctx, name, classes + 2);
    if (shares & SR_PREDICT_SHARES) SR_TRY(name_shares(ctx, &ensemble->view.classes, &arena, name));
    int64_t next = shares & SR_PREDICT_SHARES ? classes : 0;
    if (shares & SR_PREDICT_UNCERTAINTY) name[next++] = "uncertainty";
    if (shares & SR_PREDICT_OUTSIDE) name[next] = "outside";
  }
  predict_job job = {.ensemble = ensemble,
                     .rule = ensemble->view.vote,
                     .label = label,
                     .proba = proba,
                     .outside = shares & SR_PREDICT_OUTSIDE ? column + (columns - 1) * rows : NULL,
                     .rows_done = done};
  SR_TRY(predict_all(ctx, table, &job));
  if (shares) fill_columns(proba, rows, classes, shares, column);
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
