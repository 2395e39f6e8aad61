/* Tables as the options name them. */
#include <string.h>

#include "cli.h"
#include "progress.h"

enum { SHOWN_FEATURES = 40 };

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
  options.region = cli_text(run, "region");
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

/* What was read, for those who ask with -v. */
static void say_table(const cli_run *run, const char *path, const sr_table *table) {
  const sr_table_view *v = sr_table_get(table);
  if (run->progress) cli_progress_clear(run->progress);
  fputs("specroute: ", stderr);
  cli_put_clean(path, stderr);
  fprintf(stderr, ": %lld rows, %lld features", (long long)v->rows, (long long)v->features);
  if (v->channels) fprintf(stderr, ", series of %d channels", v->channels);
  if (v->label) fprintf(stderr, ", %d classes", v->classes.count);
  if (v->group) fprintf(stderr, ", %d groups", v->groups.count);
  if (v->coordinate_count) fprintf(stderr, ", places");
  if (v->time) fprintf(stderr, ", times");
  if (v->weight) fprintf(stderr, ", weights");
  fputc('\n', stderr);
  for (int64_t j = 0; v->feature_names && j < v->features && j < SHOWN_FEATURES; j++) {
    int32_t texts = v->categories ? v->categories[j].count : 0;
    fputs("specroute:   ", stderr);
    cli_put_clean(v->feature_names[j], stderr);
    if (texts)
      fprintf(stderr, ": text, %d values\n", texts);
    else
      fputs(": numbers\n", stderr);
  }
  if (v->features > SHOWN_FEATURES)
    fprintf(stderr, "specroute:   and %lld more\n", (long long)v->features - SHOWN_FEATURES);
}

sr_status cli_read_table(cli_run *run, const char *path, sr_table **table) {
  sr_read_options options = cli_read_options(run);
  sr_status status = sr_table_read(run->ctx, path, &options, table);
  if (status == SR_OK && run->verbose && !run->quiet) say_table(run, path, *table);
  return status;
}

bool cli_has_target(const sr_table *table) {
  const sr_table_view *view = sr_table_get(table);
  return view->label || view->value;
}
