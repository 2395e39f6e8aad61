/* Held-out predictions as csv or tsv, for other programs. */
#include "data/row_text.h"
#include "evaluate.h"

static sr_status put_whole(sr_context *ctx, sr__text *text, char separator, int64_t number) {
  return sr__text_print(ctx, text, "%c%lld", separator, (long long)number);
}

static sr_status put_header(sr_context *ctx, const sr_ensemble_view *view, char separator,
                            sr__text *text) {
  sr_status status = SR_OK;
  sr__text name = {0};
  SR_TRY(sr__text_print(ctx, text, "row%ctruth%cprediction", separator, separator));
  for (int32_t c = 0; view->evaluation->held_rows.share && c < view->classes.count; c++) {
    name.length = 0;
    SR_TRY(sr__text_print(ctx, &name, "p_%s", view->classes.names[c]));
    SR_TRY(sr__put_char(ctx, text, separator));
    SR_TRY(sr__put_name(ctx, text, name.bytes, separator));
  }
  SR_TRY(sr__text_print(ctx, text, "%cpart%cfold\n", separator, separator));
cleanup:
  sr__free(ctx, name.bytes);
  return status;
}

static sr_status put_rows(sr_context *ctx, const void *from, char separator, int64_t begin,
                          int64_t end, sr__text *text) {
  sr_status status = SR_OK;
  const sr_ensemble_view *view = from;
  const sr_held_rows *held = &view->evaluation->held_rows;
  for (int64_t k = begin; k < end; k++) {
    SR_TRY(sr__text_print(ctx, text, "%lld%c", (long long)held->row[k], separator));
    SR_TRY(sr__put_code(ctx, text, &view->classes, held->label[k], separator));
    SR_TRY(sr__put_char(ctx, text, separator));
    SR_TRY(sr__put_code(ctx, text, &view->classes, held->vote[k], separator));
    for (int32_t c = 0; held->share && c < view->classes.count; c++) {
      SR_TRY(sr__put_char(ctx, text, separator));
      SR_TRY(sr__put_float(ctx, text, held->share[k * view->classes.count + c]));
    }
    SR_TRY(put_whole(ctx, text, separator, held->unit[k]));
    SR_TRY(put_whole(ctx, text, separator, held->fold[k]));
    SR_TRY(sr__put_char(ctx, text, '\n'));
  }
cleanup:
  return status;
}

sr_status sr_held_rows_write(sr_context *ctx, const sr_ensemble *ensemble, const char *path) {
  sr_status status = SR_OK;
  const sr_ensemble_view *view = sr_ensemble_get(ensemble);
  sr__text header = {0};
  char separator = sr__ends_in(path, ".tsv") || sr__ends_in(path, ".tsv.gz") ? '\t' : ',';
  if (!view->evaluation || !view->evaluation->held_rows.row)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT,
                    "held-out rows were not kept; train with keep_held_rows and an evaluation"));
  SR_TRY(put_header(ctx, view, separator, &header));
  SR_TRY(sr__write_rows(ctx, path, &header,
                        (sr__written_rows){put_rows, view, view->evaluation->held_rows.count,
                                           separator}));
cleanup:
  sr__free(ctx, header.bytes);
  return status;
}
