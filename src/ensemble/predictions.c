#include "ensemble.h"

static bool needs_quotes(const char *text) { return text[strcspn(text, ",\"\r\n")] != '\0'; }

/* A name as a csv field, with quotes doubled where it must be quoted. */
static sr_status write_field(sr__writer *out, const char *prefix, const char *text) {
  sr_status status = SR_OK;
  bool quoted = needs_quotes(text);
  SR_TRY(sr__writer_print(out, "%s%s", quoted ? "\"" : "", prefix));
  for (const char *c = text; *c; c++)
    SR_TRY(sr__writer_put(out, quoted && *c == '"' ? "\"\"" : c, quoted && *c == '"' ? 2 : 1));
  if (quoted) SR_TRY(sr__writer_put(out, "\"", 1));
cleanup:
  return status;
}

static sr_status write_header(sr__writer *out, const sr_ensemble_view *view, bool shares) {
  sr_status status = SR_OK;
  SR_TRY(write_field(out, "", view->target_name ? view->target_name : "class"));
  for (int32_t c = 0; shares && c < view->classes.count; c++) {
    SR_TRY(sr__writer_put(out, ",", 1));
    SR_TRY(write_field(out, "p_", view->classes.names[c]));
  }
  SR_TRY(sr__writer_put(out, "\n", 1));
cleanup:
  return status;
}

sr_status sr_predictions_write(sr_context *ctx, const sr_ensemble *ensemble, int64_t rows,
                               const int32_t *label, const float *proba, const char *path) {
  sr_status status = SR_OK;
  const sr_ensemble_view *view = &ensemble->view;
  int32_t classes = view->classes.count;
  sr__writer *out = NULL;
  SR_TRY(sr__writer_open(ctx, path, &out));
  SR_TRY(write_header(out, view, proba != NULL));
  for (int64_t i = 0; i < rows; i++) {
    SR_TRY(write_field(out, "", label[i] >= 0 ? view->classes.names[label[i]] : ""));
    for (int32_t c = 0; proba && c < classes; c++)
      SR_TRY(sr__writer_print(out, ",%.6g", (double)proba[i * classes + c]));
    SR_TRY(sr__writer_put(out, "\n", 1));
  }
  SR_TRY(sr__writer_commit(&out));
cleanup:
  sr__writer_abort(&out);
  return status;
}
