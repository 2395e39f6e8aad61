/* specroute report: every result file of a folder on one page. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "commands.h"
#include "conclusion.h"

static const cli_option options[] = {
    {"output", 'o', CLI_PATH, "FILE", "report.html", CLI_PAGE_ENDINGS, 0, 0,
     "where to write: .html is one self-contained page, .md is Markdown without plots"},
    {NULL, 0, CLI_FLAG, NULL, NULL, NULL, 0, 0, NULL}};

/* One result file that was found. */
typedef struct section {
  const experiment *e;
  experiment_scale scale;
  conclusion *c;
} section;

typedef struct report {
  cli_run *run;
  const char *folder;
  sr_page *page;
  section *sections;
  int count;
  char reason[REASON_SIZE];
} report;

static bool file_exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Full results where there are any, else quick ones. */
static sr_status find_sections(report *r) {
  int registered = 0;
  while (experiment_at(registered)) registered++;
  r->sections = calloc((size_t)registered + 1, sizeof *r->sections);
  if (!r->sections) return SR_ERROR_MEMORY;
  for (int i = 0; i < registered; i++) {
    for (int scale = SCALE_FULL; scale >= SCALE_QUICK; scale--) {
      char path[1200];
      results_path(r->folder, experiment_at(i), (experiment_scale)scale, path, sizeof path);
      if (!file_exists(path)) continue;
      section *s = &r->sections[r->count];
      *s = (section){experiment_at(i), (experiment_scale)scale, NULL};
      sr_status status = conclusion_read(r->run->ctx, &(result_source){s->e, s->scale, r->folder},
                                         NULL, &s->c, r->reason, sizeof r->reason);
      if (status != SR_OK) return status;
      r->count++;
      break;
    }
  }
  return SR_OK;
}

/* ---- the page ----------------------------------------------------------------------------- */

/* The headline: how many experiments say what. */
static sr_status add_headline(report *r) {
  char text[512];
  int used = snprintf(text, sizeof text, "%d experiments", r->count);
  const char *before = ":";
  for (verdict v = VERDICT_NONE; v <= VERDICT_CANNOT_BE_TESTED; v++) {
    int count = 0;
    for (int i = 0; i < r->count; i++) count += r->sections[i].c->verdict == v;
    if (count == 0) continue;
    used += snprintf(text + used, sizeof text - (size_t)used, "%s %d %s", before, count,
                     verdict_name(v));
    before = ",";
  }
  snprintf(text + used, sizeof text - (size_t)used, ".");
  return sr_page_note(r->run->ctx, r->page, SR_AGREEMENT_NONE, text);
}

static sr_status add_overview(report *r) {
  static const char *const header[] = {"experiment", "scale", "verdict", "why"};
  sr_status status = SR_OK;
  enum { COLUMNS = 4 };
  sr_page_cell *cells = calloc((size_t)r->count * COLUMNS + 1, sizeof *cells);
  if (!cells) return SR_ERROR_MEMORY;
  for (int i = 0; i < r->count; i++) {
    const section *s = &r->sections[i];
    sr_page_cell *row = cells + COLUMNS * i;
    row[0].text = s->e->about.name;
    row[1].text = experiment_scale_name(s->scale);
    row[2] = (sr_page_cell){verdict_name(s->c->verdict), verdict_agreement(s->c->verdict)};
    row[3].text = s->c->reason;
  }
  sr_page_table table = {
      .columns = COLUMNS, .header = header, .alignment = "llll", .rows = r->count, .cells = cells};
  status = sr_page_add_table(r->run->ctx, r->page, &table);
  free(cells);
  return status;
}

/* "seeds 1 to 50, 2200 units, commit abc, 31 minutes of work" from the lines themselves. */
static void describe_run(const conclusion *c, char *text, size_t size) {
  uint64_t low = UINT64_MAX, high = 0;
  double seconds = 0.0;
  char commits[256] = "";
  for (int64_t i = 0; i < c->found.count; i++) {
    const result *one = &c->found.item[i];
    if (one->seed < low) low = one->seed;
    if (one->seed > high) high = one->seed;
    seconds += one->seconds;
    if (!strstr(commits, one->commit) &&
        strlen(commits) + strlen(one->commit) + 3 < sizeof commits) {
      if (commits[0]) strcat(commits, ", ");
      strcat(commits, one->commit);
    }
  }
  snprintf(text, size,
           "Run: %s scale, %lld units of work, seeds %llu to %llu, %.1f core minutes, commit %s. "
           "Data: %s.",
           experiment_scale_name(c->scale), (long long)c->found.count,
           (unsigned long long)(c->found.count ? low : 0), (unsigned long long)high, seconds / 60.0,
           commits[0] ? commits : "unknown", c->e->needs);
}

