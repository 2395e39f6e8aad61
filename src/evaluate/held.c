/* Members fitted on folds, and their answers on the rows of the fold. */
#include "held.h"

#include <math.h>

enum { LEAST_FOLD_MEMBERS = 9, FOLD_MEMBERS_SHARE = 6, ITEM_MEMBERS = 6 };
#define MOST_ANSWERS 6e7 /* numbers that are kept; held-out rows are thinned to it */
#define ENTRY_STREAM UINT64_C(0x9e3779b97f4a7c15)

int32_t sr__fold_members(int32_t members) {
  int32_t few = members / FOLD_MEMBERS_SHARE;
  if (few < LEAST_FOLD_MEMBERS) few = LEAST_FOLD_MEMBERS;
  few |= 1;
  return few < members ? few : members;
}

sr_status sr__fold_rows_new(sr_context *ctx, const sr_folds *folds, int32_t fold,
                            sr__fold_rows *rows) {
  sr_status status = SR_OK;
  const sr_folds_view *view = sr_folds_get(folds);
  const uint8_t *role = view->role + fold * view->rows;
  int64_t count[SR_ROLE_FREE + 1] = {0}; /* rows as large as they are: there are many folds */
  *rows = (sr__fold_rows){0};
  for (int64_t i = 0; i < view->rows; i++) count[role[i]]++;
  SR_NEW(ctx, rows->train, count[SR_ROLE_TRAIN]);
  SR_NEW(ctx, rows->test, count[SR_ROLE_TEST]);
  for (int64_t i = 0; i < view->rows; i++) {
    if (role[i] == SR_ROLE_TRAIN) rows->train[rows->train_count++] = (int32_t)i;
    if (role[i] == SR_ROLE_TEST) rows->test[rows->test_count++] = (int32_t)i;
  }
cleanup:
  if (status != SR_OK) sr__fold_rows_free(ctx, rows);
  return status;
}

void sr__fold_rows_free(sr_context *ctx, sr__fold_rows *rows) {
  sr__free(ctx, rows->train);
  sr__free(ctx, rows->test);
  *rows = (sr__fold_rows){0};
}

sr_status sr__all_fold_rows(sr_context *ctx, const sr_folds *folds, sr__fold_rows **rows) {
  sr_status status = SR_OK;
  int32_t count = sr_folds_get(folds)->folds;
  SR_NEW_ZERO(ctx, *rows, count);
  for (int32_t f = 0; f < count; f++) SR_TRY(sr__fold_rows_new(ctx, folds, f, &(*rows)[f]));
cleanup:
  if (status != SR_OK && *rows) {
    for (int32_t f = 0; f < count; f++) sr__fold_rows_free(ctx, &(*rows)[f]);
    sr__free(ctx, *rows);
    *rows = NULL;
  }
  return status;
}

sr_status sr__holdout_fit(sr_context *ctx, const sr__holdout *h, int32_t fold,
                          const sr__fold_rows *rows, sr__members *members) {
  sr_status status = SR_OK;
  sr_plan *plan = NULL;
  sr__plan_scope scope = {.structure = h->structure,
                          .subset = rows->train,
                          .rows = rows->train_count};
  *members = (sr__members){0};
  SR_TRY(sr__plan_new(ctx, &scope, h->plan, h->plan_members, h->seed, &plan));
  int32_t all = sr_plan_get(plan).members;
  bool some = h->count > 0;
  sr__fit fit = {.plan = plan,
                 .subset = rows->train,
                 .first = h->first,
                 .count = some ? h->count : all,
                 .stride = some ? sr__fair_stride(all) : 1,
                 .seed = h->seed,
                 .replicate = h->replicate + (uint64_t)fold + 1,
                 .leaves = h->leaves,
                 .keep_drawn = h->keep_drawn,
                 .asked = h->once ? rows->test_count : 0};
  SR_TRY(sr__fit_plan(ctx, h->prepared, &fit, members));
cleanup:
  sr_plan_free(&plan);
  return status;
}

/* Every stride-th held-out row, so that the answers fit into memory. */
static void thin(sr__held *held, int32_t expected) {
  double wanted = 0.0;
  for (int32_t f = 0; f < held->folds; f++) wanted += (double)held->rows[f].test_count;
  wanted *= (double)expected * held->leaves * held->classes;
  held->stride = wanted > MOST_ANSWERS ? (int64_t)ceil(wanted / MOST_ANSWERS) : 1;
  for (int32_t f = 0; f < held->folds && held->stride > 1; f++) {
    sr__fold_rows *rows = &held->rows[f];
    int64_t kept = 0;
    for (int64_t k = 0; k < rows->test_count; k += held->stride) rows->test[kept++] = rows->test[k];
    rows->test_count = kept;
  }
}

