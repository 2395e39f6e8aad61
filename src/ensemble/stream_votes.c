/* Members that answer along a stream, and their vote. */
#include <math.h>

#include "data/match_columns.h"
#include "ensemble.h"

struct sr_stream {
  sr_allocator allocator;
  const sr_ensemble *ensemble;
  void **member;
  float *share, *tally; /* classes each */
};

sr_status sr_stream_new(sr_context *ctx, const sr_ensemble *ensemble, sr_stream **stream) {
  sr_status status = SR_OK;
  sr_stream *made = NULL;
  const sr__stream_operations *along = ensemble->learner->stream;
  int32_t members = ensemble->view.members, classes = ensemble->view.classes.count;
  *stream = NULL;
  if (!along)
    return sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "learner %s reads whole series; mamba answers along a stream",
                    ensemble->view.learner_name);
  SR_NEW_ZERO(ctx, made, 1);
  made->allocator = sr__allocator(ctx);
  made->ensemble = ensemble;
  SR_NEW_ZERO(ctx, made->member, members);
  SR_NEW(ctx, made->share, classes);
  SR_NEW(ctx, made->tally, classes);
  for (int32_t j = 0; j < members; j++)
    SR_TRY(along->open(ctx, ensemble->encoder, ensemble->member[j], &made->member[j]));
  *stream = made;
  made = NULL;
cleanup:
  sr_stream_free(&made);
  return status;
}

void sr_stream_free(sr_stream **stream) {
  if (!stream || !*stream) return;
  sr_stream *s = *stream;
  sr_allocator allocator = s->allocator;
  for (int32_t j = 0; s->member && j < s->ensemble->view.members; j++)
    s->ensemble->learner->stream->free_stream(s->member[j]);
  void *blocks[] = {s->member, s->share, s->tally, s};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) sr__release(&allocator, blocks[i]);
  *stream = NULL;
}

void sr_stream_start(sr_stream *stream) {
  for (int32_t j = 0; j < stream->ensemble->view.members; j++)
    stream->ensemble->learner->stream->start(stream->member[j]);
}

void sr_stream_push(sr_stream *stream, const float *sample) {
  for (int32_t j = 0; j < stream->ensemble->view.members; j++)
    stream->ensemble->learner->stream->push(stream->member[j], sample);
}

void sr_stream_end(sr_stream *stream) {
  for (int32_t j = 0; j < stream->ensemble->view.members; j++)
    stream->ensemble->learner->stream->end(stream->member[j]);
}

int32_t sr_stream_answer(sr_stream *stream, float *proba) {
  const sr_ensemble *e = stream->ensemble;
  int32_t classes = e->view.classes.count;
  memset(stream->tally, 0, (size_t)classes * sizeof *stream->tally);
  for (int32_t j = 0; j < e->view.members; j++) {
    if (!e->learner->stream->shares(stream->member[j], stream->share)) return -1;
    int32_t vote = sr__tally_winner(stream->share, classes);
    float weight = e->weight ? e->weight[j] : 1.0f;
    for (int32_t c = 0; c < classes; c++)
      stream->tally[c] +=
          weight * (e->view.vote == SR_VOTE_SOFT ? stream->share[c] : (float)(c == vote));
  }
  int32_t winner = sr__tally_settle(stream->tally, classes, e->offset);
  if (proba) memcpy(proba, stream->tally, (size_t)classes * sizeof *proba);
  return winner;
}

/* ---- all series of a table ---------------------------------------------------------------------
 */

typedef struct along_job {
  const sr_ensemble *ensemble;
  const sr_table_view *view;
  int64_t every;
  int32_t classes;
  const int64_t *begin;                    /* of the answers of each series; rows + 1 */
  sr_stream **stream;                      /* of each slot, opened when it is first needed */
  float *row, *step, *share, *uncertainty; /* share: classes columns; the last two may be NULL */
  int32_t *label;
} along_job;

/* A series ends at the last value that is there in any channel. */
static int64_t samples_of(const sr_table_view *view, int64_t r) {
  int64_t samples = 1;
  for (int32_t c = 0; c < view->channels; c++) {
    const int64_t *offset = view->series_offset + r * view->channels + c;
    int64_t length = offset[1] - offset[0];
    while (length > samples && !isfinite(view->series[offset[0] + length - 1])) length--;
    if (length > samples) samples = length;
  }
  return samples;
}

static void take_answer(const along_job *job, sr_stream *stream, int64_t at, float *proba) {
  int64_t answers = job->begin[job->view->rows];
  float largest = 0.0f;
  job->label[at] = sr_stream_answer(stream, proba);
  bool known = job->label[at] >= 0;
  for (int32_t c = 0; c < job->classes; c++) {
    if (job->share) job->share[c * answers + at] = known ? proba[c] : NAN;
    largest = fmaxf(largest, proba[c]);
  }
  if (job->uncertainty) job->uncertainty[at] = known ? 1.0f - largest : NAN;
}

