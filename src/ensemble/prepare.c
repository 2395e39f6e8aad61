/* A table in the form its learner likes. */
#include <math.h>

#include "data/series_columns.h"
#include "ensemble.h"

sr_status sr__prepare(sr_context *ctx, const sr_table *table, const char *learner,
                      sr__prepared *prepared) {
  sr_status status = SR_OK;
  *prepared = (sr__prepared){.table = table, .view = sr_table_get(table)};
  SR_TRY(sr__configure(ctx, "learner", sr_learner_method, learner, &prepared->configuration));
  prepared->learner = (const sr__learner *)prepared->configuration.method;
  if (!(prepared->learner->flags & SR_LEARNER_TAKES_SERIES))
    SR_TRY(sr__series_columns(ctx, table, 0, &prepared->columns));
  if (prepared->columns) {
    prepared->table = table = prepared->columns;
    prepared->view = sr_table_get(table);
  }
  SR_TRY(sr__learner_check_table(ctx, prepared->learner, table));
  SR_TRY(prepared->learner->prepare(ctx, table, prepared->configuration.options, &prepared->encoder,
                                    &prepared->training));
  prepared->classes = prepared->learner->classes(prepared->encoder);
cleanup:
  if (status != SR_OK) sr__prepared_free(ctx, prepared);
  return status;
}

/* Around a stretch of a series T rows are free, up to a quarter of the stretch. */
void sr__prepared_use_units(sr__prepared *prepared, const sr_structure *structure) {
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