sr_status sr__held_new(sr_context *ctx, const sr__held_options *options, sr__held *held) {
  sr_status status = SR_OK;
  const sr__prepared *prepared = options->prepared;
  sr__fold_rows *rows = options->rows;
  int32_t folds = options->folds;
  *held = (sr__held){.structure = options->structure,
                     .prepared = prepared,
                     .rule = options->rule,
                     .plan_members = options->plan_members,
                     .seed = options->seed,
                     .replicate = options->replicate,
                     .keep_members = options->keep_members,
                     .folds = folds,
                     .rows = rows,
                     .classes = prepared->classes,
                     .leaves = options->leaves && prepared->learner->predict_leaves ? 2 : 1};
  thin(held, options->expected);
  SR_NEW(ctx, held->first, folds + 1);
  held->first[0] = 0;
  for (int32_t f = 0; f < folds; f++) held->first[f + 1] = held->first[f] + rows[f].test_count;
  held->count = held->first[folds];
  SR_NEW(ctx, held->row, held->count);
  for (int32_t f = 0; f < folds; f++)
    memcpy(held->row + held->first[f], rows[f].test,
           (size_t)rows[f].test_count * sizeof *held->row);
  SR_NEW_ZERO(ctx, held->entry, options->entries);
  held->entries = options->entries;
  for (int32_t e = 0; e < held->entries; e++) held->entry[e].plan = *options->plan[e];
cleanup:
  if (status != SR_OK) sr__held_free(ctx, held);
  return status;
}

void sr__held_forget_members(sr_context *ctx, sr__held *held, int32_t e) {
  sr__held_entry *entry = &held->entry[e];
  for (int64_t k = 0; entry->fitted && k < (int64_t)entry->members * held->folds; k++)
    held->prepared->learner->free_member(entry->fitted[k]);
  sr__free(ctx, entry->fitted);
  entry->fitted = NULL;
}

void sr__held_free(sr_context *ctx, sr__held *held) {
  for (int32_t f = 0; held->rows && f < held->folds; f++) sr__fold_rows_free(ctx, &held->rows[f]);
  for (int32_t e = 0; held->entry && e < held->entries; e++) {
    sr__held_entry *entry = &held->entry[e];
    sr__held_forget_members(ctx, held, e);
    for (int32_t j = 0; j < entry->members; j++) sr__free(ctx, entry->answer[j]);
    sr__free(ctx, entry->answer);
  }
  sr__free(ctx, held->rows);
  sr__free(ctx, held->first);
  sr__free(ctx, held->row);
  sr__free(ctx, held->entry);
  *held = (sr__held){0};
}

/* ---- growing ------------------------------------------------------------------------------ */

/* Members [first, first + count) of an entry on one fold. */
typedef struct held_item {
  int32_t entry, fold, first, count;
  double cost;
} held_item;

typedef struct held_job {
  sr__held *held;
  held_item *item;
  int64_t items;
  const char *stage;
  atomic_int_fast64_t done;
} held_job;

/* One for the class that the member names. */
static void give_votes(const int32_t *vote, int64_t count, int32_t classes, float *answer) {
  memset(answer, 0, (size_t)(count * classes) * sizeof *answer);
  for (int64_t i = 0; i < count; i++) answer[i * classes + vote[i]] = 1.0f;
}

static sr_status ask(sr_context *ctx, const sr__held *held, int32_t fold, const sr__member *member,
                     int32_t *vote, float *answer) {
  const sr__prepared *p = held->prepared;
  const sr__encoded *rows = p->learner->training_encoded(p->training);
  int64_t begin = held->first[fold], count = held->first[fold + 1] - begin;
  float *fine = answer + begin * held->classes;
  float *coarse = fine + held->count * held->classes;
  sr__picked picked = {held->row + begin, count};
  if (held->leaves == 2)
    return p->learner->predict_leaves(ctx, p->encoder, member, rows, picked,
                                      (sr__leaf_answers){fine, coarse});
  bool soft = held->rule == SR_VOTE_SOFT;
  sr_status status =
      p->learner->predict(ctx, p->encoder, member, rows, picked,
                          (sr__answers){.vote = soft ? NULL : vote, .share = soft ? fine : NULL});
  if (status == SR_OK && !soft) give_votes(vote, count, held->classes, fine);
  return status;
}

/* Members weigh by how near their parts lie to the row. */
static sr_status weigh_by_parts(sr_context *ctx, const sr__held *held, const held_item *item,
                                const sr__members *members) {
  sr_status status = SR_OK;
  sr__part_weights weights = {0};
  sr_allocator allocator = sr__allocator(ctx);
  float *nearness = NULL;
  int64_t begin = held->first[item->fold], count = held->first[item->fold + 1] - begin;
  SR_TRY(sr__part_weights_new(ctx, held->prepared->view, sr_parts_get(held->structure->parts),
                              members, &weights));
  SR_NEW(ctx, nearness, count * weights.parts);
  sr__part_nearness(&weights, held->prepared->view, 0, count, held->row + begin, nearness);
  for (int32_t j = 0; j < members->count; j++) {
    float *answer = held->entry[item->entry].answer[item->first + j] + begin * held->classes;
    for (int64_t i = 0; i < count; i++) {
      float weight = sr__part_weight(&weights, j, nearness + i * weights.parts);
      for (int32_t c = 0; c < held->classes; c++) answer[i * held->classes + c] *= weight;
    }
  }
cleanup:
  sr__part_weights_free(&allocator, &weights);
  sr__free(ctx, nearness);
  return status;
}