static sr_status follow_series(sr_context *ctx, void *data, int64_t r, int slot) {
  along_job *job = data;
  sr_status status = SR_OK;
  const sr_table_view *view = job->view;
  const int64_t samples = samples_of(view, r), *offset = view->series_offset + r * view->channels;
  int64_t at = job->begin[r];
  float *sample = NULL, *proba = NULL;
  SR_TRY(sr__check_interrupt(ctx));
  if (!job->stream[slot]) SR_TRY(sr_stream_new(ctx, job->ensemble, &job->stream[slot]));
  SR_NEW(ctx, sample, view->channels);
  SR_NEW_ZERO(ctx, proba, job->classes);
  sr_stream_start(job->stream[slot]);
  for (int64_t t = 0; t < samples; t++) {
    for (int32_t c = 0; c < view->channels; c++)
      sample[c] = t < offset[c + 1] - offset[c] ? view->series[offset[c] + t] : NAN;
    sr_stream_push(job->stream[slot], sample);
    if (t + 1 == samples) sr_stream_end(job->stream[slot]);
    if (t + 1 < samples && (t + 1) % job->every != 0) continue;
    job->row[at] = (float)(r + 1);
    job->step[at] = (float)(t + 1);
    take_answer(job, job->stream[slot], at++, proba);
  }
cleanup:
  sr__free(ctx, sample);
  sr__free(ctx, proba);
  return status;
}

/* The columns of the answers and their names. */
static sr_status make_columns(sr_context *ctx, const sr_predict_options *o, along_job *job,
                              sr__arena *arena, sr_table_view *out) {
  sr_status status = SR_OK;
  const bool wanted = o->proba, unsure = o->uncertainty;
  const int64_t answers = job->begin[job->view->rows];
  out->rows = answers;
  out->features = 2 + (wanted ? job->classes : 0) + unsure;
  float *x = sr__arena_alloc(ctx, arena, answers * out->features, sizeof *x);
  const char **name = sr__arena_alloc(ctx, arena, out->features, sizeof *name);
  job->label = sr__arena_alloc(ctx, arena, answers, sizeof *job->label);
  if (!x || !name || !job->label) SR_TRY(SR_ERROR_MEMORY);
  name[0] = "row";
  name[1] = "step";
  if (wanted) SR_TRY(sr__name_shares(ctx, &job->ensemble->view.classes, arena, name + 2));
  if (unsure) name[out->features - 1] = "uncertainty";
  job->row = x;
  job->step = x + answers;
  if (wanted) job->share = x + 2 * answers;
  if (unsure) job->uncertainty = x + (out->features - 1) * answers;
  out->x = x;
  out->feature_names = name;
  out->label = job->label;
  out->classes = job->ensemble->view.classes;
  out->target_name = job->ensemble->view.target_name ? job->ensemble->view.target_name : "class";
  out->predicted = 1;
cleanup:
  return status;
}

sr_status sr__predict_along(sr_context *ctx, const sr_ensemble *ensemble, const sr_table *table,
                            const sr_predict_options *options, sr_table **predictions) {
  sr_status status = SR_OK;
  sr_table *owned = NULL;
  const sr_table *matched = NULL;
  sr__arena arena = {0};
  const int64_t every = options->along;
  along_job job = {.ensemble = ensemble, .every = every, .classes = ensemble->view.classes.count};
  sr_table_view out = {0};
  int64_t *begin = NULL;
  *predictions = NULL;
  SR_NEW_ZERO(ctx, job.stream, sr_context_threads(ctx));
  SR_TRY(sr_stream_new(ctx, ensemble, &job.stream[0])); /* refuses before anything is made */
  SR_TRY(sr__match_columns(ctx, sr_table_get(ensemble->schema), table, &matched, &owned));
  job.view = sr_table_get(matched);
  SR_NEW_ZERO(ctx, begin, job.view->rows + 1);
  for (int64_t r = 0; r < job.view->rows; r++)
    begin[r + 1] = begin[r] + (samples_of(job.view, r) + every - 1) / every;
  job.begin = begin;
  SR_TRY(make_columns(ctx, options, &job, &arena, &out));
  SR_TRY(sr__parallel_for(ctx, job.view->rows, follow_series, &job));
  SR_TRY(sr_table_new(ctx, &out, predictions));
cleanup:
  for (int k = 0; job.stream && k < sr_context_threads(ctx); k++) sr_stream_free(&job.stream[k]);
  sr__free(ctx, job.stream);
  sr__free(ctx, begin);
  sr__arena_free(ctx, &arena);
  sr_table_free(&owned);
  return status;
}
