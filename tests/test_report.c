/* Pages: escaping, tables, pictures, contents, memory failures. */
#include "harness.h"

#include <math.h>
#include <unistd.h>

static const char *page_path(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", test_folder(), name);
  return path;
}

static sr_page *new_page(sr_context *ctx, sr_page_format format) {
  sr_page *page = NULL;
  sr_page_options options;
  sr_page_options_init(&options);
  options.format = format;
  options.title = "A <page> & more";
  assert_ok(ctx, sr_page_new(ctx, &options, &page));
  return page;
}

static char *written(sr_context *ctx, const sr_page *page, const char *name) {
  const char *path = page_path(name);
  assert_ok(ctx, sr_page_write(ctx, page, path));
  char *text = test_read_file(path, NULL);
  assert_non_null(text);
  return text;
}

static int occurrences(const char *text, const char *word) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) count++;
  return count;
}

static sr_status add_table(sr_context *ctx, sr_page *page) {
  static const char *const header[] = {"method", "paper", "measured"};
  static const sr_page_cell cells[] = {
      {"uniform | <bag>", 0}, {".457", 0}, {".046", SR_AGREEMENT_BAD},
      {"spectral", 0},        {".053", 0}, {".051", SR_AGREEMENT_GOOD}};
  sr_page_table table = {
      .caption = "Excess risk", .columns = 3, .header = header, .rows = 2, .cells = cells};
  return sr_page_add_table(ctx, page, &table);
}

static sr_status add_plot(sr_context *ctx, sr_page *page) {
  static const double x[] = {1, 10, 50, 200}, y[] = {.03, .1, NAN, .4}, low[] = {.02, -1, .2, .3},
                      high[] = {.04, .12, .3, .5};
  const sr_plot_series series[] = {
      {.label = "it's `date` \"<x>\" $(id)",
       .kind = SR_PLOT_LINE_POINTS,
       .count = 4,
       .x = x,
       .y = y,
       .low = low,
       .high = high},
      {.label = "theory", .kind = SR_PLOT_DASHED, .count = 4, .x = x, .y = high}};
  sr_plot plot = {.title = "Risk & rate",
                  .x_label = "mixing time",
                  .y_label = "excess\nrisk",
                  .log_x = 1,
                  .log_y = 1,
                  .series_count = 2,
                  .series = series};
  return sr_page_add_plot(ctx, page, &plot);
}

