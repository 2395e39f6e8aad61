#include "runner.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Shared by the workers; everything below `mutex` is guarded by it. */
typedef struct job {
  const experiment *e;
  const run_options *options;
  FILE *file;
  int64_t unit_count;
  experiment_unit *unit; /* those still to do, in order */
  int workers;
  sr_context **context; /* one a worker */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int64_t next, finished;
  int running;
  bool stop;
  sr_status status;
  char reason[REASON_SIZE];
} job;

typedef struct worker {
  job *shared;
  int slot;
} worker;

/* ---- one worker --------------------------------------------------------------------------- */

static bool take_unit(job *j, experiment_unit *unit) {
  pthread_mutex_lock(&j->mutex);
  bool taken = !j->stop && j->status == SR_OK && j->next < j->unit_count;
  if (taken) *unit = j->unit[j->next++];
  pthread_mutex_unlock(&j->mutex);
  return taken;
}

static void record_failure(job *j, const char *case_name, const experiment_unit *unit,
                           sr_status status, const char *why) {
  if (j->status != SR_OK || (status == SR_ERROR_INTERRUPTED && j->stop)) return;
  j->status = status;
  snprintf(j->reason, sizeof j->reason, "%s, case \"%s\", seed %llu: %.300s", j->e->about.name,
           case_name, (unsigned long long)unit->seed, why);
}

static void run_unit(job *j, sr_context *ctx, const experiment_unit *unit) {
  result one = {.seed = unit->seed};
  j->e->case_name(unit->scale, unit->index, one.name, sizeof one.name);
  double start = sr_seconds();
  sr_status status = j->e->run(ctx, unit, &one.measured);
  one.seconds = sr_seconds() - start;
  pthread_mutex_lock(&j->mutex);
  if (status == SR_OK) status = results_append(j->file, j->e, unit->scale, &one);
  if (status == SR_OK)
    j->finished++;
  else
    record_failure(j, one.name, unit, status,
                   one.measured.reason[0]         ? one.measured.reason
                   : status == SR_ERROR_OUTPUT    ? "cannot write the result file"
                   : sr_context_error(ctx).status ? sr_context_error(ctx).message
                                                  : sr_status_message(status));
  pthread_cond_signal(&j->changed);
  pthread_mutex_unlock(&j->mutex);
}

static void *work(void *data) {
  worker *w = data;
  experiment_unit unit;
  while (take_unit(w->shared, &unit)) run_unit(w->shared, w->shared->context[w->slot], &unit);
  pthread_mutex_lock(&w->shared->mutex);
  w->shared->running--;
  pthread_cond_signal(&w->shared->changed);
  pthread_mutex_unlock(&w->shared->mutex);
  return NULL;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* Watches for interrupts and shows progress until the last worker is done. */
static void watch(job *j, sr_context *ctx, int64_t found) {
  const run_options *o = j->options;
  pthread_mutex_lock(&j->mutex);
  while (j->running > 0) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&j->changed, &j->mutex, &until);
    if (sr_context_interrupted(ctx) && !j->stop) {
      j->stop = true;
      for (int i = 0; i < j->workers; i++) sr_context_interrupt(j->context[i]);
    }
    if (o->progress)
      o->progress(o->progress_data, j->e->about.name, found + j->finished, found + j->unit_count);
  }
  pthread_mutex_unlock(&j->mutex);
}

static sr_status start_workers(job *j, pthread_t *thread, worker *w, int *started) {
  sr_context_options options;
  sr_context_options_init(&options);
  options.threads = 1;
  for (int i = 0; i < j->workers; i++) {
    sr_status status = sr_context_new(&options, &j->context[i]);
    if (status != SR_OK) return status;
  }
  for (int i = 0; i < j->workers; i++) {
    w[i] = (worker){j, i};
    pthread_mutex_lock(&j->mutex);
    j->running++;
    pthread_mutex_unlock(&j->mutex);
    if (pthread_create(&thread[i], NULL, work, &w[i]) != 0) {
      pthread_mutex_lock(&j->mutex);
      j->running--;
      pthread_mutex_unlock(&j->mutex);
      break; /* fewer threads still finish the work */
    }
    (*started)++;
  }
  return *started > 0 ? SR_OK : SR_ERROR_MEMORY;
}

