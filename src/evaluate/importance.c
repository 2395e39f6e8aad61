/* How much the error grows when a feature's values change places inside each part: what the feature
 * says beyond where the row lies. */
#include <math.h>

#include "core/label_sort.h"
#include "evaluate.h"

/* Member votes spent in all; rows are sampled down to it. */
#define VOTE_BUDGET 2e7
enum { LEAST_ROWS = 500 };

typedef struct importance_job {
  sr__judging judging;
  int32_t *rows; /* the judged sample */
  int32_t *vote;
  int32_t *sorted; /* rows by part */
  int64_t *offset; /* of each part in `sorted` */
  int32_t *source; /* where each row takes the shuffled value from */
  int32_t *scratch;
  sr__encoded *encoded;
} importance_job;

static sr_status choose_sample(sr_context *ctx, importance_job *job, uint64_t seed) {
  sr_status status = SR_OK;
  const sr_table_view *view = job->judging.prepared->view;
  uint64_t *bitmap = NULL;
  double each = (double)view->features * job->judging.members->count;
  double wanted = VOTE_BUDGET / (each > 1.0 ? each : 1.0);
  if (wanted < LEAST_ROWS) wanted = LEAST_ROWS;
  job->judging.count = wanted < (double)view->rows ? (int64_t)wanted : view->rows;
  SR_NEW(ctx, bitmap, (view->rows + 63) / 64);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_PERMUTE, 0, 0);
  sr__random_sample(&random, view->rows, job->judging.count, bitmap, job->rows);
  job->judging.rows = job->rows;
cleanup:
  sr__free(ctx, bitmap);
  return status;
}

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

static sr_status sample_error(sr_context *ctx, const importance_job *job, double *error) {
  sr_status status = SR_OK;
  double sum = 0.0;
  int64_t judged = 0;
  SR_TRY(sr__judge_rows(ctx, &job->judging));
  for (int64_t k = 0; k < job->judging.count; k++) {
    double loss = sr__row_loss(job->judging.prepared->view, job->vote, job->rows[k]);
    if (isnan(loss)) continue;
    judged++;
    sum += loss;
  }
  *error = judged ? sum / (double)judged : NAN;
cleanup:
  return status;
}

static sr_status allocate(sr_context *ctx, importance_job *job) {
  sr_status status = SR_OK;
  const sr__prepared *prepared = job->judging.prepared;
  int64_t rows = prepared->view->rows;
  SR_NEW(ctx, job->rows, rows);
  SR_NEW(ctx, job->vote, rows);
  SR_NEW(ctx, job->source, rows);
  SR_NEW(ctx, job->scratch, rows);
  SR_TRY(prepared->learner->copy_encoded(ctx, prepared->encoder,
                                         prepared->learner->training_encoded(prepared->training),
                                         &job->encoded));
cleanup:
  return status;
}

sr_status sr__importance(sr_context *ctx, const sr__judging *judging, const sr_parts_view *parts,
                         uint64_t seed, double *importance) {
  sr_status status = SR_OK;
  const sr__prepared *prepared = judging->prepared;
  const sr__encoded *original = prepared->learner->training_encoded(prepared->training);
  importance_job job = {.judging = *judging};
  double error, shuffled;
  SR_TRY(allocate(ctx, &job));
  SR_TRY(choose_sample(ctx, &job, seed));
  SR_TRY(sr__sort_by_label(ctx, parts->part, prepared->view->rows, parts->parts, &job.offset,
                           &job.sorted));
  job.judging.vote = job.vote;
  job.judging.margins = NULL;
  job.judging.encoded = job.encoded;
  SR_TRY(sample_error(ctx, &job, &error));
  for (int64_t j = 0; j < prepared->view->features; j++) {
    shuffle_inside_parts(&job, parts->parts, seed, j);
    prepared->learner->copy_feature(prepared->encoder, original, j, job.source, job.encoded);
    SR_TRY(sample_error(ctx, &job, &shuffled));
    prepared->learner->copy_feature(prepared->encoder, original, j, NULL, job.encoded);
    importance[j] = shuffled - error;
    sr__progress(ctx, "importance", j + 1, prepared->view->features);
  }
cleanup:
  prepared->learner->free_encoded(job.encoded);
  void *blocks[] = {job.rows, job.vote, job.sorted, job.offset, job.source, job.scratch};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) sr__free(ctx, blocks[b]);
  return status;
}
