/* Pages as commands begin them. */
#include <string.h>
#include <time.h>

#include "cli.h"

enum { FOOTER_SIZE = 2048 };

/* Words that a shell would take apart stand in quotes, so that the line can be run again. */
static void add_word(char *line, const char *word) {
  size_t length = strlen(line);
  bool plain = *word && !strpbrk(word, " \t\n'\"\\$&|;<>()*?#`!");
  snprintf(line + length, FOOTER_SIZE - length, plain ? " %s" : " '%s'", word);
}

static void describe_run(const cli_run *run, char *line) {
  char date[64];
  time_t now = time(NULL);
  struct tm parts;
  sr_build build = sr_build_info();
  gmtime_r(&now, &parts);
  strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &parts);
  snprintf(line, FOOTER_SIZE, "Made by specroute %s (%s) on %s with: specroute", build.version,
           build.commit, date);
  for (int i = 1; i < run->word_count; i++) add_word(line, run->words[i]);
}

sr_status cli_page_new(cli_run *run, const char *title, const char *path, sr_page **page) {
  char footer[FOOTER_SIZE];
  sr_page_options options;
  sr_page_options_init(&options);
  options.title = title;
  options.format = sr_page_format_of(path);
  describe_run(run, footer);
  if (options.format == SR_PAGE_HTML) options.footer = footer;
  sr_status status = sr_page_new(run->ctx, &options, page);
  for (size_t i = 0; status == SR_OK && i < json_array_size(run->warnings); i++)
    status = sr_page_note(run->ctx, *page, SR_AGREEMENT_PARTLY,
                          json_string_value(json_array_get(run->warnings, i)));
  if (status != SR_OK) sr_page_free(page);
  return status;
}
