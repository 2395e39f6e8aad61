/* Status codes, the context that every call takes, and what the library says of its own build. */
#ifndef SPECROUTE_CORE_H
#define SPECROUTE_CORE_H

#include <stddef.h>
#include <stdint.h>

#include <specroute/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One row a status: name, number, sentence. Numbers never change meaning. */
#define SR_STATUS_MAP(X)                                                        \
  X(SR_OK, 0, "success")                                                        \
  X(SR_ERROR_ARGUMENT, 1, "an argument or option is out of range")              \
  X(SR_ERROR_MEMORY, 2, "out of memory")                                        \
  X(SR_ERROR_OVERFLOW, 3, "a size is too large for this machine")               \
  X(SR_ERROR_IO, 4, "an input could not be opened or read")                     \
  X(SR_ERROR_FORMAT, 5, "an input file does not have the form it should")       \
  X(SR_ERROR_DATA, 6, "the data do not allow this computation")                 \
  X(SR_ERROR_NOT_CONVERGED, 7, "did not converge; the best result is readable") \
  X(SR_ERROR_INTERRUPTED, 8, "interrupted; what was finished is kept")          \
  X(SR_ERROR_UNSUPPORTED, 9, "this build or this method does not support it")   \
  X(SR_ERROR_NOT_FOUND, 10, "no entry of that name")                            \
  X(SR_ERROR_INTERNAL, 11, "an invariant inside the library failed")            \
  X(SR_ERROR_OUTPUT, 12, "an output could not be written")

typedef enum sr_status {
#define SR_STATUS_ENUM(name, number, sentence) name = number,
  SR_STATUS_MAP(SR_STATUS_ENUM)
#undef SR_STATUS_ENUM
} sr_status;

/* The name ("SR_ERROR_IO") and the sentence of a status: constants, never NULL. */
SR_API const char *sr_status_name(sr_status status);
SR_API const char *sr_status_message(sr_status status);

/* Memory functions. They may be called from several threads at once. `resize` follows realloc,
 * `release` accepts NULL. */
typedef struct sr_allocator {
  void *(*allocate)(void *data, size_t bytes);
  void *(*resize)(void *data, void *block, size_t bytes);
  void (*release)(void *data, void *block);
  void *data;
} sr_allocator;

typedef enum sr_log_level { SR_LOG_DEBUG, SR_LOG_INFO, SR_LOG_WARNING } sr_log_level;

/* Called from any thread, one call at a time. `total` is 0 where it is not known. */
typedef void (*sr_progress_fn)(void *data, const char *stage, int64_t done, int64_t total);
typedef void (*sr_log_fn)(void *data, sr_log_level level, const char *message);

typedef struct sr_context_options {
  sr_allocator allocator; /* all NULL: malloc, realloc, free */
  int threads;            /* 0: all cores */
  sr_progress_fn progress;
  void *progress_data;
  sr_log_fn log;
  void *log_data;
} sr_context_options;

/* Where and why the last call failed. `file` is empty and `line`, `column` are 0 where the failure
 * has no place in an input. Columns count fields from 1 in tables and characters elsewhere. */
typedef struct sr_error {
  sr_status status;
  const char *message;
  const char *file;
  int64_t line;
  int64_t column;
} sr_error;

/* A context belongs to one thread at a time; different contexts are independent. */
typedef struct sr_context sr_context;

SR_API void sr_context_options_init(sr_context_options *options);
/* NULL options: defaults. Free with sr_context_free. Errors: SR_ERROR_ARGUMENT, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_context_new(const sr_context_options *options,
                                              sr_context **context);
SR_API void sr_context_free(sr_context **context);
SR_API int sr_context_threads(const sr_context *context);
/* The failure of the last call that did not return SR_OK; valid until the next call. */
SR_API sr_error sr_context_error(const sr_context *context);
/* Asks the running call to stop soon with SR_ERROR_INTERRUPTED. Safe in a signal handler and from
 * another thread. sr_context_resume clears it. */
SR_API void sr_context_interrupt(sr_context *context);
SR_API void sr_context_resume(sr_context *context);
/* 1 once an interrupt was asked for and not yet cleared. */
SR_API int sr_context_interrupted(const sr_context *context);

/* Random numbers for simulations of one's own: the stream (seed, replicate, unit) gives the same
 * numbers in any thread, order or process. `out` holds `count` of them; uniforms lie in [0, 1). */
SR_API void sr_random_uniform(uint64_t seed, uint64_t replicate, uint64_t unit, int64_t count,
                              double *out);
SR_API void sr_random_normal(uint64_t seed, uint64_t replicate, uint64_t unit, int64_t count,
                             double *out);

typedef struct sr_build {
  const char *version; /* "0.1.0" */
  const char *commit;  /* git describe of the tree that was built, or "unknown" */
  const char *compiler;
  const char *build_type;
  const char *features; /* "blas netcdf gdal xgboost ...": what is in, space separated; the last is
                           "level:" and the vector level that this process uses */
  const char *missing;  /* what an optional library would add */
  const char *levels;   /* what SPECROUTE_ISA may name to lower that level, space separated; any
                           other value of it changes nothing */
} sr_build;

/* Seconds of a clock that never goes back; its zero means nothing. */
SR_API double sr_seconds(void);
/* That an output can be written, before the work: its folder is there and may be written to, and it
 * is not the input (may be NULL). Errors: SR_ERROR_OUTPUT, SR_ERROR_ARGUMENT, SR_ERROR_MEMORY. */
SR_API SR_MUST_CHECK sr_status sr_output_check(sr_context *ctx, const char *path,
                                               const char *input);
/* Frees bytes or text that a call gave; null-safe. */
SR_API void sr_bytes_free(void **bytes);

SR_API const char *sr_version(void);
/* A number made of all declarations in the public headers: a program or a binding that was made
 * for one number can refuse a library of another. */
SR_API int sr_abi(void);
SR_API sr_build sr_build_info(void);

/* Calls a function and leaves at the first failure: in a function with `sr_status status = SR_OK;`
 * and a `cleanup:` label that frees what was made. */
#define SR_TRY(expression)             \
  do {                                 \
    status = (expression);             \
    if (status != SR_OK) goto cleanup; \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
