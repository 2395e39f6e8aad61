/* How much the error grows when a feature's values change places inside each part: what the feature
 * says beyond where the row lies. The members of the folds judge the rows that they did not train
 * near, under every plan. */
#include <math.h>

#include "core/label_sort.h"
#include "trial.h"

/* Member votes spent in all; rows are thinned to it. */
#define VOTE_BUDGET 2e7
enum { LEAST_ROWS = 500 };

typedef struct importance_job {
  const sr__trial *trial;
  int64_t step;    /* one of so many held-out rows is judged */
  int32_t *sorted; /* rows by part */
  int64_t *offset; /* of each part in `sorted` */
  int32_t *source; /* where each row takes the shuffled value from */
  int32_t *scratch;
  sr__encoded *encoded;
  double *wrong, *judged; /* per fold */
} importance_job;

static void shuffle_inside_parts(importance_job *job, int32_t parts, uint64_t seed,
                                 int64_t feature) {
  for (int32_t p = 0; p < parts; p++) {
    int64_t low = job->offset[p], size = job->offset[p + 1] - low;
    sr__random random;
    sr__random_init(&random, seed, SR_PURPOSE_PERMUTE, (uint64_t)feature + 1, (uint64_t)p);
    memcpy(job->scratch, job->sorted + low, (size_t)size * sizeof *job->scratch);
    sr__random_shuffle(&random, job->scratch, size);
    for (int64_t k = 0; k < size; k++) job->source[job->sorted[low + k]] = job->scratch[k];
  }
}

typedef struct fold_scratch {
  int32_t *index, *vote;
  float *fine, *coarse, *tally;
} fold_scratch;

static sr_status ask(sr_context *ctx, const importance_job *job, const sr__member *member,
                     int64_t count, fold_scratch *s) {
  const sr__held *held = &job->trial->held;
  const sr__prepared *p = held->prepared;
  sr__picked picked = {s->index, count};
  if (held->leaves == 2)
    return p->learner->predict_leaves(ctx, p->encoder, member, job->encoded, picked,
                                      (sr__leaf_answers){s->fine, s->coarse});
  bool soft = held->rule == SR_VOTE_SOFT;
  return p->learner->predict(ctx, p->encoder, member, job->encoded, picked,
                             (sr__answers){.vote = soft ? NULL : s->vote,
                                           .share = soft ? s->fine : NULL});
}

static void add_answer(const sr__held *held, const double *weight, int64_t count,
                       const fold_scratch *s) {
  int64_t values = count * held->classes;
  if (held->leaves == 1 && held->rule != SR_VOTE_SOFT) {
    for (int64_t i = 0; i < count; i++)
      s->tally[i * held->classes + s->vote[i]] += (float)weight[0];
    return;
  }
  for (int64_t k = 0; k < values; k++) s->tally[k] += (float)weight[0] * s->fine[k];
  for (int64_t k = 0; held->leaves == 2 && k < values; k++)
    s->tally[k] += (float)weight[1] * s->coarse[k];
}

static sr_status judge_fold(sr_context *ctx, void *data, int64_t fold, int slot) {
  (void)slot;
  importance_job *job = data;
  sr_status status = SR_OK;
  const sr__held *held = &job->trial->held;
  const sr__vote_weights *weights = &job->trial->fold[fold];
  const int32_t *label = held->prepared->view->label;
  int64_t all = held->first[fold + 1] - held->first[fold], count = 0;
  fold_scratch s = {0};
  SR_NEW(ctx, s.index, all);
  SR_NEW(ctx, s.vote, all);
  SR_NEW(ctx, s.fine, all * held->classes);
  SR_NEW(ctx, s.coarse, all * held->classes);
  SR_NEW_ZERO(ctx, s.tally, all * held->classes);
  for (int64_t i = 0; i < all; i += job->step) s.index[count++] = held->row[held->first[fold] + i];
  for (int32_t e = 0; e < held->entries; e++) {
    const sr__held_entry *entry = &held->entry[e];
    double each[SR__MOST_LEAVES] = {0};
    for (int32_t l = 0; l < held->leaves; l++)
      each[l] = weights->weight[e * held->leaves + l] / entry->members;
    for (int32_t j = 0; j < entry->members && each[0] + each[1] > 0.0; j++) {
      SR_TRY(ask(ctx, job, entry->fitted[j * held->folds + fold], count, &s));
      add_answer(held, each, count, &s);
    }
  }
  job->wrong[fold] = 0.0;
  job->judged[fold] = (double)count;
  for (int64_t i = 0; i < count; i++) {
    int32_t vote = sr__vote_class(s.tally + i * held->classes, weights->offset, held->classes);
    job->wrong[fold] += sr__class_loss(vote, label[s.index[i]]);
  }
cleanup:;
  void *blocks[] = {s.index, s.vote, s.fine, s.coarse, s.tally};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) sr__free(ctx, blocks[b]);
  return status;
}

static sr_status measure(sr_context *ctx, importance_job *job, double *error) {
  sr_status status = SR_OK;
  double wrong = 0.0, judged = 0.0;
  SR_TRY(sr__parallel_for(ctx, job->trial->held.folds, judge_fold, job));
  for (int32_t f = 0; f < job->trial->held.folds; f++) {
    wrong += job->wrong[f];
    judged += job->judged[f];
  }
  *error = judged > 0.0 ? wrong / judged : NAN;
cleanup:
  return status;
}

static int64_t choose_step(const sr__held *held) {
  double members = 0.0;
  for (int32_t e = 0; e < held->entries; e++) members += held->entry[e].members * held->leaves;
  double each = (double)held->prepared->view->features * members;
  double rows = fmax(VOTE_BUDGET / fmax(each, 1.0), LEAST_ROWS);
  return (double)held->count > rows ? (int64_t)ceil((double)held->count / rows) : 1;
}

sr_status sr__importance(sr_context *ctx, const sr__trial *trial, uint64_t seed,
                         double *importance) {
  sr_status status = SR_OK;
  const sr__held *held = &trial->held;
  const sr__prepared *p = held->prepared;
  const sr_parts_view *parts = sr_parts_get(held->structure->parts);
  const sr__encoded *original = p->learner->training_encoded(p->training);
  importance_job job = {.trial = trial, .step = choose_step(held)};
  double error, shuffled;
  SR_NEW(ctx, job.source, p->view->rows);
  SR_NEW(ctx, job.scratch, p->view->rows);
  SR_NEW(ctx, job.wrong, held->folds);
  SR_NEW(ctx, job.judged, held->folds);
  SR_TRY(p->learner->copy_encoded(ctx, p->encoder, original, &job.encoded));
  SR_TRY(
      sr__sort_by_label(ctx, parts->part, p->view->rows, parts->parts, &job.offset, &job.sorted));
  SR_TRY(measure(ctx, &job, &error));
  for (int64_t j = 0; j < p->view->features; j++) {
    shuffle_inside_parts(&job, parts->parts, seed, j);
    p->learner->copy_feature(p->encoder, original, j, job.source, job.encoded);
    SR_TRY(measure(ctx, &job, &shuffled));
    p->learner->copy_feature(p->encoder, original, j, NULL, job.encoded);
    importance[j] = shuffled - error;
    sr__progress(ctx, "importance", j + 1, p->view->features);
  }
cleanup:
  p->learner->free_encoded(job.encoded);
  void *blocks[] = {job.sorted, job.offset, job.source, job.scratch, job.wrong, job.judged};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) sr__free(ctx, blocks[b]);
  return status;
}
