/* Tables as the options name them. */
#include <string.h>

#include "cli.h"

static char separator_of(const char *text) {
  if (!text) return 0;
  if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0) return '\t';
  return text[0];
}

static int header_of(const char *text) {
  if (!text || strcmp(text, "auto") == 0) return -1;
  return strcmp(text, "yes") == 0;
}

sr_read_options cli_read_options(cli_run *run) {
  sr_read_options options;
  sr_read_options_init(&options);
  options.format = cli_text(run, "format");
  options.separator = separator_of(cli_text(run, "separator"));
  options.header = header_of(cli_text(run, "header"));
  options.target = cli_text(run, "target");
  options.time = cli_text(run, "time");
  options.date_format = cli_text(run, "date-format");
  options.group = cli_text(run, "group");
  options.coordinates = cli_list(run, "coords");
  options.weight = cli_text(run, "weight");
  options.drop = cli_list(run, "drop");
  options.categorical = cli_list(run, "categorical");
  options.keep = cli_list(run, "keep");
  options.variables = cli_list(run, "variables");
  options.labels = cli_text(run, "labels");
  if (cli_given(run, "window")) options.window = cli_integer(run, "window");
  if (cli_given(run, "stride")) options.stride = cli_integer(run, "stride");
  return options;
}

sr_status cli_read_table(cli_run *run, const char *path, sr_table **table) {
  sr_read_options options = cli_read_options(run);
  return sr_table_read(run->ctx, path, &options, table);
}

bool cli_has_target(const sr_table *table) {
  const sr_table_view *view = sr_table_get(table);
  return view->label || view->value;
}
