/* What every test may use: cmocka, contexts, allocation failure, temporary files, the command. */
#ifndef SR_TESTS_HARNESS_H
#define SR_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <specroute/specroute.h>

/* A context that the test must free; `threads` 0 = all cores. Fails the test where it cannot. */
sr_context *test_context(int threads);

/* Prints the context's error where a call failed, so that the test says why. */
#define assert_ok(ctx, expression)                                                             \
  do {                                                                                         \
    sr_status ok_ = (expression);                                                              \
    if (ok_ != SR_OK)                                                                          \
      fail_msg("%s: %s: %s", #expression, sr_status_name(ok_), sr_context_error(ctx).message); \
  } while (0)

/* |actual - expected| <= tolerance * max(1, |expected|) for absolute and relative alike. */
void assert_close_(double actual, double expected, double tolerance, const char *file, int line);
#define assert_close(actual, expected, tolerance) \
  assert_close_((actual), (expected), (tolerance), __FILE__, __LINE__)

/* Runs `body` again and again, failing the first, second, third ... allocation, until it succeeds.
 * The body makes all its objects from the context it is given and frees them; every failure must
 * come back as SR_ERROR_MEMORY and leave nothing allocated. */
typedef sr_status (*test_body)(sr_context *ctx, void *data);
void test_every_allocation(test_body body, void *data);

/* Runs the command with these arguments (a shell line after the program's name). Gives its exit
 * code; *out and *err (may be NULL) get what it wrote, to be freed by the caller. */
int test_command(const char *arguments, char **out, char **err);

/* A table of the witness that the format names ("ar1:n=%d"); the test fails where it cannot be. */
sr_table *test_simulate(sr_context *ctx, uint64_t seed, const char *format, ...) SR_PRINTF(3, 4);

/* A fresh folder for this test program; removed at exit. */
const char *test_folder(void);
/* Writes a file into the folder and gives its path (static storage, eight at a time). */
const char *test_file(const char *name, const void *bytes, size_t count);
/* The whole file, zero terminated; NULL where it cannot be read. Freed by the caller. */
char *test_read_file(const char *path, size_t *count);

/* The path of a file below shared/data, or NULL where it is absent: then skip(). */
const char *test_shared_data(const char *relative);

#endif