static sr_status fit_item(sr_context *ctx, void *data, int64_t index, int slot) {
  (void)slot;
  held_job *job = data;
  sr__held *held = job->held;
  held_item *item = &job->item[index];
  sr_status status = SR_OK;
  sr__held_entry *entry = &held->entry[item->entry];
  sr__members members = {0};
  int32_t *vote = NULL;
  sr__holdout holdout = {.structure = held->structure,
                         .prepared = held->prepared,
                         .plan = &entry->plan,
                         .plan_members = held->plan_members,
                         .first = item->first,
                         .count = item->count,
                         .seed = held->seed + (uint64_t)item->entry * ENTRY_STREAM,
                         .replicate = held->replicate,
                         .leaves = held->leaves == 2,
                         .keep_drawn = held->rule == SR_VOTE_GATED,
                         .once = !held->keep_members};
  SR_TRY(sr__holdout_fit(ctx, &holdout, item->fold, &held->rows[item->fold], &members));
  SR_NEW(ctx, vote, held->rows[item->fold].test_count);
  for (int32_t j = 0; j < item->count; j++)
    SR_TRY(ask(ctx, held, item->fold, members.member[j], vote, entry->answer[item->first + j]));
  if (held->rule == SR_VOTE_GATED) SR_TRY(weigh_by_parts(ctx, held, item, &members));
  for (int32_t j = 0; entry->fitted && j < item->count; j++) {
    entry->fitted[(item->first + j) * held->folds + item->fold] = members.member[j];
    members.member[j] = NULL;
  }
  item->cost = members.cost;
  int64_t done = atomic_fetch_add(&job->done, 1) + 1;
  if (job->stage) sr__progress(ctx, job->stage, done, job->items);
cleanup:
  sr__members_free(ctx, &members);
  sr__free(ctx, vote);
  return status;
}

static sr_status make_room(sr_context *ctx, sr__held *held, sr__held_entry *entry, int32_t count) {
  sr_status status = SR_OK;
  void *grown = sr__resize(ctx, entry->answer, count, sizeof *entry->answer);
  if (!grown) SR_TRY(SR_ERROR_MEMORY);
  entry->answer = grown;
  if (held->keep_members) {
    int64_t slots = (int64_t)count * held->folds;
    grown = sr__resize(ctx, entry->fitted, slots, sizeof *entry->fitted);
    if (!grown) SR_TRY(SR_ERROR_MEMORY);
    entry->fitted = grown;
    for (int64_t k = (int64_t)entry->members * held->folds; k < slots; k++) entry->fitted[k] = NULL;
  }
  for (; entry->members < count; entry->members++)
    SR_NEW(ctx, entry->answer[entry->members], held->count * held->leaves * held->classes);
cleanup:
  return status;
}

sr_status sr__held_grow(sr_context *ctx, sr__held *held, const int32_t *members,
                        const char *stage) {
  sr_status status = SR_OK;
  held_job job = {.held = held, .stage = stage};
  int64_t most = 0;
  atomic_init(&job.done, 0);
  for (int32_t e = 0; e < held->entries; e++) {
    int32_t add = members[e] - held->entry[e].members;
    if (add > 0) most += (int64_t)held->folds * ((add + ITEM_MEMBERS - 1) / ITEM_MEMBERS);
  }
  SR_NEW_ZERO(ctx, job.item, most);
  for (int32_t e = 0; e < held->entries; e++) {
    int32_t have = held->entry[e].members;
    if (members[e] <= have) continue;
    SR_TRY(make_room(ctx, held, &held->entry[e], members[e]));
    for (int32_t f = 0; f < held->folds; f++) {
      for (int32_t j = have; j < members[e]; j += ITEM_MEMBERS) {
        int32_t count = members[e] - j < ITEM_MEMBERS ? members[e] - j : ITEM_MEMBERS;
        job.item[job.items++] = (held_item){.entry = e, .fold = f, .first = j, .count = count};
      }
    }
  }
  SR_TRY(sr__parallel_for(ctx, job.items, fit_item, &job));
  for (int64_t k = 0; k < job.items; k++) held->entry[job.item[k].entry].cost += job.item[k].cost;
cleanup:
  sr__free(ctx, job.item);
  return status;
}