static void test_html_escapes_everything(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_page *page = new_page(ctx, SR_PAGE_HTML);
  assert_ok(ctx, sr_page_heading(ctx, page, 1, "<script>alert(1)</script>"));
  assert_ok(ctx, sr_page_paragraph(ctx, page, "a < b & c > \"d\" 'e'"));
  assert_ok(ctx, sr_page_note(ctx, page, SR_AGREEMENT_PARTLY, "<i>"));
  assert_ok(ctx, add_table(ctx, page));
  char *text = written(ctx, page, "escape.html");
  assert_null(strstr(text, "<script"));
  assert_null(strstr(text, "<i>"));
  assert_non_null(strstr(text, "<title>A &lt;page&gt; &amp; more</title>"));
  assert_non_null(strstr(text, "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;"));
  assert_non_null(strstr(text, "uniform | &lt;bag&gt;"));
  assert_int_equal(occurrences(text, "<tr>"), 3);
  assert_non_null(strstr(text, "prefers-color-scheme:dark"));
  assert_null(strstr(text, "http://"));
  assert_null(strstr(text, "<nav"));
  free(text);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

static void test_markdown_tables(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_page *page = new_page(ctx, SR_PAGE_MARKDOWN);
  assert_ok(ctx, sr_page_heading(ctx, page, 2, "Table 1"));
  assert_ok(ctx, add_table(ctx, page));
  assert_ok(ctx, add_plot(ctx, page));
  char *text = written(ctx, page, "table.md");
  assert_string_equal(text,
                      "# A \\<page\\> & more\n\n### Table 1\n\nExcess risk\n\n"
                      "| method | paper | measured |\n|---|---:|---:|\n"
                      "| uniform \\| \\<bag\\> | .457 | .046 ✗ |\n| spectral | .053 | .051 ✓ |\n\n"
                      "Plot in the HTML report: Risk & rate\n\n");
  assert_int_equal(sr_page_plot_count(page), 0);
  free(text);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

/* Pictures are text to the last character, say what they show, and points say their numbers. */
static void test_plots_are_inline(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_page *page = new_page(ctx, SR_PAGE_HTML);
  assert_ok(ctx, add_plot(ctx, page));
  assert_ok(ctx, add_plot(ctx, page));
  assert_int_equal(sr_page_plot_count(page), 2);
  char *text = written(ctx, page, "plots.html");
  assert_int_equal(occurrences(text, "<svg"), 2);
  assert_int_equal(occurrences(text, "<figure"), 2);
  assert_int_equal(occurrences(text, "role=\"img\""), 2);
  assert_int_equal(occurrences(text, "aria-label=\"Risk &amp; rate: excess"), 2);
  /* Three points of the first series can be shown; each in two pictures. */
  assert_int_equal(occurrences(text, "<circle"), 6);
  assert_non_null(strstr(text, "$(id): 10, 0.1</title></circle>"));
  assert_non_null(strstr(text, "it&#39;s `date` &quot;&lt;x&gt;&quot; $(id)"));
  assert_null(strstr(text, "nan"));
  free(text);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

static void test_a_plot_without_points_leaves_a_note(void **state) {
  (void)state;
  static const double x[] = {NAN, 1}, y[] = {1, INFINITY};
  sr_context *ctx = test_context(1);
  sr_page *page = new_page(ctx, SR_PAGE_HTML);
  const sr_plot_series series = {.kind = SR_PLOT_POINTS, .count = 2, .x = x, .y = y};
  sr_plot plot = {.title = "Empty & bare", .series_count = 1, .series = &series};
  assert_ok(ctx, sr_page_add_plot(ctx, page, &plot));
  assert_int_equal(sr_page_plot_count(page), 0);
  char *text = written(ctx, page, "empty.html");
  assert_non_null(strstr(text, "Nothing to plot: Empty &amp; bare"));
  free(text);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

/* A line's place in pixels: the ends of the data are the ends of the axes where these are round. */
static void test_places_of_points(void **state) {
  (void)state;
  static const double x[] = {0, 5, 10}, y[] = {0, 1, 2};
  sr_context *ctx = test_context(1);
  sr_page *page = new_page(ctx, SR_PAGE_HTML);
  const sr_plot_series series = {.kind = SR_PLOT_POINTS, .count = 3, .x = x, .y = y};
  sr_plot plot = {.title = "line", .series_count = 1, .series = &series};
  assert_ok(ctx, sr_page_add_plot(ctx, page, &plot));
  char *text = written(ctx, page, "places.html");
  double cx[3] = {0}, cy[3] = {0};
  const char *at = text;
  for (int i = 0; i < 3; i++) {
    at = strstr(at, "<circle cx=");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\"", &cx[i], &cy[i]), 2);
    at++;
  }
  assert_close(cx[2], 506.0, 1e-9);
  assert_close(cx[1], (cx[0] + cx[2]) / 2.0, 1e-3);
  assert_close(cy[1], (cy[0] + cy[2]) / 2.0, 1e-3);
  assert_close(cy[0] - cy[2], 250.0, 1e-9);
  free(text);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

static void test_contents_and_footer(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_page *page = NULL;
  sr_page_options options;
  sr_page_options_init(&options);
  options.footer = "made by <me>";
  assert_ok(ctx, sr_page_new(ctx, &options, &page));
  assert_ok(ctx, sr_page_paragraph(ctx, page, "the verdict"));
  const char *const chapters[] = {"one", "two", "<three>", "four"};
  for (int i = 0; i < 4; i++) {
    assert_ok(ctx, sr_page_heading(ctx, page, 1, chapters[i]));
    assert_ok(ctx, sr_page_heading(ctx, page, 2, "below"));
  }
  for (int i = 0; i < 3; i++)
    assert_ok(ctx, sr_page_note(ctx, page, SR_AGREEMENT_PARTLY, i == 1 ? "other" : "a warning"));
  char *text = written(ctx, page, "contents.html");
  assert_int_equal(occurrences(text, "a warning"), 1); /* not said twice */
  assert_int_equal(occurrences(text, "<a href=\"#part-"), 4);
  assert_non_null(strstr(text, "<a href=\"#part-4\">&lt;three&gt;</a>"));
  assert_non_null(strstr(text, "<h2 id=\"part-4\">&lt;three&gt;</h2>"));
  /* The verdict, then the contents, then the first chapter. */
  const char *verdict = strstr(text, "the verdict"), *nav = strstr(text, "<nav");
  assert_true(verdict && nav && verdict < nav && nav < strstr(text, "<h2"));
  assert_non_null(strstr(text, "<footer>made by &lt;me&gt;</footer>"));
  free(text);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

/* Ten thousand points are thinned, and the extremes stay. */
static void test_long_series_keep_their_extremes(void **state) {
  (void)state;
  enum { N = 200000 };
  sr_context *ctx = test_context(1);
  double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  for (int i = 0; i < N; i++) {
    x[i] = i;
    y[i] = sin(i * 1e-3);
  }
  y[123456] = 1000.0;
  const sr_plot_series lines = {.kind = SR_PLOT_LINE, .count = N, .x = x, .y = y};
  sr_plot plot = {.title = "long", .series_count = 1, .series = &lines};
  sr_page *page = new_page(ctx, SR_PAGE_HTML);
  assert_ok(ctx, sr_page_add_plot(ctx, page, &plot));
  assert_int_equal(sr_page_plot_count(page), 1);
  char *text = written(ctx, page, "long.html");
  assert_true(strlen(text) < 120000);
  assert_non_null(strstr(text, ">1000</text>"));
  free(text);
  free(x);
  free(y);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

static sr_status add_map_bars_and_ranks(sr_context *ctx, sr_page *page) {
  static double x[600], y[600], value[600];
  for (int i = 0; i < 600; i++) {
    x[i] = i % 30;
    y[i] = i / 30;
    value[i] = sin(x[i] / 5.0) * cos(y[i] / 4.0);
  }
  static const char *const names[] = {"uniform", "routed", "auto", "spectral <1>"};
  static const double place[] = {0, 1, 2, 3}, height[] = {.3, .1, .12, .4},
                      ranks[] = {3.2, 1.4, 1.6, 3.8};
  sr_status status = SR_OK;
  const sr_plot_series map = {
      .kind = SR_PLOT_HEAT_MAP, .count = 600, .x = x, .y = y, .value = value};
  const sr_plot_series bars = {.kind = SR_PLOT_BARS, .count = 4, .x = place, .y = height};
  static double kind[600];
  for (int i = 0; i < 600; i++) kind[i] = i % 31 == 0 ? -1.0 : i % 4;
  const sr_plot_series classes = {
      .kind = SR_PLOT_HEAT_MAP, .count = 600, .x = x, .y = y, .value = kind};
  sr_plot plots[] = {
      {.title = "Fiedler vector", .series_count = 1, .series = &map},
      {.title = "Classes",
       .series_count = 1,
       .series = &classes,
       .value_names = names,
       .value_name_count = 4},
      {.title = "Bars", .series_count = 1, .series = &bars, .x_names = names, .x_name_count = 4}};
  for (int i = 0; i < 3 && status == SR_OK; i++) status = sr_page_add_plot(ctx, page, &plots[i]);
  if (status == SR_OK) status = sr_page_add_ranks(ctx, page, "Ranks", 4, names, ranks, 0.9);
  return status;
}

static void test_maps_bars_and_ranks(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_page *page = new_page(ctx, SR_PAGE_HTML);
  assert_ok(ctx, add_map_bars_and_ranks(ctx, page));
  char *text = written(ctx, page, "kinds.html");
  assert_int_equal(sr_page_plot_count(page), 4);
  assert_int_equal(occurrences(text, "<svg"), 4);
  assert_int_equal(occurrences(text, "data:image/png;base64,iVBORw0KGgo"), 2);
  assert_non_null(strstr(text, "<title>spectral &lt;1&gt;: 0.4</title>"));
  assert_non_null(strstr(text, ">routed</text>"));
  assert_non_null(strstr(text, "spectral &lt;1&gt; (3.80)"));
  /* Two pairs closer than the critical difference: two bars of width 4. */
  assert_int_equal(occurrences(text, "stroke-width=\"4.0\""), 2);
  free(text);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

static void test_wrong_arguments(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_page *page = new_page(ctx, SR_PAGE_HTML);
  static const char *const header[] = {"a"};
  sr_page_table table = {.columns = 1, .header = header, .alignment = "x"};
  assert_int_equal(sr_page_heading(ctx, page, 5, "x"), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_page_add_table(ctx, page, &table), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_page_note(ctx, page, (sr_agreement)9, "x"), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_page_write(ctx, page, "/nowhere/at/all.html"), SR_ERROR_OUTPUT);
  assert_int_equal(sr_page_format_of("a/b.MD"), SR_PAGE_MARKDOWN);
  assert_int_equal(sr_page_format_of("a.md/b"), SR_PAGE_HTML);
  sr_page_free(&page);
  sr_page_free(&page);
  sr_context_free(&ctx);
}

static sr_status whole_page(sr_context *ctx, void *data) {
  sr_page *page = NULL;
  sr_page_options options;
  sr_page_options_init(&options);
  (void)data;
  sr_status status = sr_page_new(ctx, &options, &page);
  if (status == SR_OK) status = add_table(ctx, page);
  if (status == SR_OK) status = add_plot(ctx, page);
  if (status == SR_OK) status = sr_page_note(ctx, page, SR_AGREEMENT_GOOD, "fine");
  if (status == SR_OK) status = add_map_bars_and_ranks(ctx, page);
  if (status == SR_OK) status = sr_page_write(ctx, page, page_path("memory.html"));
  sr_page_free(&page);
  return status;
}

static void test_memory_failures(void **state) {
  (void)state;
  test_every_allocation(whole_page, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_html_escapes_everything),
      cmocka_unit_test(test_markdown_tables),
      cmocka_unit_test(test_plots_are_inline),
      cmocka_unit_test(test_a_plot_without_points_leaves_a_note),
      cmocka_unit_test(test_places_of_points),
      cmocka_unit_test(test_contents_and_footer),
      cmocka_unit_test(test_long_series_keep_their_extremes),
      cmocka_unit_test(test_maps_bars_and_ranks),
      cmocka_unit_test(test_wrong_arguments),
      cmocka_unit_test(test_memory_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
