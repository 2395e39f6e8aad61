#include "data/match_columns.h"
#include "ensemble.h"

sr_status sr__ballot_cast(sr_context *ctx, sr__ballot *ballot, const sr__member *member,
                          const sr__rows *rows, const int32_t *index, int64_t count) {
  bool soft = ballot->rule == SR_VOTE_SOFT;
  return ballot->learner->predict(ctx, ballot->shared, member, rows, index, count,
                                  soft ? NULL : ballot->vote, soft ? ballot->proba : NULL);
}

double sr__ballot_margin(const sr__ballot *ballot, int64_t i, int32_t label) {
  if (ballot->rule != SR_VOTE_SOFT) return ballot->vote[i] == label ? 1.0 : -1.0;
  const float *proba = ballot->proba + i * ballot->classes;
  float other = 0.0f;
  for (int32_t c = 0; c < ballot->classes; c++) {
    if (c != label && proba[c] > other) other = proba[c];
  }
  return (double)proba[label] - (double)other;
}

void sr__ballot_add(const sr__ballot *ballot, int64_t i, float weight, float *tally) {
  if (ballot->rule != SR_VOTE_SOFT) {
    tally[ballot->vote[i]] += weight;
    return;
  }
  const float *proba = ballot->proba + i * ballot->classes;
  for (int32_t c = 0; c < ballot->classes; c++) tally[c] += weight * proba[c];
}

int32_t sr__tally_winner(const float *tally, int32_t classes) {
  int32_t winner = -1;
  float most = 0.0f;
  for (int32_t c = 0; c < classes; c++) {
    if (tally[c] > most) {
      most = tally[c];
      winner = c;
    }
  }
  return winner;
}

/* ---- prediction --------------------------------------------------------------------------- */

enum { PREDICT_CHUNK = 8192 }; /* long enough that reading a tree from memory does not count */

typedef struct predict_job {
  const sr_ensemble *ensemble;
  const sr_table *table;
  const sr_table_view *view;
  int64_t chunk;
  int32_t *label;
  float *proba;
  int32_t *votes; /* members x rows; NULL: not asked for */
  atomic_int_fast64_t done;
} predict_job;

typedef struct predict_scratch {
  sr__arena arena;
  sr__ballot ballot;
  float *tally;
  float *pull; /* gated only */
} predict_scratch;

static sr_status scratch_init(sr_context *ctx, const sr_ensemble *e, int64_t count,
                              predict_scratch *s) {
  int32_t classes = e->view.classes.count;
  s->ballot = (sr__ballot){.learner = e->learner,
                           .shared = e->shared,
                           .rule = e->view.vote,
                           .classes = classes};
  s->tally = sr__arena_alloc(ctx, &s->arena, count * classes, sizeof(float));
  s->ballot.vote = sr__arena_alloc(ctx, &s->arena, count, sizeof(int32_t));
  if (!s->tally || !s->ballot.vote) return SR_ERROR_MEMORY;
  if (e->view.vote == SR_VOTE_SOFT) {
    s->ballot.proba = sr__arena_alloc(ctx, &s->arena, count * classes, sizeof(float));
    if (!s->ballot.proba) return SR_ERROR_MEMORY;
  }
  if (e->gate.parts) {
    s->pull = sr__arena_alloc(ctx, &s->arena, count * e->gate.parts, sizeof(float));
    if (!s->pull) return SR_ERROR_MEMORY;
  }
  memset(s->tally, 0, (size_t)(count * classes) * sizeof(float));
  return SR_OK;
}

static void write_result(const predict_job *job, const predict_scratch *s, int64_t first,
                         int64_t count) {
  int32_t classes = s->ballot.classes;
  for (int64_t i = 0; i < count; i++) {
    const float *tally = s->tally + i * classes;
    if (job->label) job->label[first + i] = sr__tally_winner(tally, classes);
    if (!job->proba) continue;
    float total = 0.0f;
    for (int32_t c = 0; c < classes; c++) total += tally[c];
    for (int32_t c = 0; c < classes; c++)
      job->proba[(first + i) * classes + c] = total > 0.0f ? tally[c] / total : 0.0f;
  }
}

static void add_gated(const sr_ensemble *e, int32_t member, predict_scratch *s, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    float weight = sr__gate_weight(&e->gate, member, s->pull + i * e->gate.parts);
    sr__ballot_add(&s->ballot, i, weight, s->tally + i * s->ballot.classes);
  }
}

/* Every member weighs 1. */
static void add_plain(predict_scratch *s, int64_t count) {
  int32_t classes = s->ballot.classes;
  if (s->ballot.rule == SR_VOTE_SOFT)
    for (int64_t k = 0; k < count * classes; k++) s->tally[k] += s->ballot.proba[k];
  else
    for (int64_t i = 0; i < count; i++) s->tally[i * classes + s->ballot.vote[i]] += 1.0f;
}

static sr_status predict_chunk(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  predict_job *job = data;
  const sr_ensemble *e = job->ensemble;
  sr_status status = SR_OK;
  predict_scratch s = {0};
  sr__rows *rows = NULL;
  int64_t first = item * job->chunk;
  int64_t count = job->view->rows - first < job->chunk ? job->view->rows - first : job->chunk;
  SR_TRY(scratch_init(ctx, e, count, &s));
  sr__input input = {.table = job->table};
  SR_TRY(e->learner->encode(ctx, e->shared, &input, first, count, &rows));
  if (s.pull) sr__gate_pull(&e->gate, job->view, first, count, NULL, s.pull);
  for (int32_t j = 0; j < e->view.members; j++) {
    if (job->votes) s.ballot.vote = job->votes + j * job->view->rows + first;
    SR_TRY(sr__ballot_cast(ctx, &s.ballot, e->member[j], rows, NULL, count));
    if (job->votes) continue;
    if (s.pull)
      add_gated(e, j, &s, count);
    else
      add_plain(&s, count);
  }
  write_result(job, &s, first, count);
  sr__progress(ctx, "predict", (atomic_fetch_add(&job->done, 1) + 1) * job->chunk, job->view->rows);
cleanup:
  e->learner->free_rows(rows);
  sr__arena_free(ctx, &s.arena);
  return status;
}

static sr_status predict_all(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                             int32_t *label, float *proba, int32_t *votes) {
  sr_status status = SR_OK;
  sr_table *owned = NULL;
  predict_job job = {.ensemble = ensemble, .label = label, .proba = proba, .votes = votes};
  atomic_init(&job.done, 0);
  SR_TRY(sr__match_columns(ctx, sr_table_get(ensemble->schema), table, &job.table, &owned));
  job.view = sr_table_get(job.table);
  job.chunk = sr__chunk_size(job.view->rows, PREDICT_CHUNK);
  SR_TRY(
      sr__parallel_for(ctx, sr__chunk_count(job.view->rows, PREDICT_CHUNK), predict_chunk, &job));
cleanup:
  sr_table_free(&owned);
  return status;
}

sr_status sr_ensemble_predict(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                              int32_t *label, float *proba) {
  return predict_all(ctx, ensemble, table, label, proba, NULL);
}

/* Votes are the members' classes under any rule. */
sr_status sr_ensemble_votes(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                            int32_t *votes) {
  sr_ensemble hard = *ensemble;
  hard.view.vote = SR_VOTE_HARD;
  hard.gate.parts = 0;
  return predict_all(ctx, &hard, table, NULL, NULL, votes);
}
