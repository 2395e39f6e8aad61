#include "commands.h"
#include "generated.h"

static const cli_option options[] = {
    {"report", 0, CLI_PATH, "PAGE", NULL, CLI_PAGE_ENDINGS, 0, 0,
     "also write a page with pictures: .html, or .md without them"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

static sr_status write_page(cli_run *run, const sr_table *table, const sr_structure *structure,
                            const char *path) {
  sr_status status = SR_OK;
  sr_page *page = NULL;
  char title[256];
  const sr_graph *graph = sr_structure_get(structure)->dependency_graph;
  snprintf(title, sizeof title, "How dependent are the rows of %s?", run->arguments[0]);
  SR_TRY(cli_page_new(run, title, path, &page));
  SR_TRY(sr_page_add_structure(run->ctx, page, structure));
  SR_TRY(sr_page_add_ground(run->ctx, page, table, structure));
  if (graph) SR_TRY(sr_page_add_map(run->ctx, page, table, graph, run->seed));
  SR_TRY(sr_page_write(run->ctx, page, path));
cleanup:
  sr_page_free(&page);
  return status;
}

static sr_status finish(cli_run *run, const sr_table *table, const sr_structure *structure) {
  sr_status status = SR_OK;
  const char *page = cli_text(run, "report");
  char *text = NULL;
  if (page) SR_TRY(write_page(run, table, structure, page));
  SR_TRY(sr_describe_structure(run->ctx, structure,
                               run->json ? SR_DESCRIPTION_JSON : SR_DESCRIPTION_TEXT, &text));
  cli_say(run, "%s: ", run->arguments[0]);
  cli_print_description(run, text);
  if (page) cli_say(run, "\n  pictures in %s\n", page);
cleanup:
  sr_bytes_free((void **)&text);
  return status;
}

static int run_diagnose(cli_run *run) {
  sr_status status = SR_OK;
  sr_table *table = NULL;
  sr_structure *structure = NULL;
  sr_structure_options wanted;
  sr_dependence_options dependence;
  sr_structure_options_init(&wanted);
  sr_dependence_options_init(&dependence);
  wanted.graph = cli_method_text(run, "graph");
  int code = cli_read_task(run, "diagnose", sr_dependence_option_list(), &dependence);
  if (code != CLI_SUCCESS) return code;
  wanted.level = dependence.level;
  SR_TRY(cli_read_table(run, run->arguments[0], &table));
  SR_TRY(sr_structure_estimate(run->ctx, table, &wanted, run->seed, &structure));
  SR_TRY(finish(run, table, structure));
cleanup:
  sr_structure_free(&structure);
  sr_table_free(&table);
  return status == SR_OK ? CLI_SUCCESS : cli_fail(run, status);
}

const cli_command cli_diagnose = {
    .name = "diagnose",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .help = "say how dependent the rows are and what to do about it",
    .description =
        "T is how many rows apart two rows must be before the later one is new: 1 for independent\n"
        "rows, 1 / (1 - lambda) for a chain whose rows correlate by lambda with the one before. "
        "On\n"
        "graphs without an order (space, features, grid) T counts the nodes of a correlated\n"
        "neighborhood. Groups are never joined. Every estimate has an interval; warnings say what "
        "the\n"
        "numbers cannot.",
    .groups = {options, cli_column_options, cli_graph_options},
    .tasks = {sr_dependence_option_list},
    .methods = cli_graph_methods,
    .example = "specroute diagnose elec2.csv.gz --target class --report elec2.html",
    .run = run_diagnose};
