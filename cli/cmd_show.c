#include "commands.h"

static const cli_option options[] = {{"report", 0, CLI_PATH, "PAGE", NULL, CLI_PAGE_ENDINGS, 0, 0,
                                      "the same as a page: .html or .md"},
                                     {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static sr_status write_page(cli_run *run, const sr_ensemble *ensemble, const char *path) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  char title[256];
  snprintf(title, sizeof title, "The model %s", run->arguments[0]);
  SR_TRY(cli_page_new(run, title, path, &page));
  SR_TRY(sr_page_add_ensemble(run->ctx, page, ensemble));
  SR_TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}

static int run_show(cli_run *run) {
  sr_status status = SR_OK;
  sr_ensemble *ensemble = NULL;
  char *text = NULL;
  SR_TRY(sr_ensemble_load(run->ctx, run->arguments[0], &ensemble));
  SR_TRY(sr_describe_ensemble(run->ctx, ensemble,
                              run->json ? SR_DESCRIPTION_JSON : SR_DESCRIPTION_TEXT, &text));
  if (cli_given(run, "report")) SR_TRY(write_page(run, ensemble, cli_text(run, "report")));
  cli_say(run, "%s: ", run->arguments[0]);
  cli_print_description(run, text);
cleanup:
  sr_bytes_free((void **)&text);
  sr_ensemble_free(&ensemble);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

const cli_command cli_show = {
    .name = "show",
    .arguments = "MODEL",
    .least = 1,
    .most = 1,
    .help = "say what a model is, what it was trained on and what its error is",
    .description =
        "Reads a model file and says its learner, plan, options, columns, classes and the error\n"
        "that was told when it was trained.",
    .groups = {options},
    .example = "specroute show elec2.model",
    .run = run_show};
