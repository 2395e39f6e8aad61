/* How much the error grows when a feature's values change places inside each part: what the feature
 * says beyond where the row lies. */
#include <math.h>

#include "ensemble.h"

/* Member votes spent in all; rows are sampled down to it. */
#define VOTE_BUDGET 2e7
enum { LEAST_ROWS = 500 };

typedef struct importance_job {
  sr__jury jury;
  int32_t *rows; /* the judged sample */
  int32_t *vote;
  int32_t *sorted; /* rows by part */
  int64_t *offset; /* of each part in `sorted` */
  int32_t *source; /* where each row takes the shuffled value from */
  int32_t *scratch;
  sr__rows *encoded;
} importance_job;

static sr_status choose_sample(sr_context *ctx, importance_job *job, uint64_t seed) {
  sr_status status = SR_OK;
  const sr_table_view *view = job->jury.engine->view;
  uint64_t *bitmap = NULL;
  double each = (double)view->features * job->jury.crew->members;
  double wanted = VOTE_BUDGET / (each > 1.0 ? each : 1.0);
  if (wanted < LEAST_ROWS) wanted = LEAST_ROWS;
  job->jury.count = wanted < (double)view->rows ? (int64_t)wanted : view->rows;
  SR_NEW(ctx, bitmap, (view->rows + 63) / 64);
  sr__random random;
  sr__random_init(&random, seed, SR_PURPOSE_PERMUTE, 0, 0);
  sr__random_sample(&random, view->rows, job->jury.count, bitmap, job->rows);
  job->jury.rows = job->rows;
cleanup:
  sr__free(ctx, bitmap);
  return status;
}

static void sort_by_part(importance_job *job, int32_t parts, const int32_t *part, int64_t rows) {
  for (int64_t i = 0; i < rows; i++) job->offset[part[i] + 1]++;
  for (int32_t p = 0; p < parts; p++) job->offset[p + 1] += job->offset[p];
  for (int64_t i = 0; i < rows; i++) job->sorted[job->offset[part[i]]++] = (int32_t)i;
  for (int32_t p = parts; p > 0; p--) job->offset[p] = job->offset[p - 1];
  job->offset[0] = 0;
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
  const int32_t *label = job->jury.engine->view->label;
  int64_t wrong = 0, judged = 0;
  SR_TRY(sr__jury_judge(ctx, &job->jury));
  for (int64_t k = 0; k < job->jury.count; k++) {
    int32_t row = job->rows[k];
    if (label[row] < 0 || job->vote[row] < 0) continue;
    judged++;
    wrong += job->vote[row] != label[row];
  }
  *error = judged ? (double)wrong / (double)judged : NAN;
cleanup:
  return status;
}

static sr_status allocate(sr_context *ctx, importance_job *job, int32_t parts) {
  sr_status status = SR_OK;
  const sr__engine *engine = job->jury.engine;
  int64_t rows = engine->view->rows;
  SR_NEW(ctx, job->rows, rows);
  SR_NEW(ctx, job->vote, rows);
  SR_NEW(ctx, job->sorted, rows);
  SR_NEW(ctx, job->source, rows);
  SR_NEW(ctx, job->scratch, rows);
  SR_NEW_ZERO(ctx, job->offset, (int64_t)parts + 1);
  SR_TRY(engine->learner->copy_rows(ctx, engine->shared,
                                    engine->learner->training_rows(engine->training),
                                    &job->encoded));
cleanup:
  return status;
}

sr_status sr__importance(sr_context *ctx, const sr__jury *jury, int32_t parts, const int32_t *part,
                         uint64_t seed, double *importance) {
  sr_status status = SR_OK;
  const sr__engine *engine = jury->engine;
  const sr__rows *original = engine->learner->training_rows(engine->training);
  importance_job job = {.jury = *jury};
  double error, shuffled;
  SR_TRY(allocate(ctx, &job, parts));
  SR_TRY(choose_sample(ctx, &job, seed));
  sort_by_part(&job, parts, part, engine->view->rows);
  job.jury.naive = NULL;
  job.jury.honest = job.vote;
  job.jury.margins = NULL;
  job.jury.encoded = job.encoded;
  SR_TRY(sample_error(ctx, &job, &error));
  for (int64_t j = 0; j < engine->view->features; j++) {
    shuffle_inside_parts(&job, parts, seed, j);
    engine->learner->copy_feature(engine->shared, original, j, job.source, job.encoded);
    SR_TRY(sample_error(ctx, &job, &shuffled));
    engine->learner->copy_feature(engine->shared, original, j, NULL, job.encoded);
    importance[j] = shuffled - error;
    sr__progress(ctx, "importance", j + 1, engine->view->features);
  }
cleanup:
  engine->learner->free_rows(job.encoded);
  void *blocks[] = {job.rows, job.vote, job.sorted, job.offset, job.source, job.scratch};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) sr__free(ctx, blocks[b]);
  return status;
}
