#include "series_ridge.h"

void sr__series_ridge_free(sr__series_ridge *model) {
  if (!model) return;
  sr_allocator allocator = model->allocator;
  if (model->made) model->transform->free(model->made);
  sr__linear_classes_free(model->classes);
  sr__release(&allocator, model->tile_begin);
  sr__release(&allocator, model);
}

static sr_status new_model(sr_context *ctx, const sr__series_transform *transform,
                           sr__series_ridge **model) {
  sr_status status = SR_OK;
  *model = NULL;
  SR_NEW_ZERO(ctx, *model, 1);
  (*model)->allocator = sr__allocator(ctx);
  (*model)->transform = transform;
cleanup:
  return status;
}

static sr_status list_tiles(sr_context *ctx, sr__series_ridge *model) {
  sr_status status = SR_OK;
  model->tiles = model->transform->tiles(model->made, NULL);
  SR_NEW(ctx, model->tile_begin, model->tiles + 1);
  model->transform->tiles(model->made, model->tile_begin);
cleanup:
  return status;
}

/* ---- features of blocks --------------------------------------------------------------------- */

typedef struct block_source {
  const sr__series_ridge *model;
  const sr__series_blocks *blocks;
} block_source;

static sr_status make_features(sr_context *ctx, const void *data, int64_t tile,
                               sr__made_rows rows) {
  const block_source *source = data;
  sr__made_blocks blocks = {.blocks = source->blocks,
                            .first = rows.first / SR__SERIES_LANES,
                            .count = (rows.count + SR__SERIES_LANES - 1) / SR__SERIES_LANES,
                            .out = rows.out,
                            .stride = rows.stride};
  return source->model->transform->make(ctx, source->model->made, tile, blocks);
}

static sr__feature_maker maker_of(const block_source *source) {
  const sr__series_ridge *model = source->model;
  return (sr__feature_maker){.rows = source->blocks->rows,
                             .features = model->tile_begin[model->tiles],
                             .tiles = model->tiles,
                             .tile_begin = model->tile_begin,
                             .make = make_features,
                             .data = source};
}

/* ---- fitting ------------------------------------------------------------------------------- */

/* Cases in the order of the blocks. */
typedef struct placed_cases {
  int32_t *label;
  double *weight;
  int32_t *place_of; /* of each entry */
  int32_t *row;      /* of the sets that are left out, as places */
  sr__left_out left_out;
  float *proba;
} placed_cases;

static sr_status place_cases(sr_context *ctx, const sr__series_cases *cases, const int32_t *order,
                             bool proba, placed_cases *placed) {
  sr_status status = SR_OK;
  const sr__left_out *out = cases->left_out;
  SR_NEW(ctx, placed->label, cases->count);
  SR_NEW(ctx, placed->place_of, cases->count);
  if (cases->weight) SR_NEW(ctx, placed->weight, cases->count);
  if (proba) SR_NEW(ctx, placed->proba, cases->count * cases->classes);
  for (int64_t i = 0; i < cases->count; i++) {
    placed->place_of[order[i]] = (int32_t)i;
    placed->label[i] = cases->label[order[i]];
    if (cases->weight) placed->weight[i] = cases->weight[order[i]];
  }
  if (out) {
    SR_NEW(ctx, placed->row, out->begin[out->sets]);
    for (int64_t i = 0; i < out->begin[out->sets]; i++)
      placed->row[i] = placed->place_of[out->row[i]];
    placed->left_out = *out;
    placed->left_out.row = placed->row;
  }
cleanup:
  return status;
}

static void free_placed(sr_context *ctx, placed_cases *placed) {
  sr__free(ctx, placed->label);
  sr__free(ctx, placed->weight);
  sr__free(ctx, placed->place_of);
  sr__free(ctx, placed->row);
  sr__free(ctx, placed->proba);
}

