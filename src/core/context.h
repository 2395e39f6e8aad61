/* The context's fields; only core looks inside. */
#ifndef SR_CORE_CONTEXT_H
#define SR_CORE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "core.h"

typedef struct sr__pool sr__pool;

struct sr_context {
  sr_allocator allocator;
  int threads;
  sr_progress_fn progress;
  void *progress_data;
  sr_log_fn log;
  void *log_data;
  atomic_int interrupted;
  pthread_mutex_t callback_mutex;
  sr_context *parent; /* set in workers, NULL in the user's context */
  sr__pool *pool;     /* made on first use */
  sr_error error;
  char message[1024];
  char file[512];
};

/* A context for one worker of `parent`; needs no freeing. */
void sr__context_init_worker(sr_context *worker, sr_context *parent);
/* Carries the error of `from` over to `to`. */
void sr__context_copy_error(sr_context *to, const sr_context *from);
void sr__pool_free(sr_context *ctx);

#endif