static sr_status run_units(job *j, sr_context *ctx, int64_t found) {
  int started = 0;
  j->workers = sr_context_threads(ctx);
  if (j->workers > j->unit_count) j->workers = (int)j->unit_count;
  size_t count = (size_t)(j->workers > 0 ? j->workers : 1);
  pthread_t *thread = calloc(count, sizeof *thread);
  worker *w = calloc(count, sizeof *w);
  j->context = calloc(count, sizeof *j->context);
  sr_status status = thread && w && j->context ? SR_OK : SR_ERROR_MEMORY;
  if (status == SR_OK && j->unit_count > 0) {
    pthread_mutex_init(&j->mutex, NULL);
    pthread_cond_init(&j->changed, NULL);
    status = start_workers(j, thread, w, &started);
    watch(j, ctx, found);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->mutex);
  }
  for (int i = 0; j->context && i < j->workers; i++) sr_context_free(&j->context[i]);
  free(j->context);
  free(thread);
  free(w);
  if (status == SR_OK) status = j->status;
  if (status == SR_OK && j->finished < j->unit_count && j->stop) status = SR_ERROR_INTERRUPTED;
  return status;
}

/* Seeds vary slowest, so that an interrupted run has whole rounds of every case. */
static sr_status list_units(job *j, const results *old, run_report *report) {
  const run_options *o = j->options;
  if (j->e->know) j->e->know(o->data, NULL);
  int cases = j->e->case_count(o->scale);
  int seeds = o->seeds > 0 ? o->seeds : j->e->seeds[o->scale];
  j->unit = calloc((size_t)cases * (size_t)seeds + 1, sizeof *j->unit);
  if (!j->unit) return SR_ERROR_MEMORY;
  for (int s = 0; s < seeds; s++) {
    for (int c = 0; c < cases; c++) {
      experiment_unit unit = {o->scale, c, o->first_seed + (uint64_t)s, o->data};
      char name[CASE_NAME_SIZE];
      j->e->case_name(o->scale, c, name, sizeof name);
      bool found = results_find(old, name, unit.seed) != NULL;
      if (!found && j->e->available && !j->e->available(o->data, o->scale, c)) continue;
      report->units++;
      if (found)
        report->found++;
      else
        j->unit[j->unit_count++] = unit;
    }
  }
  return SR_OK;
}

static sr_status make_folder(const char *path, char *reason, size_t size) {
  char partial[1024];
  snprintf(partial, sizeof partial, "%s", path);
  for (char *slash = partial + 1;; slash++) {
    if (*slash != '/' && *slash != '\0') continue;
    char kept = *slash;
    *slash = '\0';
    if (mkdir(partial, 0777) != 0 && errno != EEXIST) {
      snprintf(reason, size, "cannot make the folder %.400s: %s", partial, strerror(errno));
      return SR_ERROR_OUTPUT;
    }
    *slash = kept;
    if (!kept) return SR_OK;
  }
}

sr_status experiment_run(sr_context *ctx, const experiment *e, const run_options *options,
                         run_report *report) {
  sr_status status = SR_OK;
  double start = sr_seconds();
  char path[1200];
  results old = {0};
  job j = {.e = e, .options = options};
  memset(report, 0, sizeof *report);
  results_path(options->folder, e, options->scale, path, sizeof path);
  SR_TRY(make_folder(options->folder, report->reason, sizeof report->reason));
  j.file = results_open(path, report->reason, sizeof report->reason);
  if (!j.file) SR_TRY(SR_ERROR_OUTPUT);
  SR_TRY(results_read(ctx, path, &old, report->reason, sizeof report->reason));
  if (ftruncate(fileno(j.file), old.good_bytes) != 0) SR_TRY(SR_ERROR_OUTPUT);
  SR_TRY(list_units(&j, &old, report));
  status = run_units(&j, ctx, report->found);
  if (j.reason[0]) snprintf(report->reason, sizeof report->reason, "%s", j.reason);
cleanup:
  report->finished = j.finished;
  report->seconds = sr_seconds() - start;
  if (j.file && fclose(j.file) != 0 && status == SR_OK) status = SR_ERROR_OUTPUT;
  if (status != SR_OK && !report->reason[0])
    snprintf(report->reason, sizeof report->reason, "%s", sr_status_message(status));
  free(j.unit);
  results_free(&old);
  return status;
}
