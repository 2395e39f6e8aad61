/* Bags for another trainer. */
#include "core/text.h"
#include "data/npy.h"
#include "plan.h"

typedef struct bag_writer {
  const sr_plan *plan;
  sr__writer *out;
  int64_t *rows; /* of one bag */
  int32_t *counts;
  int64_t length;
  unsigned char *line; /* npy: one member's counts */
  int bytes;           /* npy: of one count */
} bag_writer;

/* Rows as their file counts them. */
static sr_status next_bag(sr_context *ctx, bag_writer *w, int32_t member) {
  sr_status status = sr_plan_bag(ctx, w->plan, member, w->rows, w->counts, &w->length);
  for (int64_t i = 0; w->plan->source_row && i < w->length; i++)
    w->rows[i] = w->plan->source_row[w->rows[i]];
  return status;
}

static sr_status write_csv(sr_context *ctx, bag_writer *w) {
  sr_status status = SR_OK;
  SR_TRY(sr__writer_print(w->out, "member,row,count\n"));
  for (int32_t member = 0; member < w->plan->members; member++) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(next_bag(ctx, w, member));
    for (int64_t i = 0; i < w->length; i++)
      SR_TRY(sr__writer_print(w->out, "%d,%lld,%d\n", member, (long long)w->rows[i], w->counts[i]));
    sr__progress(ctx, "write bags", member + 1, w->plan->members);
  }
cleanup:
  return status;
}

static sr_status write_npy(sr_context *ctx, bag_writer *w) {
  sr_status status = SR_OK;
  char header[SR__NPY_HEADER_BYTES];
  const sr__npy array = {.kind = 'u',
                         .size = w->bytes,
                         .rows = w->plan->members,
                         .columns = w->plan->source_rows};
  size_t line_bytes = (size_t)w->plan->source_rows * (size_t)w->bytes;
  SR_NEW(ctx, w->line, (int64_t)line_bytes);
  SR_TRY(sr__writer_put(w->out, header, sr__npy_print_header(&array, header)));
  for (int32_t member = 0; member < w->plan->members; member++) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(next_bag(ctx, w, member));
    memset(w->line, 0, line_bytes);
    for (int64_t i = 0; i < w->length; i++) {
      unsigned char *cell = w->line + (size_t)w->rows[i] * (size_t)w->bytes;
      for (int k = 0; k < w->bytes; k++) cell[k] = (unsigned char)(w->counts[i] >> (8 * k));
    }
    SR_TRY(sr__writer_put(w->out, w->line, line_bytes));
    sr__progress(ctx, "write bags", member + 1, w->plan->members);
  }
cleanup:
  return status;
}

/* Sizes of all bags and the largest count in any. */
static sr_status measure(sr_context *ctx, bag_writer *w, sr_plan_sizes *sizes, int32_t *largest) {
  sr_status status = SR_OK;
  double total = 0.0;
  *sizes = (sr_plan_sizes){.smallest = INT64_MAX};
  *largest = 0;
  for (int32_t member = 0; member < w->plan->members; member++) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(next_bag(ctx, w, member));
    int64_t size = 0;
    for (int64_t i = 0; i < w->length; i++) {
      size += w->counts[i];
      if (w->counts[i] > *largest) *largest = w->counts[i];
    }
    if (size < sizes->smallest) sizes->smallest = size;
    if (size > sizes->largest) sizes->largest = size;
    total += (double)size;
  }
  sizes->mean = total / w->plan->members;
cleanup:
  return status;
}

sr_status sr_plan_write(sr_context *ctx, const sr_plan *plan, const char *path,
                        sr_plan_sizes *sizes) {
  sr_status status = SR_OK;
  bag_writer w = {.plan = plan};
  sr_plan_sizes measured;
  int32_t largest;
  SR_NEW(ctx, w.rows, plan->capacity);
  SR_NEW(ctx, w.counts, plan->capacity);
  SR_TRY(measure(ctx, &w, &measured, &largest));
  w.bytes = largest < 256 ? 1 : largest < 65536 ? 2 : 4;
  SR_TRY(sr__writer_open(ctx, path, &w.out));
  SR_TRY(sr__ends_in(path, ".npy") ? write_npy(ctx, &w) : write_csv(ctx, &w));
  SR_TRY(sr__writer_commit(&w.out));
  if (sizes) *sizes = measured;
cleanup:
  sr__writer_abort(&w.out);
  sr__free(ctx, w.line);
  sr__free(ctx, w.rows);
  sr__free(ctx, w.counts);
  return status;
}
