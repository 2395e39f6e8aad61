/* Training rows judged by members that did not draw them, or saw nothing near them. Rows are judged
 * in chunks, one worker per chunk, so that votes are added in the order of the members. */
#include "evaluate.h"

enum { JUDGE_CHUNK = 2048 };

typedef struct judge_job {
  const sr__judging *judging;
  const sr__encoded *encoded;
  int64_t chunk;
  sr__margins *chunk_margins; /* per chunk */
} judge_job;

typedef struct judge_scratch {
  sr__arena arena;
  sr__member_votes votes;
  int32_t *index; /* rows that the present member judges */
  int32_t *place; /* where they stand in the chunk */
  float *tally;
  float *nearness;
  double *margin_sum, *margin_square; /* per row of the chunk, over its judges */
  int32_t *judges;
} judge_scratch;

sr_status sr__margins_init(sr_context *ctx, int32_t members, sr__margins *margins) {
  sr_status status = SR_OK;
  *margins = (sr__margins){.members = members};
  SR_NEW_ZERO(ctx, margins->member_sum, members);
  SR_NEW_ZERO(ctx, margins->member_square, members);
  SR_NEW_ZERO(ctx, margins->member_count, members);
cleanup:
  if (status != SR_OK) sr__margins_free(ctx, margins);
  return status;
}

void sr__margins_free(sr_context *ctx, sr__margins *margins) {
  sr__free(ctx, margins->member_sum);
  sr__free(ctx, margins->member_square);
  sr__free(ctx, margins->member_count);
  *margins = (sr__margins){0};
}

static void margins_add(sr__margins *to, const sr__margins *from) {
  for (int32_t j = 0; j < to->members; j++) {
    to->member_sum[j] += from->member_sum[j];
    to->member_square[j] += from->member_square[j];
    to->member_count[j] += from->member_count[j];
  }
  to->pair_sum += from->pair_sum;
  to->pair_count += from->pair_count;
  to->rho_sum += from->rho_sum;
  to->rho_square += from->rho_square;
  to->rho_count += from->rho_count;
  to->judges += from->judges;
  to->judged += from->judged;
}

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
                {(void **)&s->nearness, count * parts, sizeof(float)},
                {(void **)&s->margin_sum, count, sizeof(double)},
                {(void **)&s->margin_square, count, sizeof(double)},
                {(void **)&s->judges, count, sizeof(int32_t)}};
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

static bool may_judge(const sr__judging *judging, int32_t member, int32_t row) {
  if (judging->members->drawn && sr__has_drawn(judging->members, member, row)) return false;
  return !judging->barred ||
         !judging->barred[(int64_t)member * judging->units + judging->unit[row]];
}

/* Rows of the chunk that the member may judge and that have a class. */
static int64_t choose_rows(const sr__judging *judging, int32_t member, int64_t first, int64_t count,
                           judge_scratch *s) {
  int64_t chosen = 0;
  const int32_t *label = judging->prepared->view->label;
  for (int64_t i = 0; i < count; i++) {
    int32_t row = row_at(judging, first + i);
    if (label[row] < 0 || !may_judge(judging, member, row)) continue;
    s->index[chosen] = row;
    s->place[chosen++] = (int32_t)i;
  }
  return chosen;
}

static void count_margin(sr__margins *margins, int32_t member, double margin, int32_t place,
                         judge_scratch *s) {
  margins->member_sum[member] += margin;
  margins->member_square[member] += margin * margin;
  margins->member_count[member]++;
  s->margin_sum[place] += margin;
  s->margin_square[place] += margin * margin;
}

static void count_votes(const sr__judging *judging, int32_t member, int64_t chosen,
                        judge_scratch *s, sr__margins *margins) {
  int32_t classes = s->votes.classes;
  const int32_t *label = judging->prepared->view->label;
  const float *own = judging->members->weight;
  for (int64_t k = 0; k < chosen; k++) {
    int32_t row = s->index[k], place = s->place[k];
    float weight = own ? own[member] : 1.0f;
    if (judging->part_weights)
      weight *= sr__part_weight(judging->part_weights, member,
                                s->nearness + place * judging->part_weights->parts);
    sr__vote_add(&s->votes, k, weight, s->tally + place * classes);
    s->judges[place]++;
    if (margins) count_margin(margins, member, sr__vote_margin(&s->votes, k, label[row]), place, s);
  }
}

static void finish_rows(const sr__judging *judging, int64_t first, int64_t count,
                        const judge_scratch *s, sr__margins *margins) {
  int32_t classes = s->votes.classes;
  for (int64_t i = 0; i < count; i++) {
    int32_t row = row_at(judging, first + i), judges = s->judges[i];
    judging->vote[row] = sr__tally_winner(s->tally + i * classes, classes);
    if (!margins || judges == 0) continue;
    double sum = s->margin_sum[i], rho = sum / judges;
    margins->judges += judges;
    margins->judged++;
    if (judges < 2) continue;
    margins->pair_sum += 0.5 * (sum * sum - s->margin_square[i]);
    margins->pair_count += 0.5 * judges * (judges - 1.0);
    margins->rho_sum += rho;
    margins->rho_square += rho * rho;
    margins->rho_count++;
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
  sr__margins *margins = judging->margins ? &job->chunk_margins[item] : NULL;
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
    count_votes(judging, j, chosen, &s, margins);
  }
  finish_rows(judging, first, count, &s, margins);
cleanup:
  sr__arena_free(ctx, &s.arena);
  return status;
}

sr_status sr__judge_rows(sr_context *ctx, const sr__judging *judging) {
  sr_status status = SR_OK;
  const sr__prepared *prepared = judging->prepared;
  judge_job job = {.judging = judging, .encoded = judging->encoded};
  if (!job.encoded) job.encoded = prepared->learner->training_encoded(prepared->training);
  job.chunk = sr__chunk_size(judging->count, JUDGE_CHUNK);
  int64_t chunks = sr__chunk_count(judging->count, JUDGE_CHUNK);
  if (judging->margins) {
    SR_NEW_ZERO(ctx, job.chunk_margins, chunks);
    for (int64_t c = 0; c < chunks; c++)
      SR_TRY(sr__margins_init(ctx, judging->members->count, &job.chunk_margins[c]));
  }
  SR_TRY(sr__parallel_for(ctx, chunks, judge_chunk, &job));
  for (int64_t c = 0; judging->margins && c < chunks; c++)
    margins_add(judging->margins, &job.chunk_margins[c]);
cleanup:
  for (int64_t c = 0; job.chunk_margins && c < chunks; c++)
    sr__margins_free(ctx, &job.chunk_margins[c]);
  sr__free(ctx, job.chunk_margins);
  return status;
}
