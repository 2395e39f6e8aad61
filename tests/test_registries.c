/* Every registered method has a page in docs/methods/, a test that names it, defaults that parse
 * and ranges that refuse. */
#include <dirent.h>

#include "harness.h"

static char *all_tests; /* the text of every test but this one */

static int load_tests(void **state) {
  (void)state;
  DIR *folder = opendir(SR_SOURCE_DIR "/tests");
  if (!folder) return -1;
  size_t used = 0;
  all_tests = calloc(1, 1);
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (strncmp(entry->d_name, "test_", 5) != 0 || strcmp(entry->d_name, "test_registries.c") == 0)
      continue;
    char path[512];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/tests/%s", SR_SOURCE_DIR, entry->d_name);
    char *text = test_read_file(path, &size);
    all_tests = realloc(all_tests, used + size + 1);
    memcpy(all_tests + used, text, size + 1);
    used += size;
    free(text);
  }
  closedir(folder);
  return 0;
}

static int free_tests(void **state) {
  (void)state;
  free(all_tests);
  return 0;
}

/* A page of its own, or a heading on the page of its kind. */
static void check_page(const sr_method_kind *kind, const char *name) {
  char own[512], shared[512], heading[128];
  snprintf(own, sizeof own, "%s/docs/methods/%s-%s.md", SR_SOURCE_DIR, kind->name, name);
  snprintf(shared, sizeof shared, "%s/docs/methods/%s.md", SR_SOURCE_DIR, kind->plural);
  snprintf(heading, sizeof heading, "\n## %s\n", name);
  char *page = test_read_file(own, NULL);
  bool found = page != NULL;
  free(page);
  page = found ? NULL : test_read_file(shared, NULL);
  if (page) found = strstr(page, heading) != NULL;
  free(page);
  if (!found) fail_msg("%s '%s' has no page %s", kind->name, name, own);
}

static void check_test(const char *kind, const char *name) {
  char quoted[128], with_options[128];
  snprintf(quoted, sizeof quoted, "\"%s\"", name);
  snprintf(with_options, sizeof with_options, "\"%s:", name);
  if (!strstr(all_tests, quoted) && !strstr(all_tests, with_options))
    fail_msg("%s '%s' is named in no test", kind, name);
}

/* Defaults parse, numbers outside their range and words that are no choice do not. */
static void check_option(sr_context *ctx, const char *what, const sr_method *method,
                         const sr_option *option) {
  char *options = calloc(1, method->options_size), text[64];
  assert_true(option->help[0]);
  sr_options_init(method->options, options);
  if (option->fallback)
    assert_ok(ctx,
              sr_options_set(ctx, what, method->options, options, option->key, option->fallback));
  else
    assert_int_equal(option->type, SR_OPTION_TEXT);
  sr_status status = SR_ERROR_ARGUMENT;
  if (option->type == SR_OPTION_INTEGER || option->type == SR_OPTION_REAL) {
    assert_true(option->low < option->high);
    const double outside[] = {option->low - 1.0, option->high * 2.0 + 1.0};
    for (int i = 0; i < 2; i++) {
      snprintf(text, sizeof text, "%.17g", outside[i]);
      assert_int_equal(sr_options_set(ctx, what, method->options, options, option->key, text),
                       status);
    }
  } else if (option->type != SR_OPTION_TEXT) {
    assert_int_equal(sr_options_set(ctx, what, method->options, options, option->key, "perhaps"),
                     status);
  }
  free(options);
}

static void check_methods(const sr_method_kind *kind) {
  sr_method_at at = kind->at;
  sr_context *ctx = test_context(1);
  int count = 0;
  for (const sr_method *method; (method = at(count)); count++) {
    assert_true(method->name[0] && method->help[0]);
    for (int earlier = 0; earlier < count; earlier++)
      assert_string_not_equal(at(earlier)->name, method->name);
    check_page(kind, method->name);
    check_test(kind->name, method->name);
    for (const sr_option *option = method->options; option && option->key; option++) {
      for (const sr_option *before = method->options; before < option; before++)
        assert_string_not_equal(before->key, option->key);
      check_option(ctx, method->name, method, option);
    }
  }
  assert_true(count > 0);
  assert_null(at(-1));
  sr_context_free(&ctx);
}

static void every_registry(void **state) {
  (void)state;
  const sr_method_kind *kind;
  for (int k = 0; (kind = sr_method_kind_at(k)); k++) {
    assert_true(kind->name[0] && kind->plural[0] && kind->help[0]);
    check_methods(kind);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_registry)};
  return cmocka_run_group_tests(tests, load_tests, free_tests);
}
