/* A small pool: the caller and threads-1 helpers take items in increasing order. */
#include "context.h"

#include <signal.h>

typedef struct pool_thread {
  sr__pool *pool;
  int slot;
  pthread_t thread;
} pool_thread;

struct sr__pool {
  pthread_mutex_t mutex;
  pthread_cond_t work_ready;
  pthread_cond_t work_done;
  int started;   /* helpers that run */
  int busy;      /* helpers inside the present loop */
  bool open;     /* the present loop still takes helpers */
  int64_t round; /* grows by one each loop */
  bool stop;
  sr_context *ctx;
  /* the present loop */
  sr__item_fn fn;
  void *data;
  int64_t items;
  atomic_int_fast64_t next;
  atomic_int_fast64_t lowest_failed; /* items, while none failed */
  sr_context *workers;               /* one a slot */
  int64_t *failed_item;              /* one a slot: the lowest item that failed there */
  pool_thread *helpers;
};

/* Takes items until none is left or one below failed. A slot meets items in increasing order, so
 * its first failure is its lowest. */
static void run_items(sr__pool *pool, int slot) {
  sr_context *worker = &pool->workers[slot];
  for (;;) {
    int64_t item = atomic_fetch_add(&pool->next, 1);
    if (item >= pool->items || item > atomic_load(&pool->lowest_failed)) return;
    sr_status status = sr__check_interrupt(worker);
    if (status == SR_OK) status = pool->fn(worker, pool->data, item, slot);
    if (status == SR_OK) continue;
    worker->error.status = status;
    pool->failed_item[slot] = item;
    int_fast64_t lowest = atomic_load(&pool->lowest_failed);
    while (item < lowest && !atomic_compare_exchange_weak(&pool->lowest_failed, &lowest, item)) {
    }
    return;
  }
}

static void *helper_main(void *argument) {
  pool_thread *self = argument;
  sr__pool *pool = self->pool;
  int64_t seen = 0;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    while (!pool->stop && !(pool->open && pool->round != seen))
      pthread_cond_wait(&pool->work_ready, &pool->mutex);
    if (pool->stop) break;
    seen = pool->round;
    pool->busy++;
    pthread_mutex_unlock(&pool->mutex);
    run_items(pool, self->slot);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->busy == 0) pthread_cond_signal(&pool->work_done);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

void sr__pool_free(sr_context *ctx) {
  sr__pool *pool = ctx->pool;
  if (!pool) return;
  pthread_mutex_lock(&pool->mutex);
  pool->stop = true;
  pthread_cond_broadcast(&pool->work_ready);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < pool->started; i++) pthread_join(pool->helpers[i].thread, NULL);
  pthread_cond_destroy(&pool->work_done);
  pthread_cond_destroy(&pool->work_ready);
  pthread_mutex_destroy(&pool->mutex);
  sr__free(ctx, pool->helpers);
  sr__free(ctx, pool->failed_item);
  sr__free(ctx, pool->workers);
  sr__free(ctx, pool);
  ctx->pool = NULL;
}

/* Starts the helpers. Where the system gives fewer threads than asked for, the rest of the pool
 * does the work; the result is the same. */
static sr_status pool_start(sr_context *ctx) {
  sr_status status = SR_OK;
  sr__pool *pool = NULL;
  SR_NEW_ZERO(ctx, pool, 1);
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work_ready, NULL);
  pthread_cond_init(&pool->work_done, NULL);
  pool->ctx = ctx;
  ctx->pool = pool;
  SR_NEW_ZERO(ctx, pool->workers, ctx->threads);
  SR_NEW_ZERO(ctx, pool->failed_item, ctx->threads);
  SR_NEW_ZERO(ctx, pool->helpers, ctx->threads);
  /* Signals go to the user's thread. */
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  for (int i = 0; i < ctx->threads - 1; i++) {
    pool->helpers[i] = (pool_thread){.pool = pool, .slot = i + 1};
    if (pthread_create(&pool->helpers[i].thread, NULL, helper_main, &pool->helpers[i]) != 0) break;
    pool->started++;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
cleanup:
  if (status != SR_OK && pool) sr__pool_free(ctx);
  return status;
}

static sr_status run_serially(sr_context *ctx, int64_t items, sr__item_fn fn, void *data) {
  sr_status status = SR_OK;
  for (int64_t item = 0; item < items; item++) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(fn(ctx, data, item, 0));
  }
cleanup:
  return status;
}

static void release_helpers(sr__pool *pool) {
  pthread_mutex_lock(&pool->mutex);
  pool->open = true;
  pool->round++;
  pthread_cond_broadcast(&pool->work_ready);
  pthread_mutex_unlock(&pool->mutex);
}

/* All items are taken by now: a helper that has not woken up yet is not waited for, or every short
 * loop would take as long as the system needs to wake it. */
static void wait_for_helpers(sr__pool *pool) {
  pthread_mutex_lock(&pool->mutex);
  pool->open = false;
  while (pool->busy > 0) pthread_cond_wait(&pool->work_done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

sr_status sr__parallel_for(sr_context *ctx, int64_t items, sr__item_fn fn, void *data) {
  if (ctx->parent || ctx->threads == 1 || items < 2) return run_serially(ctx, items, fn, data);
  sr_status status = SR_OK;
  if (!ctx->pool) SR_TRY(pool_start(ctx));
  sr__pool *pool = ctx->pool;
  pool->fn = fn;
  pool->data = data;
  pool->items = items;
  atomic_store(&pool->next, 0);
  atomic_store(&pool->lowest_failed, items);
  for (int slot = 0; slot < ctx->threads; slot++) {
    sr__context_init_worker(&pool->workers[slot], ctx);
    pool->failed_item[slot] = items;
  }
  release_helpers(pool);
  run_items(pool, 0);
  wait_for_helpers(pool);
  int64_t lowest = atomic_load(&pool->lowest_failed);
  if (lowest == items) return SR_OK;
  for (int slot = 0; slot < ctx->threads; slot++) {
    if (pool->failed_item[slot] != lowest) continue;
    sr__context_copy_error(ctx, &pool->workers[slot]);
    return ctx->error.status;
  }
  return sr__fail(ctx, SR_ERROR_INTERNAL, "a failed item has no worker");
cleanup:
  return status;
}
