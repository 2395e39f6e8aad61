#include "words.h"

#include <stdlib.h>

sr_status sr__words_copy(sr_context *ctx, sr_dictionary from, sr_dictionary *to) {
  sr_status status = SR_OK;
  const char **names = NULL;
  SR_NEW_ZERO(ctx, names, from.count);
  *to = (sr_dictionary){from.count, names};
  for (int32_t c = 0; c < from.count; c++) {
    names[c] = sr__strdup(ctx, from.names[c]);
    if (!names[c]) SR_TRY(SR_ERROR_MEMORY);
  }
cleanup:
  return status;
}

void sr__words_free(const sr_allocator *allocator, sr_dictionary *names) {
  for (int32_t c = 0; names->names && c < names->count; c++)
    sr__release(allocator, (void *)(uintptr_t)names->names[c]);
  sr__release(allocator, (void *)(uintptr_t)names->names);
  *names = (sr_dictionary){0, NULL};
}

void sr__words_save(sr_dictionary names, sr__bytes *bytes) {
  sr__put_u64(bytes, (uint64_t)names.count);
  for (int32_t c = 0; c < names.count; c++) sr__put_string(bytes, names.names[c]);
}

sr_status sr__words_load(sr__byte_reader *reader, sr_dictionary *names) {
  sr_status status = SR_OK;
  int64_t count = sr__get_count(reader, sizeof(uint64_t));
  const char **list = NULL;
  if (count > INT32_MAX) sr__get_refuse(reader, "a dictionary is too long");
  SR_TRY(reader->status);
  if (count == 0) return SR_OK;
  SR_NEW_ZERO(reader->ctx, list, count);
  *names = (sr_dictionary){(int32_t)count, list};
  for (int64_t c = 0; c < count && reader->status == SR_OK; c++) list[c] = sr__get_string(reader);
  status = reader->status;
cleanup:
  return status;
}

typedef struct named_code {
  const char *name;
  int32_t code;
} named_code;

static int by_name(const void *a, const void *b) {
  return strcmp(((const named_code *)a)->name, ((const named_code *)b)->name);
}

sr_status sr__words_match(sr_context *ctx, sr_dictionary known, sr_dictionary given,
                          int32_t **code) {
  sr_status status = SR_OK;
  named_code *sorted = NULL;
  *code = NULL;
  SR_NEW(ctx, sorted, known.count);
  SR_NEW(ctx, *code, given.count);
  for (int32_t c = 0; c < known.count; c++) sorted[c] = (named_code){known.names[c], c};
  if (known.count) qsort(sorted, (size_t)known.count, sizeof *sorted, by_name);
  for (int32_t c = 0; c < given.count; c++) {
    named_code wanted = {given.names[c], 0};
    const named_code *found =
        known.count ? bsearch(&wanted, sorted, (size_t)known.count, sizeof *sorted, by_name) : NULL;
    (*code)[c] = found ? found->code : -1;
  }
cleanup:
  sr__free(ctx, sorted);
  return status;
}

sr_dictionary sr__words_of(const sr_table_view *view, int64_t j) {
  return view->categories ? view->categories[j] : (sr_dictionary){0, NULL};
}

sr_status sr__words_check_features(sr_context *ctx, const sr_table_view *view, int64_t features,
                                   sr_dictionary (*known)(const void *, int64_t),
                                   const void *data) {
  if (view->features != features)
    return sr__fail(ctx, SR_ERROR_DATA,
                    "the table has %lld features, the model was trained on %lld; give the same "
                    "columns in the same order",
                    (long long)view->features, (long long)features);
  for (int64_t j = 0; j < features; j++) {
    bool given = sr__words_of(view, j).count > 0;
    if (given != (known(data, j).count > 0))
      return sr__fail(ctx, SR_ERROR_DATA,
                      "feature %lld (%s) is %s here and was %s in training; give the same columns",
                      (long long)j + 1, view->feature_names ? view->feature_names[j] : "unnamed",
                      given ? "text" : "numeric", given ? "numeric" : "text");
  }
  return SR_OK;
}
