#include "conclusion.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Samples stay valid as long as the conclusion: each has a block of its own. */
struct sample_block {
  struct sample_block *next;
  double data[];
};

/* ---- reading ------------------------------------------------------------------------------ */

static double value_named(const measurement *m, const char *name) {
  for (int i = 0; i < m->count; i++)
    if (strcmp(m->name[i], name) == 0) return m->value[i];
  return NAN;
}

static int by_seed(const void *a, const void *b) {
  const result *x = *(const result *const *)a, *y = *(const result *const *)b;
  return x->seed < y->seed ? -1 : x->seed > y->seed;
}

/* One block holds the values and, behind them, the seeds. */
static struct sample_block *new_block(conclusion *c, int64_t count) {
  struct sample_block *block =
      malloc(sizeof *block + (size_t)count * (sizeof(double) + sizeof(uint64_t)));
  if (!block) {
    c->status = SR_ERROR_MEMORY;
    return NULL;
  }
  block->next = c->blocks;
  c->blocks = block;
  return block;
}

static int64_t collect(const conclusion *c, const char *case_name, const result **list) {
  int64_t count = 0;
  for (int64_t i = 0; i < c->found.count; i++)
    if (strcmp(c->found.item[i].name, case_name) == 0) list[count++] = &c->found.item[i];
  qsort(list, (size_t)count, sizeof *list, by_seed);
  return count;
}

result_sample conclusion_sample(conclusion *c, int case_index, const char *value_name) {
  result_sample s = {.mean = NAN};
  char name[CASE_NAME_SIZE];
  c->e->case_name(c->scale, case_index, name, sizeof name);
  const result **list = malloc((size_t)(c->found.count + 1) * sizeof *list);
  struct sample_block *block = NULL;
  int64_t all = list ? collect(c, name, list) : 0;
  if (!list) c->status = SR_ERROR_MEMORY;
  if (list) block = new_block(c, all);
  if (block) {
    double *value = block->data;
    uint64_t *seed = (uint64_t *)(block->data + all);
    for (int64_t i = 0; i < all; i++) {
      double measured = value_named(&list[i]->measured, value_name);
      if (isnan(measured)) continue;
      value[s.count] = measured;
      seed[s.count++] = list[i]->seed;
    }
    s.value = value;
    s.seed = seed;
    if (s.count) s.mean = sr_mean(s.count, value);
    s.sd = sr_standard_deviation(s.count, value);
  }
  free(list);
  return s;
}

experiment_scale conclusion_scale(const conclusion *c) { return c->scale; }
sr_context *conclusion_context(const conclusion *c) { return c->ctx; }

/* ---- cells -------------------------------------------------------------------------------- */

void conclusion_begin_table(conclusion *c, const char *caption) {
  void *grown = realloc(c->caption, (size_t)(c->table_count + 1) * sizeof *c->caption);
  if (!grown) {
    c->status = SR_ERROR_MEMORY;
    return;
  }
  c->caption = grown;
  snprintf(c->caption[c->table_count++], sizeof *c->caption, "%s", caption);
}

static sr_agreement common_rule(const conclusion_cell *k) {
  if (isnan(k->paper) || isnan(k->measured) || isinf(k->low)) return SR_AGREEMENT_NONE;
  double difference = fabs(k->measured - k->paper);
  double spread = hypot(isnan(k->sd) ? 0.0 : k->sd, isnan(k->paper_sd) ? 0.0 : k->paper_sd);
  bool inside = k->paper >= k->low && k->paper <= k->high;
  if (inside || difference <= 2.0 * spread || difference <= 0.15 * fabs(k->paper))
    return SR_AGREEMENT_GOOD;
  /* An exponent of 1 beside 2 is no agreement: intervals, not factors, decide for estimates. */
  if (isfinite(k->low))
    return difference <= k->high - k->low ? SR_AGREEMENT_PARTLY : SR_AGREEMENT_BAD;
  double ratio = k->paper != 0.0 ? k->measured / k->paper : 0.0;
  return ratio >= 0.5 && ratio <= 2.0 ? SR_AGREEMENT_PARTLY : SR_AGREEMENT_BAD;
}

static void push_cell(conclusion *c, conclusion_cell k) {
  if (c->table_count == 0) conclusion_begin_table(c, c->e->about.help);
  if (c->cell_count == c->cell_capacity) {
    int64_t capacity = c->cell_capacity ? 2 * c->cell_capacity : 64;
    conclusion_cell *grown = realloc(c->cells, (size_t)capacity * sizeof *grown);
    if (!grown) {
      c->status = SR_ERROR_MEMORY;
      return;
    }
    c->cells = grown;
    c->cell_capacity = capacity;
  }
  k.table = c->table_count - 1;
  k.agreement = common_rule(&k);
  c->cells[c->cell_count++] = k;
}

