/* One member per bag, in parallel. A member depends on its bag and its own stream alone. */
#include "ensemble.h"

typedef struct fit_job {
  const sr__prepared *prepared;
  const sr__fit *fit;
  sr__members *members;
  int64_t *distinct; /* rows, per member */
  atomic_int_fast64_t done;
} fit_job;

static sr_status add_piece(void *data, const int32_t *rows, const int32_t *counts, int64_t length) {
  sr__member_key_add(data, rows, length * (int64_t)sizeof *rows);
  if (counts) sr__member_key_add(data, counts, length * (int64_t)sizeof *counts);
  return SR_OK;
}

/* A member from the store, or a new one that is kept there. */
static sr_status fit_or_find(sr_context *ctx, const sr__prepared *prepared, const sr__bag *bag,
                             sr__random *random, sr__member **member) {
  sr_status status = SR_OK;
  const sr__learner *learner = prepared->learner;
  sr__bytes bytes = {.ctx = ctx};
  sr__member_key key = prepared->key;
  int64_t size = 0;
  const uint8_t *found = NULL;
  if (prepared->store) {
    sr__member_key_add(&key, random->key, sizeof random->key);
    sr__member_key_add(&key, random->counter, sizeof random->counter);
    SR_TRY(sr__bag_read(ctx, bag, add_piece, &key));
    found = sr__member_store_find(prepared->store, &key, &size);
  }
  if (found) {
    sr__byte_reader reader = {ctx, found, size, 0, "the stored member", SR_OK};
    SR_TRY(learner->load_member(&reader, prepared->encoder, member));
    goto cleanup;
  }
  sr__fit_input input = {.encoder = prepared->encoder,
                         .training = prepared->training,
                         .options = prepared->configuration.options,
                         .at_once = prepared->at_once};
  SR_TRY(learner->fit(ctx, &input, bag, random, member));
  if (!prepared->store) goto cleanup;
  learner->save_member(prepared->encoder, *member, &bytes);
  SR_TRY(bytes.status);
  SR_TRY(sr__member_store_add(ctx, prepared->store, &key, &bytes));
cleanup:
  sr__bytes_free(&bytes);
  return status;
}