static sr_status add_section(report *r, const section *s) {
  sr_status status = SR_OK;
  sr_context *ctx = r->run->ctx;
  conclusion *plots = NULL;
  char text[2 * REASON_SIZE];
  SR_TRY(sr_page_heading(ctx, r->page, 1, s->e->about.name));
  snprintf(text, sizeof text, "%s. %s.", s->e->about.help, s->e->place);
  SR_TRY(sr_page_paragraph(ctx, r->page, text));
  snprintf(text, sizeof text, "Verdict, %s: %s.", verdict_name(s->c->verdict), s->c->reason);
  SR_TRY(sr_page_note(ctx, r->page, verdict_agreement(s->c->verdict), text));
  SR_TRY(conclusion_tables(s->c, r->page));
  /* Read once more, now with the page, so that plots stand below the tables. */
  SR_TRY(conclusion_read(ctx, &(result_source){s->e, s->scale, r->folder}, r->page, &plots,
                         r->reason, sizeof r->reason));
  describe_run(s->c, text, sizeof text);
  SR_TRY(sr_page_paragraph(ctx, r->page, text));
cleanup:
  conclusion_free(&plots);
  return status;
}

static sr_status write_page(report *r, const char *path) {
  sr_status status = SR_OK;
  sr_context *ctx = r->run->ctx;
  SR_TRY(cli_page_new(r->run, "Results beside the paper", path, &r->page));
  SR_TRY(add_headline(r));
  SR_TRY(sr_page_paragraph(
      ctx, r->page,
      "Every number is read from the result files; only the paper's own values are quoted. "
      "Measured numbers are mean ± standard deviation over seeds, or an estimate with its 95 % "
      "interval. \u2713 agrees with the paper (within two standard deviations or 15 %), \u2248 "
      "lies "
      "within a factor of two, \u2717 differs more."));
  if (sr_page_format_of(path) == SR_PAGE_MARKDOWN)
    SR_TRY(sr_page_paragraph(ctx, r->page,
                             "This file is generated: specroute report experiments/results -o "
                             "docs/results.md."));
  SR_TRY(add_overview(r));
  for (int i = 0; i < r->count; i++) SR_TRY(add_section(r, &r->sections[i]));
  SR_TRY(sr_page_write(ctx, r->page, path));
cleanup:
  return status;
}

static int finish(report *r, const char *path, sr_status status) {
  cli_run *run = r->run;
  if (status != SR_OK && r->reason[0]) return cli_complain(run, cli_code(status), "%s", r->reason);
  if (status != SR_OK) return cli_fail(run, status);
  int plots = sr_page_plot_count(r->page);
  cli_say(run, "%s: %d experiments, %d plots\n", path, r->count, plots);
  return cli_finish(run, json_pack("{s:i,s:i,s:i,s:s}", "pages", 1, "plots", plots, "experiments",
                                   r->count, "file", path));
}

static int run_report(cli_run *run) {
  const char *path = cli_text(run, "output");
  report r = {.run = run, .folder = run->arguments[0]};
  if (run->json && strcmp(path, "-") == 0)
    return cli_complain(run, CLI_USAGE, "--json and the page cannot both go to standard output");
  sr_status status = find_sections(&r);
  int code = CLI_BAD_INPUT;
  if (status == SR_OK && r.count == 0) {
    code = cli_complain(run, CLI_BAD_INPUT,
                        "no result files in '%s'; make some with specroute reproduce NAME -o DIR",
                        r.folder);
  } else {
    if (status == SR_OK) status = write_page(&r, path);
    code = finish(&r, path, status);
  }
  sr_page_free(&r.page);
  for (int i = 0; i < r.count; i++) conclusion_free(&r.sections[i].c);
  free(r.sections);
  return code;
}

const cli_command cli_report = {
    .name = "report",
    .arguments = "DIR",
    .least = 1,
    .most = 1,
    .help = "show the results of reproduce on one page",
    .description =
        "Reads the result files that reproduce wrote into DIR and writes one page: verdicts, "
        "tables\n"
        "beside the paper, plots, and what was run.",
    .groups = {options},
    .example = "specroute report results -o report.html",
    .run = run_report};
