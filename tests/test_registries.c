/* Every registered method has a page in docs/methods/ and is named in a test. */
#include <dirent.h>

#include "harness.h"

typedef const sr_method_info *(*registry)(int index);

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

static void check_registry(const char *kind, registry entry) {
  int count = 0;
  for (const sr_method_info *method; (method = entry(count)); count++) {
    assert_true(method->name[0] && method->help[0]);
    for (int earlier = 0; earlier < count; earlier++)
      assert_string_not_equal(entry(earlier)->name, method->name);
    char path[512], quoted[128];
    snprintf(path, sizeof path, "%s/docs/methods/%s-%s.md", SR_SOURCE_DIR, kind, method->name);
    char *page = test_read_file(path, NULL);
    if (!page) fail_msg("%s '%s' has no page %s", kind, method->name, path);
    free(page);
    snprintf(quoted, sizeof quoted, "\"%s\"", method->name);
    if (!strstr(all_tests, quoted)) fail_msg("%s '%s' is named in no test", kind, method->name);
  }
  assert_true(count > 0);
  assert_null(entry(-1));
}

static void graph_builders(void **state) {
  (void)state;
  check_registry("graph", sr_graph_builder);
}

static void solvers(void **state) {
  (void)state;
  check_registry("solver", sr_spectrum_solver);
}

static void plans(void **state) {
  (void)state;
  check_registry("plan", sr_plan_scheme);
}

static void learners(void **state) {
  (void)state;
  check_registry("learner", sr_learner_registered);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(graph_builders),
      cmocka_unit_test(solvers),
      cmocka_unit_test(plans),
      cmocka_unit_test(learners),
  };
  return cmocka_run_group_tests(tests, load_tests, free_tests);
}
