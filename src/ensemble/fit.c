/* One member a bag, in parallel. A member depends on its bag and its own stream alone. */
#include "ensemble.h"

sr_status sr__engine_open(sr_context *ctx, const sr_table *table, const sr_learner_options *options,
                          sr__engine *engine) {
  sr_status status = SR_OK;
  *engine = (sr__engine){.table = table, .view = sr_table_get(table), .options = *options};
  sr__input input = {.table = table};
  SR_TRY(sr__learner_find(ctx, options->name, &engine->learner));
  SR_TRY(sr__learner_check_input(ctx, engine->learner, &input));
  SR_TRY(engine->learner->check(ctx, options));
  SR_TRY(engine->learner->prepare(ctx, &input, options, &engine->shared, &engine->training));
  engine->classes = engine->learner->classes(engine->shared);
  engine->options.name = engine->learner->info.name;
cleanup:
  if (status != SR_OK) sr__engine_close(engine);
  return status;
}

void sr__engine_close(sr__engine *engine) {
  if (!engine->learner) return;
  engine->learner->free_training(engine->training);
  engine->learner->free_shared(engine->shared);
  engine->training = NULL;
  engine->shared = NULL;
}

typedef struct fit_job {
  const sr__engine *engine;
  const sr__fit *fit;
  sr__crew *crew;
  int64_t *distinct; /* a member */
  atomic_int_fast64_t done;
} fit_job;

/* A member's bag on its way from the plan to the learner. */
typedef struct bag_maker {
  const sr__fit *fit;
  int32_t member;
  uint64_t *drawn;   /* one bit a row; NULL: not kept */
  int64_t *distinct; /* rows */
} bag_maker;

typedef struct bag_relay {
  const bag_maker *maker;
  sr__bag_taker take;
  void *data;
} bag_relay;

static void mark_drawn(uint64_t *bitmap, const int32_t *rows, int64_t length) {
  for (int64_t i = 0; i < length; i++) bitmap[rows[i] / 64] |= UINT64_C(1) << (rows[i] % 64);
}

static sr_status hand_on(const bag_relay *relay, const int32_t *rows, const int32_t *counts,
                         int64_t length) {
  if (relay->maker->drawn) mark_drawn(relay->maker->drawn, rows, length);
  *relay->maker->distinct += length;
  return relay->take(relay->data, rows, counts, length);
}

/* Rows of a plan over a subset become rows of the table. */
static sr_status hand_on_subset(const bag_relay *relay, const int32_t *rows, const int32_t *counts,
                                int64_t length) {
  enum { PIECE = 1024 };
  int32_t mapped[PIECE];
  sr_status status = SR_OK;
  for (int64_t first = 0; first < length && status == SR_OK; first += PIECE) {
    int64_t here = length - first < PIECE ? length - first : PIECE;
    for (int64_t i = 0; i < here; i++) mapped[i] = relay->maker->fit->subset[rows[first + i]];
    status = hand_on(relay, mapped, counts + first, here);
  }
  return status;
}

static sr_status relay_piece(void *data, const int32_t *rows, const int32_t *counts,
                             int64_t length) {
  const bag_relay *relay = data;
  return relay->maker->fit->subset ? hand_on_subset(relay, rows, counts, length)
                                   : hand_on(relay, rows, counts, length);
}

static sr_status read_bag(sr_context *ctx, const void *data, sr__bag_taker take, void *taker) {
  const bag_maker *maker = data;
  bag_relay relay = {maker, take, taker};
  *maker->distinct = 0;
  return sr__plan_read_bag(ctx, maker->fit->plan, maker->member, relay_piece, &relay);
}

static sr_status fit_member(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  fit_job *job = data;
  const sr__fit *fit = job->fit;
  const sr__engine *engine = job->engine;
  sr_status status = SR_OK;
  int64_t members = sr_plan_get(fit->plan).members;
  int32_t member = (int32_t)((fit->first + item) * (fit->stride ? fit->stride : 1) % members);
  bag_maker maker = {.fit = fit, .member = member, .distinct = &job->distinct[item]};
  if (job->crew->drawn) maker.drawn = job->crew->drawn + item * job->crew->words;
  sr__bag bag = {.read = read_bag, .maker = &maker};
  sr__random random;
  sr__random_init(&random, fit->seed, SR_PURPOSE_LEARNER, fit->replicate, (uint64_t)member);
  SR_TRY(engine->learner->fit(ctx, engine->shared, engine->training, &engine->options, &bag,
                              &random, &job->crew->member[item]));
  int64_t done = atomic_fetch_add(&job->done, 1) + 1;
  if (fit->stage) sr__progress(ctx, fit->stage, done, fit->count);
cleanup:
  return status;
}

int32_t sr__fair_stride(int32_t members) {
  int32_t stride = (int32_t)(0.6180339887 * members);
  for (;; stride++) {
    int32_t a = members, b = stride;
    while (b) {
      int32_t rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1 && stride > 0) return stride;
  }
}

sr_status sr__crew_fit(sr_context *ctx, const sr__engine *engine, const sr__fit *fit,
                       sr__crew *crew) {
  sr_status status = SR_OK;
  fit_job job = {.engine = engine, .fit = fit, .crew = crew};
  atomic_init(&job.done, 0);
  *crew = (sr__crew){.learner = engine->learner, .members = fit->count};
  SR_NEW_ZERO(ctx, crew->member, fit->count);
  SR_NEW_ZERO(ctx, job.distinct, fit->count);
  if (fit->keep_drawn) {
    crew->words = (engine->view->rows + 63) / 64;
    SR_NEW_ZERO(ctx, crew->drawn, fit->count * crew->words);
  }
  SR_TRY(sr__parallel_for(ctx, fit->count, fit_member, &job));
  for (int32_t j = 0; j < fit->count; j++) crew->cost += (double)job.distinct[j];
cleanup:
  sr__free(ctx, job.distinct);
  if (status != SR_OK) sr__crew_free(ctx, crew);
  return status;
}

void sr__crew_free(sr_context *ctx, sr__crew *crew) {
  for (int32_t j = 0; crew->member && j < crew->members; j++)
    crew->learner->free_member(crew->member[j]);
  sr__free(ctx, crew->member);
  sr__free(ctx, crew->drawn);
  crew->member = NULL;
  crew->drawn = NULL;
}