static sr_status fit_member(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  fit_job *job = data;
  const sr__fit *fit = job->fit;
  const sr__prepared *prepared = job->prepared;
  sr_status status = SR_OK;
  int64_t members = sr_plan_get(fit->plan).members;
  int32_t member = (int32_t)((fit->first + item) * (fit->stride ? fit->stride : 1) % members);
  sr__bag bag = sr__bag_open(fit->plan, member);
  bag.subset = fit->subset;
  bag.units = prepared->units;
  bag.distinct = &job->distinct[item];
  if (job->members->drawn) bag.drawn = job->members->drawn + item * job->members->words;
  sr__random random;
  bool leaves = (fit->leaves || fit->large_leaf > 0.0f) && prepared->learner->read_leaves;
  bag.leaves = leaves;
  bag.asked = fit->asked;
  sr__random_init(&random, fit->seed, SR_PURPOSE_LEARNER, fit->replicate, (uint64_t)member);
  SR_TRY(fit_or_find(ctx, prepared, &bag, &random, &job->members->member[item]));
  if (leaves) {
    bag.drawn = NULL;
    bag.distinct = NULL;
    SR_TRY(prepared->learner->read_leaves(ctx, prepared->encoder, prepared->training, &bag,
                                          job->members->member[item]));
    if (fit->large_leaf > 0.0f)
      SR_TRY(prepared->learner->blend_leaves(ctx, prepared->encoder, fit->large_leaf,
                                             job->members->member[item]));
  }
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

sr_status sr__fit_plan(sr_context *ctx, const sr__prepared *prepared, const sr__fit *fit,
                       sr__members *members) {
  sr_status status = SR_OK;
  fit_job job = {.prepared = prepared, .fit = fit, .members = members};
  double start = sr_seconds();
  atomic_init(&job.done, 0);
  *members = (sr__members){.learner = prepared->learner, .count = fit->count};
  SR_NEW_ZERO(ctx, members->member, fit->count);
  SR_NEW_ZERO(ctx, job.distinct, fit->count);
  if (fit->keep_drawn) {
    members->words = (prepared->view->rows + 63) / 64;
    SR_NEW_ZERO(ctx, members->drawn, fit->count * members->words);
  }
  SR_TRY(sr__parallel_for(ctx, fit->count, fit_member, &job));
  for (int32_t j = 0; j < fit->count; j++) members->cost += (double)job.distinct[j];
  members->seconds = sr_seconds() - start;
cleanup:
  sr__free(ctx, job.distinct);
  if (status != SR_OK) sr__members_free(ctx, members);
  return status;
}

/* ---- a mix -------------------------------------------------------------------------------- */

/* Puts `more` behind the members that are there, weighing `weight` together; `more` is emptied. */
static sr_status members_append(sr_context *ctx, sr__members *more, double weight,
                                sr__members *all) {
  sr_status status = SR_OK;
  all->learner = more->learner;
  int32_t count = all->count + more->count;
  void *grown = sr__resize(ctx, all->member, count, sizeof *all->member);
  if (!grown) SR_TRY(SR_ERROR_MEMORY);
  all->member = grown;
  grown = sr__resize(ctx, all->weight, count, sizeof *all->weight);
  if (!grown) SR_TRY(SR_ERROR_MEMORY);
  all->weight = grown;
  if (more->drawn) {
    grown = sr__resize(ctx, all->drawn, count * more->words, sizeof *all->drawn);
    if (!grown) SR_TRY(SR_ERROR_MEMORY);
    all->drawn = grown;
    memcpy(all->drawn + all->count * more->words, more->drawn,
           (size_t)(more->count * more->words) * sizeof *more->drawn);
  }
  memcpy(all->member + all->count, more->member, (size_t)more->count * sizeof *more->member);
  memset(more->member, 0, (size_t)more->count * sizeof *more->member);
  for (int32_t j = all->count; j < count; j++) all->weight[j] = (float)(weight / more->count);
  all->words = more->words;
  all->count = count;
  all->cost += more->cost;
cleanup:
  sr__members_free(ctx, more);
  return status;
}

static sr_status fit_entry(sr_context *ctx, const sr__plan_scope *scope,
                           const sr__prepared *prepared, const sr__mix_entry *entry,
                           const sr__fit *how, sr__plan_record *record, sr__members *members) {
  sr_status status = SR_OK;
  sr_plan *plan = NULL;
  sr__fit fit = *how;
  if (!entry->given)
    SR_TRY(sr__plan_new(ctx, scope, &entry->plan, entry->members, how->seed, &plan));
  fit.plan = entry->given ? entry->given : plan;
  fit.count = sr_plan_get(fit.plan).members;
  fit.large_leaf = (float)entry->large_leaf;
  SR_TRY(sr__plan_record_new(ctx, fit.plan, fit.count, entry->weight, record));
  record->large_leaf = entry->large_leaf;
  SR_TRY(sr__fit_plan(ctx, prepared, &fit, members));
cleanup:
  sr_plan_free(&plan);
  return status;
}

sr_status sr__fit_members(sr_context *ctx, const sr_structure *structure,
                          const sr__prepared *prepared, const sr__mix *mix, bool keep_drawn,
                          uint64_t seed, sr__members *members) {
  sr_status status = SR_OK;
  sr__plan_scope scope = {.structure = structure, .rows = structure->view.rows};
  sr__members more = {0};
  double start = sr_seconds();
  *members = (sr__members){.learner = prepared->learner};
  SR_NEW_ZERO(ctx, members->record, mix->count);
  members->record_count = mix->count;
  for (int32_t k = 0; k < mix->count; k++) {
    sr__fit how = {.seed = seed,
                   .replicate = (uint64_t)k << 32,
                   .stage = "fit",
                   .keep_drawn = keep_drawn};
    SR_TRY(fit_entry(ctx, &scope, prepared, &mix->entry[k], &how, &members->record[k], &more));
    SR_TRY(members_append(ctx, &more, mix->entry[k].weight, members));
  }
  if (mix->count == 1) { /* one plan: all members weigh the same */
    sr__free(ctx, members->weight);
    members->weight = NULL;
  }
  members->seconds = sr_seconds() - start;
cleanup:
  if (status != SR_OK) sr__members_free(ctx, members);
  return status;
}

sr_status sr__seen_parts(sr_context *ctx, const sr__members *members, const sr_parts_view *parts,
                         uint8_t **seen) {
  sr_status status = SR_OK;
  SR_NEW_ZERO(ctx, *seen, (int64_t)members->count * parts->parts);
  for (int32_t j = 0; j < members->count; j++) {
    const uint64_t *drawn = members->drawn + j * members->words;
    for (int64_t w = 0; w < members->words; w++) {
      for (uint64_t bits = drawn[w]; bits; bits &= bits - 1)
        (*seen)[(int64_t)j * parts->parts + parts->part[w * 64 + __builtin_ctzll(bits)]] = 1;
    }
  }
cleanup:
  return status;
}

void sr__members_free(sr_context *ctx, sr__members *members) {
  sr_allocator allocator = sr__allocator(ctx);
  for (int32_t j = 0; members->member && j < members->count; j++)
    members->learner->free_member(members->member[j]);
  sr__free(ctx, members->member);
  sr__free(ctx, members->weight);
  sr__free(ctx, members->drawn);
  sr__plan_records_free(&allocator, members->record_count, members->record);
  *members = (sr__members){0};
}
