#include "context.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks this large ask for huge pages: passes over them then miss the TLB less, and fault once
 * where they would have done so 512 times. */
enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 2 * HUGE_PAGE };

static void *default_allocate(void *data, size_t bytes) {
  (void)data;
  if (bytes < HUGE_FROM) return malloc(bytes);
  size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  void *block = aligned_alloc(HUGE_PAGE, whole);
#ifdef MADV_HUGEPAGE
  if (block) madvise(block, whole, MADV_HUGEPAGE); /* a wish: a kernel that refuses is slower */
#endif
  return block;
}

static void *default_resize(void *data, void *block, size_t bytes) {
  (void)data;
  return realloc(block, bytes);
}

static void default_release(void *data, void *block) {
  (void)data;
  free(block);
}

void sr_context_options_init(sr_context_options *options) { memset(options, 0, sizeof *options); }

static int online_cores(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores > 256 ? 256 : (int)cores;
}

sr_status sr_context_new(const sr_context_options *options, sr_context **context) {
  *context = NULL;
  sr_context_options defaults;
  sr_context_options_init(&defaults);
  if (!options) options = &defaults;
  if (options->threads < 0 || options->threads > 256) return SR_ERROR_ARGUMENT;
  sr_allocator allocator = options->allocator;
  if (!allocator.allocate)
    allocator = (sr_allocator){default_allocate, default_resize, default_release, NULL};
  if (!allocator.resize || !allocator.release) return SR_ERROR_ARGUMENT;
  sr_context *ctx = allocator.allocate(allocator.data, sizeof *ctx);
  if (!ctx) return SR_ERROR_MEMORY;
  memset(ctx, 0, sizeof *ctx);
  if (pthread_mutex_init(&ctx->callback_mutex, NULL) != 0) {
    allocator.release(allocator.data, ctx);
    return SR_ERROR_MEMORY;
  }
  ctx->allocator = allocator;
  ctx->threads = options->threads ? options->threads : online_cores();
  ctx->progress = options->progress;
  ctx->progress_data = options->progress_data;
  ctx->log = options->log;
  ctx->log_data = options->log_data;
  atomic_init(&ctx->interrupted, 0);
  ctx->error.message = ctx->message;
  ctx->error.file = ctx->file;
  *context = ctx;
  return SR_OK;
}

void sr_context_free(sr_context **context) {
  if (!context || !*context) return;
  sr_context *ctx = *context;
  sr__pool_free(ctx);
  pthread_mutex_destroy(&ctx->callback_mutex);
  sr_allocator allocator = ctx->allocator;
  allocator.release(allocator.data, ctx);
  *context = NULL;
}

void sr__context_init_worker(sr_context *worker, sr_context *parent) {
  memset(worker, 0, sizeof *worker);
  worker->allocator = parent->allocator;
  worker->threads = 1;
  worker->parent = parent;
  atomic_init(&worker->interrupted, 0);
  worker->error.message = worker->message;
  worker->error.file = worker->file;
}

static sr_context *root_of(sr_context *ctx) {
  while (ctx->parent) ctx = ctx->parent;
  return ctx;
}

int sr_context_threads(const sr_context *context) { return context->threads; }

sr_error sr_context_error(const sr_context *context) { return context->error; }

void sr_context_interrupt(sr_context *context) { atomic_store(&context->interrupted, 1); }

int sr_context_interrupted(const sr_context *context) { return atomic_load(&context->interrupted); }

void sr_context_resume(sr_context *context) { atomic_store(&context->interrupted, 0); }

/* ---- errors ------------------------------------------------------------------------------- */

/* `error` names status and place; its sentence is made here. */
static void record(sr_context *ctx, sr_error error, const char *format, va_list arguments) {
  /* The sentence may quote the previous one, so it is written aside first. */
  char message[sizeof ctx->message];
  vsnprintf(message, sizeof message, format, arguments);
  memcpy(ctx->message, message, sizeof message);
  snprintf(ctx->file, sizeof ctx->file, "%s", error.file);
  ctx->error = error;
  ctx->error.message = ctx->message;
  ctx->error.file = ctx->file;
}

sr_status sr__fail(sr_context *ctx, sr_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(ctx, (sr_error){.status = status, .file = ""}, format, arguments);
  va_end(arguments);
  return status;
}

sr_status sr__fail_at(sr_context *ctx, sr_status status, const char *file, int64_t line,
                      int64_t column, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(ctx, (sr_error){status, NULL, file, line, column}, format, arguments);
  va_end(arguments);
  return status;
}

void sr__context_copy_error(sr_context *to, const sr_context *from) {
  memcpy(to->message, from->message, sizeof to->message);
  memcpy(to->file, from->file, sizeof to->file);
  to->error =
      (sr_error){from->error.status, to->message, to->file, from->error.line, from->error.column};
}

/* ---- callbacks ---------------------------------------------------------------------------- */

void sr__log(sr_context *ctx, sr_log_level level, const char *format, ...) {
  sr_context *root = root_of(ctx);
  if (!root->log) return;
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&root->callback_mutex);
  root->log(root->log_data, level, message);
  pthread_mutex_unlock(&root->callback_mutex);
}

void sr__progress(sr_context *ctx, const char *stage, int64_t done, int64_t total) {
  sr_context *root = root_of(ctx);
  if (!root->progress) return;
  pthread_mutex_lock(&root->callback_mutex);
  root->progress(root->progress_data, stage, done, total);
  pthread_mutex_unlock(&root->callback_mutex);
}

sr_status sr__check_interrupt(sr_context *ctx) {
  if (!atomic_load_explicit(&root_of(ctx)->interrupted, memory_order_relaxed)) return SR_OK;
  return sr__fail(ctx, SR_ERROR_INTERRUPTED, "interrupted");
}
