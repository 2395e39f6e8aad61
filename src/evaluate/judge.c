/* Training rows judged by members that did not draw them, or saw nothing near them. Rows are judged
 * in chunks, one worker per chunk, so that votes are added in the order of the members. */
#include "evaluate.h"

enum { JUDGE_CHUNK = 2048 };

typedef struct judge_job {
  const sr__judging *judging;
  const sr__encoded *encoded;
  int64_t chunk;
} judge_job;

typedef struct judge_scratch {
  sr__arena arena;
  sr__member_votes votes;
  int32_t *index; /* rows that the present member judges */
  int32_t *place; /* where they stand in the chunk */
  float *tally;
  float *nearness;
} judge_scratch;

static sr_status scratch_init(sr_context *ctx, const sr__judging *judging, int64_t count,
                              judge_scratch *s) {
  sr_status status = SR_OK;
  int32_t classes = judging->prepared->classes;
  int64_t parts = judging->part_weights ? judging->part_weights->parts : 0;
  s->votes = (sr__member_votes){.learner = judging->prepared->learner,
                                .encoder = judging->prepared->encoder,
                                .rule = judging->rule,
                                .classes = classes};
  struct {
    void **block;
    int64_t count;
    size_t size;
  } blocks[] = {{(void **)&s->votes.vote, count, sizeof(int32_t)},
                {(void **)&s->votes.proba, count * classes, sizeof(float)},
                {(void **)&s->index, count, sizeof(int32_t)},
                {(void **)&s->place, count, sizeof(int32_t)},
                {(void **)&s->tally, count * classes, sizeof(float)},
                {(void **)&s->nearness, count * parts, sizeof(float)}};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    *blocks[b].block = sr__arena_alloc(ctx, &s->arena, blocks[b].count, blocks[b].size);
    if (!*blocks[b].block) SR_TRY(SR_ERROR_MEMORY);
    memset(*blocks[b].block, 0, (size_t)blocks[b].count * blocks[b].size);
  }
cleanup:
  return status;
}

static int32_t row_at(const sr__judging *judging, int64_t i) {
  return judging->rows ? judging->rows[i] : (int32_t)i;
}

bool sr__may_judge(const sr__judging *judging, int32_t member, int32_t row) {
  if (judging->members->drawn && sr__has_drawn(judging->members, member, row)) return false;
  return !judging->barred ||
         !judging->barred[(int64_t)member * judging->units + judging->unit[row]];
}

/* Rows of the chunk that the member may judge and that have a class. */
static int64_t choose_rows(const sr__judging *judging, int32_t member, int64_t first, int64_t count,
                           judge_scratch *s) {
  int64_t chosen = 0;
  const int32_t *label = judging->prepared->view->label;
  const sr__members *members = judging->members;
  bool by_draw = members->drawn && !judging->barred; /* nothing else bars a member */
  for (int64_t i = 0; i < count; i++) {
    int32_t row = row_at(judging, first + i);
    if (label[row] < 0) continue;
    if (by_draw ? sr__has_drawn(members, member, row) : !sr__may_judge(judging, member, row))
      continue;
    s->index[chosen] = row;
    s->place[chosen++] = (int32_t)i;
  }
  return chosen;
}

static void count_votes(const sr__judging *judging, int32_t member, int64_t chosen,
                        judge_scratch *s) {
  int32_t classes = s->votes.classes;
  const float *own = judging->weight ? judging->weight : judging->members->weight;
  for (int64_t k = 0; k < chosen; k++) {
    int32_t place = s->place[k];
    float weight = own ? own[member] : 1.0f;
    if (judging->part_weights)
      weight *= sr__part_weight(judging->part_weights, member,
                                s->nearness + place * judging->part_weights->parts);
    sr__vote_add(&s->votes, k, weight, s->tally + place * classes);
  }
}

static void add_offset(const float *offset, int32_t classes, float *tally) {
  float total = 0.0f;
  for (int32_t c = 0; c < classes; c++) total += tally[c];
  for (int32_t c = 0; c < classes && total > 0.0f; c++) {
    float share = tally[c] / total + offset[c];
    tally[c] = share > 0.0f ? share : 0.0f;
  }
}

static void finish_rows(const sr__judging *judging, int64_t first, int64_t count,
                        const judge_scratch *s) {
  int32_t classes = s->votes.classes;
  for (int64_t i = 0; i < count; i++) {
    float *tally = s->tally + i * classes;
    if (judging->offset) add_offset(judging->offset, classes, tally);
    judging->vote[row_at(judging, first + i)] = sr__tally_winner(tally, classes);
  }
}

static sr_status judge_chunk(sr_context *ctx, void *data, int64_t item, int slot) {
  (void)slot;
  const judge_job *job = data;
  const sr__judging *judging = job->judging;
  sr_status status = SR_OK;
  judge_scratch s = {0};
  int64_t first = item * job->chunk;
  int64_t count = judging->count - first < job->chunk ? judging->count - first : job->chunk;
  SR_TRY(scratch_init(ctx, judging, count, &s));
  if (judging->part_weights) {
    for (int64_t i = 0; i < count; i++) s.index[i] = row_at(judging, first + i);
    sr__part_nearness(judging->part_weights, judging->prepared->view, 0, count, s.index,
                      s.nearness);
  }
  for (int32_t j = 0; j < judging->members->count; j++) {
    int64_t chosen = choose_rows(judging, j, first, count, &s);
    if (!chosen) continue;
    SR_TRY(
        sr__ask_member(ctx, &s.votes, judging->members->member[j], job->encoded, s.index, chosen));
    count_votes(judging, j, chosen, &s);
  }
  finish_rows(judging, first, count, &s);
cleanup:
  sr__arena_free(ctx, &s.arena);
  return status;
}

sr_status sr__judge_rows(sr_context *ctx, const sr__judging *judging) {
  const sr__prepared *prepared = judging->prepared;
  judge_job job = {.judging = judging, .encoded = judging->encoded};
  if (!job.encoded) job.encoded = prepared->learner->training_encoded(prepared->training);
  job.chunk = sr__chunk_size(judging->count, JUDGE_CHUNK);
  return sr__parallel_for(ctx, sr__chunk_count(judging->count, JUDGE_CHUNK), judge_chunk, &job);
}
