/* A structure as bytes: for another process, or for later. */
#include <math.h>

#include "core/bytes.h"
#include "structure.h"

enum { STRUCTURE_MARK = 0x74537253, STRUCTURE_VERSION = 1 };

/* ---- writing ------------------------------------------------------------------------------ */

static void put_codes(sr__bytes *bytes, const int32_t *code, int64_t count) {
  sr__put_u8(bytes, code != NULL);
  for (int64_t i = 0; code && i < count; i++) sr__put_u32(bytes, (uint32_t)code[i]);
}

static void put_graph(sr__bytes *bytes, const sr_graph *graph) {
  sr__put_u8(bytes, graph != NULL);
  if (!graph) return;
  const sr_graph_view *view = sr_graph_get(graph);
  sr__put_u64(bytes, (uint64_t)view->arcs);
  for (int64_t i = 0; i <= view->nodes; i++) sr__put_u64(bytes, (uint64_t)view->offset[i]);
  for (int64_t a = 0; a < view->arcs; a++) sr__put_u32(bytes, (uint32_t)view->neighbor[a]);
  sr__put_u8(bytes, view->weight != NULL);
  for (int64_t a = 0; view->weight && a < view->arcs; a++) sr__put_f32(bytes, view->weight[a]);
}

sr_status sr_structure_to_bytes(sr_context *ctx, const sr_structure *s, void **bytes,
                                int64_t *count) {
  sr__bytes out = {.ctx = ctx};
  const sr_structure_view *v = &s->view;
  sr__put_u32(&out, STRUCTURE_MARK);
  sr__put_u32(&out, STRUCTURE_VERSION);
  sr__put_u64(&out, (uint64_t)v->rows);
  sr__put_string(&out, v->graph);
  sr__put_string(&out, v->tmix_method);
  sr__put_string(&out, v->recommend);
  const double numbers[] = {v->tmix,      v->tmix_careful, v->tmix_low,
                            v->tmix_high, v->block_rows,   v->seconds};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) sr__put_f64(&out, numbers[k]);
  sr__put_u8(&out, (uint8_t)v->unit);
  sr__put_u8(&out, (uint8_t)v->independent);
  sr__put_u32(&out, (uint32_t)s->groups);
  put_codes(&out, s->group, v->rows);
  put_codes(&out, s->rank, v->rows);
  put_graph(&out, s->graph);
  put_codes(&out, sr_parts_get(s->parts)->part, v->rows);
  put_codes(&out, s->hierarchy ? sr_parts_get(s->hierarchy)->part : NULL, v->rows);
  sr_status status = sr__bytes_hand_over(ctx, &out, bytes, count);
  sr__bytes_free(&out);
  return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

static sr_status get_codes(sr__byte_reader *in, int64_t rows, int32_t limit, int32_t **code) {
  sr_status status = SR_OK;
  *code = NULL;
  if (!sr__get_u8(in) || in->status != SR_OK) return in->status;
  if (rows > (in->size - in->at) / 4) sr__get_refuse(in, "rows are missing");
  SR_TRY(in->status);
  SR_NEW(in->ctx, *code, rows);
  for (int64_t i = 0; i < rows; i++) {
    (*code)[i] = (int32_t)sr__get_u32(in);
    if ((*code)[i] < 0 || (*code)[i] >= limit) sr__get_refuse(in, "a code is out of range");
  }
  status = in->status;
cleanup:
  return status;
}

static sr_status get_parts(sr__byte_reader *in, int64_t rows, const sr_graph *graph,
                           sr_parts **parts) {
  sr_status status = SR_OK;
  int32_t *label = NULL;
  SR_TRY(get_codes(in, rows, (int32_t)rows, &label));
  if (label) SR_TRY(sr_parts_new(in->ctx, rows, label, graph, parts));
cleanup:
  sr__free(in->ctx, label);
  return status;
}

