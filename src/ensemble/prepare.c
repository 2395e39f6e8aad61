/* A table in the form its learner likes. */
#include <math.h>

#include "data/series_columns.h"
#include "ensemble.h"

/* Around a stretch of a series T rows are free, up to a quarter of the stretch. */
static void use_units(sr__prepared *prepared, const sr_structure *structure) {
  const sr_parts_view *parts = sr_parts_get(structure->parts);
  if (structure->rank || parts->parts < 2) return;
  prepared->units.unit = parts->part;
  if (!sr__structure_is_series(structure)) return;
  int64_t most = structure->view.rows / parts->parts / 4;
  double wanted = ceil(structure->scale);
  prepared->units.buffer = wanted < (double)most ? (int64_t)wanted : most;
  if (prepared->units.buffer < structure->view.overlap)
    prepared->units.buffer = structure->view.overlap;
}

/* Rows of the largest part or group, with its margin. */
static sr_status largest_set(sr_context *ctx, const sr__prepared *prepared, int64_t *most) {
  sr_status status = SR_OK;
  const int32_t *unit = prepared->units.unit;
  int64_t rows = prepared->view->rows, *size = NULL;
  int32_t units = 0;
  *most = 0;
  for (int64_t i = 0; unit && i < rows; i++) units = unit[i] >= units ? unit[i] + 1 : units;
  if (units == 0) return SR_OK;
  SR_NEW_ZERO(ctx, size, units);
  for (int64_t i = 0; i < rows; i++) {
    int64_t here = ++size[unit[i]] + 2 * prepared->units.buffer;
    if (here > *most) *most = here;
  }
  if (*most > rows) *most = rows;
cleanup:
  sr__free(ctx, size);
  return status;
}

/* "rocket: up to 938 MB with 2 members at a time; ..." */
static sr_status say_memory(sr_context *ctx, const sr__fit_plans *plans,
                            const sr__prepared *prepared) {
  sr_status status = SR_OK;
  const sr_table_view *view = prepared->view;
  sr__fit_size size = {.view = view,
                       .at_once = prepared->at_once,
                       .threads = sr_context_threads(ctx)};
  sr__fit_memory m = {0};
  SR_TRY(largest_set(ctx, prepared, &size.largest_set));
  prepared->learner->memory(prepared->configuration.options, &size, &m);
  double series = 4.0 * (double)view->series_offset[view->rows * view->channels];
  double working = m.common + size.at_once * m.each, fitted = (double)plans->members * m.fitted;
  double all = series + (working > m.preparing ? working : m.preparing);
  sr__log(
      ctx, all + fitted > 2.5e8 ? SR_LOG_INFO : SR_LOG_DEBUG,
      "%s: up to %.0f MB with %d member%s at a time, and up to %.0f MB for %lld fitted one%s%s%s",
      prepared->learner->about.name, ceil(all / 1e6), size.at_once, size.at_once == 1 ? "" : "s",
      ceil(fitted / 1e6), (long long)plans->members, plans->members == 1 ? "" : "s",
      m.word ? "; " : "", m.word ? m.word : "");
cleanup:
  return status;
}

sr_status sr__prepare(sr_context *ctx, const sr_table *table, const char *learner,
                      const sr__fit_plans *plans, sr__prepared *prepared) {
  sr_status status = SR_OK;
  *prepared = (sr__prepared){.table = table,
                             .view = sr_table_get(table),
                             .at_once = sr_context_threads(ctx)};
  if (plans->fits < prepared->at_once) prepared->at_once = plans->fits > 1 ? (int)plans->fits : 1;
  SR_TRY(sr__configure(ctx, "learner", sr_learner_method, learner, &prepared->configuration));
  prepared->learner = (const sr__learner *)prepared->configuration.method;
  if (!(prepared->learner->flags & SR_LEARNER_TAKES_SERIES))
    SR_TRY(sr__series_columns(ctx, table, 0, &prepared->columns));
  if (prepared->columns) {
    prepared->table = table = prepared->columns;
    prepared->view = sr_table_get(table);
  }
  SR_TRY(sr__learner_check_table(ctx, prepared->learner, table));
  if (plans->structure) use_units(prepared, plans->structure);
  if (prepared->learner->memory) SR_TRY(say_memory(ctx, plans, prepared));
  SR_TRY(prepared->learner->prepare(ctx, table, prepared->configuration.options, &prepared->encoder,
                                    &prepared->training));
  prepared->classes = prepared->learner->classes(prepared->encoder);
cleanup:
  if (status != SR_OK) sr__prepared_free(ctx, prepared);
  return status;
}

static void add_table(sr__member_key *key, const sr_table_view *view) {
  const struct {
    const void *bytes;
    int64_t count;
  } piece[] = {{&view->rows, sizeof view->rows},
               {&view->features, sizeof view->features},
               {view->x, view->rows * view->features * (int64_t)sizeof *view->x},
               {view->label, view->rows * (int64_t)sizeof *view->label},
               {view->weight, view->rows * (int64_t)sizeof *view->weight},
               {view->series_offset, (view->rows * view->channels + 1) * (int64_t)sizeof(int64_t)},
               {view->series,
                view->channels > 0
                    ? view->series_offset[view->rows * view->channels] * (int64_t)sizeof(float)
                    : 0}};
  for (size_t k = 0; k < sizeof piece / sizeof *piece; k++)
    if (piece[k].bytes) sr__member_key_add(key, piece[k].bytes, piece[k].count);
}

sr_status sr__prepared_use_store(sr_context *ctx, sr__prepared *prepared, const char *learner,
                                 sr__member_store *store) {
  sr_status status = SR_OK;
  sr__bytes encoder = {.ctx = ctx};
  sr__member_key *key = &prepared->key;
  *key = (sr__member_key){{1, 2}};
  prepared->learner->save_encoder(prepared->encoder, &encoder);
  SR_TRY(encoder.status);
  sr__member_key_add(key, sr_version(), (int64_t)strlen(sr_version()));
  sr__member_key_add(key, learner, (int64_t)strlen(learner));
  sr__member_key_add(key, encoder.data, encoder.size);
  add_table(key, prepared->view);
  sr__member_key_add(key, &prepared->units.buffer, sizeof prepared->units.buffer);
  if (prepared->units.unit)
    sr__member_key_add(key, prepared->units.unit,
                       prepared->view->rows * (int64_t)sizeof *prepared->units.unit);
  prepared->store = store;
cleanup:
  sr__bytes_free(&encoder);
  return status;
}

void sr__prepared_free(sr_context *ctx, sr__prepared *prepared) {
  sr_allocator allocator = sr__allocator(ctx);
  if (prepared->learner) {
    prepared->learner->free_training(prepared->training);
    prepared->learner->free_encoder(prepared->encoder);
  }
  sr__configuration_free(&allocator, &prepared->configuration);
  sr_table_free(&prepared->columns);
  *prepared = (sr__prepared){0};
}
