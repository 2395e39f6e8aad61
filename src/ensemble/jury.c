/* Training rows judged by members that did not draw them, or saw nothing of their part. Rows are
 * judged in chunks, one worker a chunk, so that votes are added in the order of the members. */
#include "ensemble.h"

enum { JURY_CHUNK = 2048 };

typedef struct jury_job {
  const sr__jury *jury;
  const sr__rows *encoded;
  int64_t chunk;
  sr__margins *part_margins; /* a chunk */
} jury_job;

typedef struct jury_scratch {
  sr__arena arena;
  sr__ballot ballot;
  int32_t *index; /* rows that the present member judges */
  int32_t *place; /* where they stand in the chunk */
  float *naive, *honest;
  float *pull;
  double *margin_sum, *margin_square; /* a row of the chunk: over honest judges */
  int32_t *judges;
} jury_scratch;

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

static sr_status scratch_init(sr_context *ctx, const sr__jury *jury, int64_t count,
                              jury_scratch *s) {
  sr_status status = SR_OK;
  int32_t classes = jury->engine->classes;
  int64_t parts = jury->gate ? jury->gate->parts : 0;
  s->ballot = (sr__ballot){.learner = jury->engine->learner,
                           .shared = jury->engine->shared,
                           .rule = jury->rule,
                           .classes = classes};
  struct {
    void **block;
    int64_t count;
    size_t size;
  } blocks[] = {{(void **)&s->ballot.vote, count, sizeof(int32_t)},
                {(void **)&s->ballot.proba, count * classes, sizeof(float)},
                {(void **)&s->index, count, sizeof(int32_t)},
                {(void **)&s->place, count, sizeof(int32_t)},
                {(void **)&s->naive, count * classes, sizeof(float)},
                {(void **)&s->honest, count * classes, sizeof(float)},
                {(void **)&s->pull, count * parts, sizeof(float)},
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

static int32_t row_at(const sr__jury *jury, int64_t i) {
  return jury->rows ? jury->rows[i] : (int32_t)i;
}

static bool is_honest(const sr__jury *jury, int32_t member, int32_t row) {
  return !jury->blocked || !jury->blocked[(int64_t)member * jury->parts + jury->part[row]];
}

/* Rows of the chunk that the member has not drawn and that have a class. */
static int64_t choose_rows(const sr__jury *jury, int32_t member, int64_t first, int64_t count,
                           jury_scratch *s) {
  int64_t chosen = 0;
  const int32_t *label = jury->engine->view->label;
  for (int64_t i = 0; i < count; i++) {
    int32_t row = row_at(jury, first + i);
    if (label[row] < 0 || (jury->crew->drawn && sr__has_drawn(jury->crew, member, row))) continue;
    if (!jury->naive && !is_honest(jury, member, row)) continue;
    s->index[chosen] = row;
    s->place[chosen++] = (int32_t)i;
  }
  return chosen;
}

static void count_margin(sr__margins *margins, int32_t member, double margin, int32_t place,
                         jury_scratch *s) {
  margins->member_sum[member] += margin;
  margins->member_square[member] += margin * margin;
  margins->member_count[member]++;
  s->margin_sum[place] += margin;
  s->margin_square[place] += margin * margin;
}

static void count_ballots(const sr__jury *jury, int32_t member, int64_t chosen, jury_scratch *s,
                          sr__margins *margins) {
  int32_t classes = s->ballot.classes;
  const int32_t *label = jury->engine->view->label;
  for (int64_t k = 0; k < chosen; k++) {
    int32_t row = s->index[k], place = s->place[k];
    float weight = 1.0f;
    if (jury->gate)
      weight = sr__gate_weight(jury->gate, member, s->pull + place * jury->gate->parts);
    if (jury->naive) sr__ballot_add(&s->ballot, k, weight, s->naive + place * classes);
    if (!is_honest(jury, member, row)) continue;
    sr__ballot_add(&s->ballot, k, weight, s->honest + place * classes);
    s->judges[place]++;
    if (margins)
      count_margin(margins, member, sr__ballot_margin(&s->ballot, k, label[row]), place, s);
  }
}

static void finish_rows(const sr__jury *jury, int64_t first, int64_t count, const jury_scratch *s,
                        sr__margins *margins) {
  int32_t classes = s->ballot.classes;
  for (int64_t i = 0; i < count; i++) {
    int32_t row = row_at(jury, first + i), judges = s->judges[i];
    if (jury->naive) jury->naive[row] = sr__tally_winner(s->naive + i * classes, classes);
    if (jury->honest) jury->honest[row] = sr__tally_winner(s->honest + i * classes, classes);
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
  const jury_job *job = data;
  const sr__jury *jury = job->jury;
  sr_status status = SR_OK;
  jury_scratch s = {0};
  int64_t first = item * job->chunk;
  int64_t count = jury->count - first < job->chunk ? jury->count - first : job->chunk;
  sr__margins *margins = jury->margins ? &job->part_margins[item] : NULL;
  SR_TRY(scratch_init(ctx, jury, count, &s));
  if (jury->gate) {
    for (int64_t i = 0; i < count; i++) s.index[i] = row_at(jury, first + i);
    sr__gate_pull(jury->gate, jury->engine->view, 0, count, s.index, s.pull);
  }
  for (int32_t j = 0; j < jury->crew->members; j++) {
    int64_t chosen = choose_rows(jury, j, first, count, &s);
    if (!chosen) continue;
    SR_TRY(sr__ballot_cast(ctx, &s.ballot, jury->crew->member[j], job->encoded, s.index, chosen));
    count_ballots(jury, j, chosen, &s, margins);
  }
  finish_rows(jury, first, count, &s, margins);
cleanup:
  sr__arena_free(ctx, &s.arena);
  return status;
}

sr_status sr__jury_judge(sr_context *ctx, const sr__jury *jury) {
  sr_status status = SR_OK;
  const sr__engine *engine = jury->engine;
  jury_job job = {.jury = jury, .encoded = jury->encoded};
  if (!job.encoded) job.encoded = engine->learner->training_rows(engine->training);
  job.chunk = sr__chunk_size(jury->count, JURY_CHUNK);
  int64_t chunks = sr__chunk_count(jury->count, JURY_CHUNK);
  if (jury->margins) {
    SR_NEW_ZERO(ctx, job.part_margins, chunks);
    for (int64_t c = 0; c < chunks; c++)
      SR_TRY(sr__margins_init(ctx, jury->crew->members, &job.part_margins[c]));
  }
  SR_TRY(sr__parallel_for(ctx, chunks, judge_chunk, &job));
  for (int64_t c = 0; jury->margins && c < chunks; c++)
    margins_add(jury->margins, &job.part_margins[c]);
cleanup:
  for (int64_t c = 0; job.part_margins && c < chunks; c++)
    sr__margins_free(ctx, &job.part_margins[c]);
  sr__free(ctx, job.part_margins);
  return status;
}