static sr_status get_graph(sr__byte_reader *in, int64_t rows, sr_graph **graph) {
  sr_status status = SR_OK;
  int64_t *offset = NULL;
  int32_t *neighbor = NULL;
  float *weight = NULL;
  if (!sr__get_u8(in) || in->status != SR_OK) return in->status;
  int64_t arcs = sr__get_count(in, 4);
  if (rows > (in->size - in->at) / 8) sr__get_refuse(in, "rows are missing");
  SR_TRY(in->status);
  SR_NEW(in->ctx, offset, rows + 1);
  SR_NEW(in->ctx, neighbor, arcs);
  for (int64_t i = 0; i <= rows; i++) {
    offset[i] = (int64_t)sr__get_u64(in);
    if (offset[i] < (i ? offset[i - 1] : 0) || offset[i] > arcs)
      sr__get_refuse(in, "offsets of the graph fall");
    SR_TRY(in->status);
  }
  for (int64_t a = 0; a < arcs; a++) neighbor[a] = (int32_t)sr__get_u32(in);
  if (sr__get_u8(in)) {
    SR_NEW(in->ctx, weight, arcs);
    for (int64_t a = 0; a < arcs; a++) weight[a] = sr__get_f32(in);
  }
  SR_TRY(in->status);
  sr_graph_view view = {
      .nodes = rows, .arcs = arcs, .offset = offset, .neighbor = neighbor, .weight = weight};
  SR_TRY(sr_graph_new(in->ctx, &view, graph));
cleanup:
  sr__free(in->ctx, offset);
  sr__free(in->ctx, neighbor);
  sr__free(in->ctx, weight);
  return status;
}

static sr_status get_numbers(sr__byte_reader *in, sr_structure *s) {
  sr_structure_view *v = &s->view;
  s->graph_text = sr__get_string(in);
  s->tmix_method = sr__get_string(in);
  s->recommend = sr__get_string(in);
  v->graph = s->graph_text;
  v->tmix_method = s->tmix_method;
  v->recommend = s->recommend;
  v->tmix = sr__get_f64(in);
  v->tmix_careful = sr__get_f64(in);
  v->tmix_low = sr__get_f64(in);
  v->tmix_high = sr__get_f64(in);
  v->block_rows = sr__get_f64(in);
  v->seconds = sr__get_f64(in);
  int unit = sr__get_u8(in);
  v->independent = sr__get_u8(in) != 0;
  s->groups = (int32_t)sr__get_u32(in);
  bool unknown = isnan(v->tmix) && isnan(v->tmix_careful);
  if ((!unknown && (!(v->tmix >= 1.0 && isfinite(v->tmix)) || !(v->tmix_careful >= 1.0))) ||
      unit > SR_UNIT_GROUP || s->groups < 0)
    sr__get_refuse(in, "a number is out of range");
  v->unit = (sr_unit)unit;
  return in->status;
}

sr_status sr_structure_from_bytes(sr_context *ctx, const void *bytes, int64_t count,
                                  sr_structure **structure) {
  sr_status status = SR_OK;
  sr__byte_reader in = {.ctx = ctx, .data = bytes, .size = count, .what = "the structure"};
  sr_structure *s = NULL;
  *structure = NULL;
  if (sr__get_u32(&in) != STRUCTURE_MARK || sr__get_u32(&in) != STRUCTURE_VERSION)
    sr__get_refuse(&in, "these bytes are no structure of this version");
  uint64_t rows = sr__get_u64(&in);
  if (rows < 1 || rows > INT32_MAX) sr__get_refuse(&in, "the number of rows is out of range");
  SR_TRY(in.status);
  SR_NEW_ZERO(ctx, s, 1);
  s->allocator = sr__allocator(ctx);
  s->view.rows = (int64_t)rows;
  SR_TRY(get_numbers(&in, s));
  SR_TRY(get_codes(&in, s->view.rows, s->groups, &s->group));
  SR_TRY(get_codes(&in, s->view.rows, (int32_t)rows, &s->rank));
  SR_TRY(get_graph(&in, s->view.rows, &s->graph));
  SR_TRY(get_parts(&in, s->view.rows, s->graph, &s->parts));
  SR_TRY(get_parts(&in, s->view.rows, s->graph, &s->hierarchy));
  if (!s->parts || in.at != in.size) sr__get_refuse(&in, "it does not end where it should");
  SR_TRY(in.status);
  sr__structure_settle_scale(s);
  s->view.parts = s->parts;
  s->view.dependency_graph = s->graph;
  *structure = s;
  s = NULL;
cleanup:
  sr_structure_free(&s);
  return status;
}
