/* Bags from a file: csv lines "member,row[,count]" counted from 0 in any order, or an npy matrix of
 * counts with a line a member. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "data/npy.h"
#include "plan.h"

typedef struct bag_entry {
  int32_t member, row, count;
} bag_entry;

typedef struct bag_reader {
  sr_context *ctx;
  const char *path;
  int64_t rows;    /* of the file that the bags count */
  int32_t *row_of; /* of each such row: the plan's, -1 = it has none; NULL: the same */
  bag_entry *entry;
  int64_t length, capacity;
  int32_t members;
} bag_reader;

enum { MAX_BAGS = 1 << 24 };

static sr_status add_entry(bag_reader *r, int64_t line, long long member, long long row,
                           long long count) {
  sr_status status = SR_OK;
  if (member < 0 || member >= MAX_BAGS)
    SR_TRY(sr__fail_at(r->ctx, SR_ERROR_FORMAT, r->path, line, 1,
                       "member is %lld, expected 0 to %d", member, MAX_BAGS - 1));
  if (row < 0 || row >= r->rows)
    SR_TRY(sr__fail_at(r->ctx, SR_ERROR_FORMAT, r->path, line, 2,
                       "row is %lld, but the data have rows 0 to %lld", row,
                       (long long)r->rows - 1));
  if (count < 0 || count > INT32_MAX)
    SR_TRY(sr__fail_at(r->ctx, SR_ERROR_FORMAT, r->path, line, 3, "count is %lld, expected 0 to %d",
                       count, INT32_MAX));
  if (member >= r->members) r->members = (int32_t)member + 1;
  if (r->row_of) row = r->row_of[row];
  if (count == 0 || row < 0) return SR_OK;
  SR_GROW(r->ctx, r->entry, r->capacity, r->length + 1);
  r->entry[r->length++] = (bag_entry){(int32_t)member, (int32_t)row, (int32_t)count};
cleanup:
  return status;
}

/* ---- csv ---------------------------------------------------------------------------------- */

/* Two or three integers split by commas; the number of fields, or 0 where the line is not so. */
static int parse_fields(const char *text, long long *field) {
  for (int k = 0; k < 3; k++) {
    char *end;
    errno = 0;
    field[k] = strtoll(text, &end, 10);
    if (end == text || errno) return 0;
    while (isspace((unsigned char)*end)) end++;
    if (!*end) return k >= 1 ? k + 1 : 0;
    if (*end != ',') return 0;
    text = end + 1;
  }
  return 0;
}

static bool is_header(const char *text) {
  while (isspace((unsigned char)*text) || *text == '"') text++;
  return isalpha((unsigned char)*text) != 0;
}

static sr_status read_csv(bag_reader *r, sr__source *source) {
  sr_status status = SR_OK;
  sr__lines lines = {.source = source};
  for (;;) {
    long long field[3] = {0, 0, 1};
    char *line;
    size_t length;
    SR_TRY(sr__lines_next(r->ctx, &lines, &line, &length));
    if (!line) break;
    if (lines.number == 1 && is_header(line)) continue;
    if (line[strspn(line, " \t")] == '\0') continue;
    int fields = parse_fields(line, field);
    if (!fields)
      SR_TRY(sr__fail_at(r->ctx, SR_ERROR_FORMAT, r->path, lines.number, 1,
                         "expected \"member,row\" or \"member,row,count\""));
    SR_TRY(add_entry(r, lines.number, field[0], field[1], fields == 3 ? field[2] : 1));
  }
cleanup:
  sr__lines_free(r->ctx, &lines);
  return status;
}

/* ---- npy ---------------------------------------------------------------------------------- */

static sr_status fail_npy(bag_reader *r, const char *what) {
  return sr__fail_at(r->ctx, SR_ERROR_FORMAT, r->path, 0, 0,
                     "%s; expected an npy matrix of counts, members x rows, of integers in C order",
                     what);
}

static sr_status check_npy(bag_reader *r, const sr__npy *array) {
  if (array->columns_first) return fail_npy(r, "the matrix is not in C order");
  if (array->kind == 'f') return fail_npy(r, "the numbers are not integers");
  if (array->rows > MAX_BAGS) return fail_npy(r, "the matrix has too many lines");
  if (array->columns == r->rows) return SR_OK;
  return sr__fail_at(r->ctx, SR_ERROR_FORMAT, r->path, 0, 0,
                     "the bags are for %lld rows, the data have %lld", (long long)array->columns,
                     (long long)r->rows);
}

