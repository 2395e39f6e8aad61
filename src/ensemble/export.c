#include "export.h"

#include "core/text.h"

double sr__export_weight(const sr_ensemble *ensemble, int32_t member) {
  double total = 0.0;
  if (!ensemble->weight) return 1.0 / ensemble->view.members;
  for (int32_t j = 0; j < ensemble->view.members; j++) total += (double)ensemble->weight[j];
  return (double)ensemble->weight[member] / total;
}

sr_status sr_ensemble_export(sr_context *ctx, const sr_ensemble *ensemble, const char *path) {
  sr_status status = SR_OK;
  sr__writer *out = NULL;
  bool json = sr__ends_in(path, ".json"), onnx = sr__ends_in(path, ".onnx");
  if (!json && !onnx)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "forests are exported as .json or .onnx, and '%s' ends in neither", path));
  if (!ensemble->learner->nodes)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "members of the learner %s are no trees and cannot be exported",
                    ensemble->learner->about.name));
  if (ensemble->view.vote == SR_VOTE_GATED)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "a gated vote weighs members by the row, which no exported form can say; "
                    "train with --vote hard or soft"));
  SR_TRY(sr__writer_open(ctx, path, &out));
  SR_TRY(json ? sr__export_json(ctx, ensemble, out) : sr__export_onnx(ctx, ensemble, out));
  SR_TRY(sr__writer_commit(&out));
cleanup:
  sr__writer_abort(&out);
  return status;
}