sr_status sr__series_ridge_fit(sr_context *ctx, const sr__series_recipe *recipe,
                               const sr__series_cases *cases, sr__random *random,
                               sr__classes_report *report, sr__series_ridge **model) {
  sr_status status = SR_OK;
  sr__series_ridge *made = NULL;
  sr__series_blocks *blocks = NULL;
  placed_cases placed = {0};
  *model = NULL;
  SR_TRY(new_model(ctx, recipe->transform, &made));
  SR_TRY(recipe->transform->fit(ctx, recipe, cases, random, &made->made));
  SR_TRY(list_tiles(ctx, made));
  SR_TRY(sr__series_blocks_new(ctx, cases->rows, cases->row, cases->count, &blocks));
  SR_TRY(place_cases(ctx, cases, blocks->order, cases->judged != NULL, &placed));
  block_source source = {made, blocks};
  sr__feature_maker maker = maker_of(&source);
  sr__classes_problem problem = {.maker = &maker,
                                 .label = placed.label,
                                 .weight = placed.weight,
                                 .classes = cases->classes,
                                 .left_out = cases->left_out ? &placed.left_out : NULL,
                                 .options = recipe->ridge};
  SR_TRY(sr__linear_classes_fit(ctx, &problem, placed.proba, report, &made->classes));
  for (int64_t i = 0; cases->judged && i < cases->count; i++)
    memcpy(cases->judged + blocks->order[i] * (int64_t)cases->classes,
           placed.proba + i * cases->classes, (size_t)cases->classes * sizeof *cases->judged);
  *model = made;
  made = NULL;
cleanup:
  free_placed(ctx, &placed);
  sr__series_blocks_free(blocks);
  sr__series_ridge_free(made);
  return status;
}

/* ---- predicting ---------------------------------------------------------------------------- */

static sr_status predict_each(sr_context *ctx, const sr__series_ridge *model,
                              const sr__series_rows *rows, sr__picked picked, sr__answers answers) {
  sr_status status = SR_OK;
  const sr__linear_model *linear = model->classes->model;
  float *x = NULL;
  double *score = NULL;
  if (linear) {
    SR_NEW(ctx, x, linear->features);
    SR_NEW(ctx, score, linear->targets);
  }
  for (int64_t i = 0; i < picked.count; i++) {
    if (linear) {
      SR_TRY(model->transform->make_one(ctx, model->made, rows, sr__picked_row(picked, i), x));
      sr__linear_score(linear, x, score);
    }
    int32_t chosen =
        sr__linear_classes_vote(model->classes, score, 1,
                                answers.share ? answers.share + i * model->classes->classes : NULL);
    if (answers.vote) answers.vote[i] = chosen;
  }
cleanup:
  sr__free(ctx, x);
  sr__free(ctx, score);
  return status;
}

static sr_status predict_blocks(sr_context *ctx, const sr__series_ridge *model,
                                const sr__series_rows *rows, sr__picked picked,
                                sr__answers answers) {
  sr_status status = SR_OK;
  sr__series_blocks *blocks = NULL;
  SR_TRY(sr__series_blocks_new(ctx, rows, picked.index, picked.count, &blocks));
  block_source source = {model, blocks};
  sr__feature_maker maker = maker_of(&source);
  SR_TRY(sr__linear_classes_predict(ctx, model->classes, &maker, blocks->order, answers.vote,
                                    answers.share));
cleanup:
  sr__series_blocks_free(blocks);
  return status;
}

sr_status sr__series_ridge_predict(sr_context *ctx, const sr__series_ridge *model,
                                   const sr__series_rows *rows, sr__picked picked,
                                   sr__answers answers) {
  if (picked.count < SR__SERIES_LANES) return predict_each(ctx, model, rows, picked, answers);
  return predict_blocks(ctx, model, rows, picked, answers);
}

/* ---- storing ------------------------------------------------------------------------------- */

void sr__series_ridge_save(const sr__series_ridge *model, sr__bytes *bytes) {
  model->transform->save(model->made, bytes);
  sr__linear_classes_save(model->classes, bytes);
}

sr_status sr__series_ridge_load(sr__byte_reader *reader, const sr__series_transform *transform,
                                int32_t channels, int32_t classes, sr__series_ridge **model) {
  sr_status status = SR_OK;
  sr__series_ridge *made = NULL;
  *model = NULL;
  SR_TRY(new_model(reader->ctx, transform, &made));
  SR_TRY(transform->load(reader, &made->made));
  SR_TRY(list_tiles(reader->ctx, made));
  SR_TRY(sr__linear_classes_load(reader, classes, &made->classes));
  if (transform->channels(made->made) != channels ||
      (made->classes->model && made->classes->model->features != made->tile_begin[made->tiles]))
    sr__get_refuse(reader, "the kernels do not fit the series or the coefficients");
  SR_TRY(reader->status);
  *model = made;
  made = NULL;
cleanup:
  sr__series_ridge_free(made);
  return status;
}
