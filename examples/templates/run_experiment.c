/* Runs the experiment of the template as `specroute reproduce` runs the registered ones. */
#include <stdlib.h>
#include <unistd.h>

#include "conclusion.h"
#include "runner.h"

extern const experiment experiment_coin;

int main(void) {
  char folder[] = "/tmp/specroute_template_XXXXXX", path[256];
  sr_context *ctx = NULL;
  conclusion *c = NULL;
  run_report report = {0};
  if (!mkdtemp(folder) || sr_context_new(NULL, &ctx) != SR_OK) return EXIT_FAILURE;
  run_options options = {.folder = folder,
                         .scale = SCALE_QUICK,
                         .seeds = experiment_coin.seeds[0],
                         .first_seed = 1};
  sr_status status = experiment_run(ctx, &experiment_coin, &options, &report);
  result_source source = {&experiment_coin, SCALE_QUICK, folder};
  if (status == SR_OK)
    status = conclusion_read(ctx, &source, NULL, &c, report.reason, sizeof report.reason);
  bool good = status == SR_OK && c->verdict == VERDICT_REPRODUCED && report.finished == 8;
  if (c) conclusion_print(c, stdout);
  if (!good) fprintf(stderr, "template: %s\n", report.reason);
  results_path(folder, &experiment_coin, SCALE_QUICK, path, sizeof path);
  unlink(path);
  rmdir(folder);
  conclusion_free(&c);
  sr_context_free(&ctx);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