void conclusion_add_cell(conclusion *c, const char *row, const char *column, double paper,
                         double paper_sd, const result_sample *measured) {
  conclusion_cell k = {.paper = paper,
                       .paper_sd = paper_sd,
                       .measured = measured->mean,
                       .sd = measured->sd,
                       .low = NAN,
                       .high = NAN,
                       .n = measured->count};
  snprintf(k.row, sizeof k.row, "%s", row);
  snprintf(k.column, sizeof k.column, "%s", column);
  push_cell(c, k);
}

void conclusion_add_estimate(conclusion *c, const char *row, const char *column, double paper,
                             const sr_interval *measured) {
  conclusion_cell k = {.paper = paper,
                       .paper_sd = NAN,
                       .measured = measured->estimate,
                       .sd = NAN,
                       .low = measured->low,
                       .high = measured->high};
  snprintf(k.row, sizeof k.row, "%s", row);
  snprintf(k.column, sizeof k.column, "%s", column);
  push_cell(c, k);
}

void conclusion_set_agreement(conclusion *c, sr_agreement agreement) {
  if (c->cell_count) c->cells[c->cell_count - 1].agreement = agreement;
}

/* ---- plots, remarks, verdict -------------------------------------------------------------- */

void conclusion_add_plot(conclusion *c, const sr_plot *plot) {
  if (!c->page || c->status != SR_OK) return;
  c->status = sr_page_add_plot(c->ctx, c->page, plot);
}

void conclusion_add_ranks(conclusion *c, const char *title, int32_t count, const char *const *names,
                          const double *ranks, double critical_difference) {
  if (!c->page || c->status != SR_OK) return;
  c->status = sr_page_add_ranks(c->ctx, c->page, title, count, names, ranks, critical_difference);
}

void conclusion_add_remark(conclusion *c, const char *format, ...) {
  void *grown = realloc(c->remark, (size_t)(c->remark_count + 1) * sizeof *c->remark);
  if (!grown) {
    c->status = SR_ERROR_MEMORY;
    return;
  }
  c->remark = grown;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->remark[c->remark_count++], sizeof *c->remark, format, arguments);
  va_end(arguments);
}

void conclusion_decide(conclusion *c, verdict v, const char *format, ...) {
  c->verdict = v;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->reason, sizeof c->reason, format, arguments);
  va_end(arguments);
}

const char *verdict_name(verdict v) {
  static const char *const names[] = {"no verdict", "reproduced", "partly", "not reproduced",
                                      "cannot be tested here"};
  return names[v];
}

sr_agreement verdict_agreement(verdict v) {
  static const sr_agreement agreements[] = {SR_AGREEMENT_NONE, SR_AGREEMENT_GOOD,
                                            SR_AGREEMENT_PARTLY, SR_AGREEMENT_BAD,
                                            SR_AGREEMENT_UNTESTED};
  return agreements[v];
}

/* ---- life --------------------------------------------------------------------------------- */

sr_status conclusion_read(sr_context *ctx, const result_source *source, sr_page *page,
                          conclusion **out, char *reason, size_t reason_size) {
  sr_status status = SR_OK;
  const experiment *e = source->e;
  char path[1200];
  conclusion *c = calloc(1, sizeof *c);
  *out = NULL;
  reason[0] = '\0';
  if (!c) SR_TRY(SR_ERROR_MEMORY);
  *c = (conclusion){.e = e, .scale = source->scale, .ctx = ctx, .page = page};
  results_path(source->folder, e, source->scale, path, sizeof path);
  SR_TRY(results_read(ctx, path, &c->found, reason, reason_size));
  for (int64_t i = 0; e->know && i < c->found.count; i++) e->know(NULL, c->found.item[i].name);
  SR_TRY(e->conclude(c));
  SR_TRY(c->status);
  *out = c;
  return SR_OK;
cleanup:
  if (!reason[0])
    snprintf(reason, reason_size, "%s: %s", e->about.name,
             sr_context_error(ctx).status == status ? sr_context_error(ctx).message
                                                    : sr_status_message(status));
  conclusion_free(&c);
  return status;
}

void conclusion_free(conclusion **c) {
  if (!*c) return;
  while ((*c)->blocks) {
    struct sample_block *next = (*c)->blocks->next;
    free((*c)->blocks);
    (*c)->blocks = next;
  }
  results_free(&(*c)->found);
  free((*c)->cells);
  free((*c)->caption);
  free((*c)->remark);
  free(*c);
  *c = NULL;
}
