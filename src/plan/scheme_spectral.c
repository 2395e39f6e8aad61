/* Algorithm 1 of the paper: floor(m / P) members per part, the remainder to the first parts, and a
 * bootstrap inside the part. P = ceil(c / lambda_2). The literal scale takes lambda_2 of the graph
 * that is cut; the other takes 1 / T, the gap of the data's own process. */
#include "plan.h"

typedef struct spectral {
  int64_t parts;
  int scale;
  double c;
} spectral;

enum { SCALE_DATA, SCALE_LITERAL };

static const sr_option options[] = {
    SR_INTEGER(spectral, parts, "0", 0, 1e9, "number of parts; 0 is c / lambda_2"),
    SR_CHOICE(spectral, scale, "data", "data|literal",
              "whose lambda_2: that of the data's process, 1 / T, or of the graph that is cut"),
    SR_REAL(spectral, c, "1", 1e-9, 1e9, "the constant c"), SR_OPTIONS_END};

static sr_status graph_gap(sr_context *ctx, const sr_structure *structure, double *lambda2) {
  sr_status status = SR_OK;
  sr_graph *window = NULL;
  sr_spectrum *spectrum = NULL;
  if (!structure->graph) SR_TRY(sr__structure_window(ctx, structure, &window));
  SR_TRY(
      sr_spectrum_compute(ctx, structure->graph ? structure->graph : window, NULL, 1, &spectrum));
  *lambda2 = sr_spectrum_get(spectrum)->value[0];
cleanup:
  sr_spectrum_free(&spectrum);
  sr_graph_free(&window);
  return status;
}

static void free_state(const sr_allocator *allocator, void *state) {
  sr__part_rows_free(allocator, state);
  sr__release(allocator, state);
}

static sr_status prepare(sr_context *ctx, const sr__plan_scope *scope, const void *values,
                         sr_plan *plan, void **state) {
  sr_status status = SR_OK;
  const spectral *o = values;
  sr__part_rows *parts = NULL;
  double lambda2 = 1.0 / scope->structure->scale;
  if (o->parts == 0 && o->scale == SCALE_LITERAL)
    SR_TRY(graph_gap(ctx, scope->structure, &lambda2));
  int64_t count =
      o->parts ? o->parts : sr_plan_spectral_parts(o->c, lambda2, plan->members, scope->rows);
  if (count > plan->members)
    SR_TRY(
        sr__fail(ctx, SR_ERROR_ARGUMENT,
                 "plan spectral has %lld parts for %d members; give it no more parts than members",
                 (long long)count, plan->members));
  SR_NEW_ZERO(ctx, parts, 1);
  *state = parts;
  SR_TRY(sr__scope_parts(ctx, scope, (int32_t)count, parts));
  plan->capacity = 0;
  for (int32_t p = 0; p < parts->parts; p++) {
    int64_t size = parts->offset[p + 1] - parts->offset[p];
    if (size > plan->capacity) plan->capacity = size;
  }
  sr__plan_parameter(plan, "parts", parts->parts);
cleanup:
  return status;
}

static int32_t part_of_member(const sr_plan *plan, int32_t parts, int32_t member) {
  int32_t each = plan->members / parts, more = plan->members % parts;
  int32_t in_larger = more * (each + 1);
  if (member < in_larger) return member / (each + 1);
  return more + (member - in_larger) / each;
}

static sr_status make_bag(sr_context *ctx, const sr_plan *plan, int32_t member, sr__random *random,
                          sr__bag_buffer *bag) {
  const sr__part_rows *parts = plan->state;
  int32_t part = part_of_member(plan, parts->parts, member);
  int64_t low = parts->offset[part], size = parts->offset[part + 1] - low;
  return sr__bootstrap_list(ctx, random, size, size, parts->row + low, bag);
}

const sr__scheme sr__scheme_spectral = {
    .about = {"spectral", "the paper's Algorithm 1: one part per member, bootstrapped", options,
              sizeof(spectral), NULL},
    .prepare = prepare,
    .bag = make_bag,
    .free_state = free_state,
};