static sr_status read_npy(bag_reader *r, sr__source *source) {
  sr_status status = SR_OK;
  sr__npy array = {0};
  unsigned char *line = NULL;
  SR_TRY(sr__npy_read_header(r->ctx, source, &array));
  SR_TRY(check_npy(r, &array));
  size_t bytes = (size_t)(array.columns * array.size), got;
  SR_NEW(r->ctx, line, (int64_t)bytes);
  r->members = (int32_t)array.rows;
  for (int64_t member = 0; member < array.rows; member++) {
    SR_TRY(sr__source_read(r->ctx, source, line, bytes, &got));
    if (got != bytes) SR_TRY(fail_npy(r, "the file is cut off"));
    for (int64_t row = 0; row < array.columns; row++) {
      int64_t count = sr__npy_integer(&array, line + row * array.size);
      if (count) SR_TRY(add_entry(r, member + 1, member, row, count));
    }
  }
cleanup:
  sr__free(r->ctx, line);
  return status;
}

/* ---- into the plan ------------------------------------------------------------------------ */

static int compare_entries(const void *left, const void *right) {
  const bag_entry *a = left, *b = right;
  if (a->member != b->member) return a->member < b->member ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static bool is_sorted(const bag_reader *r) {
  for (int64_t i = 1; i < r->length; i++) {
    if (compare_entries(&r->entry[i - 1], &r->entry[i]) > 0) return false;
  }
  return true;
}

/* Entries of the same member and row are added up. */
static sr_status store_bags(bag_reader *r, sr__bag_list *list) {
  sr_status status = SR_OK;
  sr_context *ctx = r->ctx;
  if (!is_sorted(r)) qsort(r->entry, (size_t)r->length, sizeof *r->entry, compare_entries);
  SR_NEW_ZERO(ctx, list->offset, (int64_t)r->members + 1);
  SR_NEW(ctx, list->row, r->length);
  SR_NEW(ctx, list->count, r->length);
  int64_t stored = 0;
  for (int64_t i = 0; i < r->length; i++) {
    const bag_entry *e = &r->entry[i];
    if (i && compare_entries(e - 1, e) == 0) {
      if (list->count[stored - 1] > INT32_MAX - e->count)
        SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, r->path, 0, 0, "row %d occurs too often in bag %d",
                           e->row, e->member));
      list->count[stored - 1] += e->count;
      continue;
    }
    list->row[stored] = e->row;
    list->count[stored++] = e->count;
    list->offset[e->member + 1] = stored;
  }
  for (int32_t j = 0; j < r->members; j++) {
    if (list->offset[j + 1] <= list->offset[j])
      SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, r->path, 0, 0,
                         "bag %d is empty; number the members from 0 without a gap", j));
  }
  list->members = r->members;
cleanup:
  return status;
}

static sr_status find_rows(bag_reader *r, const sr_plan *plan) {
  sr_status status = SR_OK;
  if (!plan->source_row) return SR_OK;
  SR_NEW(r->ctx, r->row_of, r->rows);
  for (int64_t i = 0; i < r->rows; i++) r->row_of[i] = -1;
  for (int64_t i = 0; i < plan->rows; i++) r->row_of[plan->source_row[i]] = (int32_t)i;
cleanup:
  return status;
}

sr_status sr__bag_list_read(sr_context *ctx, const char *path, const sr_plan *plan,
                            sr__bag_list *list) {
  sr_status status = SR_OK;
  bag_reader r = {.ctx = ctx, .path = path, .rows = plan->source_rows};
  sr__source *source = NULL;
  char first;
  size_t got;
  SR_TRY(find_rows(&r, plan));
  SR_TRY(sr__source_open(ctx, path, &source));
  SR_TRY(sr__source_read(ctx, source, &first, 1, &got));
  SR_TRY(sr__source_unread(ctx, source, &first, got));
  SR_TRY(got && (unsigned char)first == 0x93 ? read_npy(&r, source) : read_csv(&r, source));
  if (r.length == 0) SR_TRY(sr__fail_at(ctx, SR_ERROR_FORMAT, path, 0, 0, "the file holds no bag"));
  SR_TRY(store_bags(&r, list));
cleanup:
  sr__source_close(ctx, &source);
  sr__free(ctx, r.entry);
  sr__free(ctx, r.row_of);
  return status;
}

void sr__bag_list_free(const sr_allocator *allocator, sr__bag_list *list) {
  sr__release(allocator, list->offset);
  sr__release(allocator, list->row);
  sr__release(allocator, list->count);
}
