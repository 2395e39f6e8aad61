/* Maps larger than memory: a raster is read, predicted and written tile by tile. */
#include "data/raster_tiles.h"
#include "ensemble.h"

enum { TILE_BYTES = 1 << 28 };

typedef struct raster_job {
  const sr_ensemble *ensemble;
  const sr__tile_operations *how;
  const sr_predict_options *options;
  sr__raster_shape shape;
  int64_t tile_cells, seen; /* cells of tiles that are done */
  sr__raster_reader *reader;
  sr__raster_writer *writer;
  sr_raster_summary said;
  bool warned;
} raster_job;

int sr_reads_in_tiles(const char *input, const sr_read_options *options, const char *output) {
  return sr__tiles_of(input, options, output) != NULL;
}

/* So many that the tile's features, places and votes are about TILE_BYTES. */
static int64_t default_cells(const raster_job *job) {
  int64_t classes = job->ensemble->view.classes.count;
  const sr_predict_options *o = job->options;
  bool asked = o->proba || o->uncertainty || o->outside;
  int64_t bytes = 8 * job->shape.features + 48 + (asked ? 8 * classes + 8 : 0);
  return TILE_BYTES / bytes;
}

/* Counts the cells whose vote is another class than the raster says. */
static sr_status judge_tile(sr_context *ctx, raster_job *job, const sr_table_view *tile,
                            const int32_t *vote) {
  sr_status status = SR_OK;
  int32_t *code = NULL;
  if (!tile->label) return SR_OK;
  SR_TRY(sr__classes_match(ctx, job->ensemble->view.classes, tile->classes, &code));
  for (int32_t c = 0; c < tile->classes.count && !job->warned; c++) {
    if (code[c] >= 0) continue;
    sr__log(ctx, SR_LOG_WARNING,
            "the model was never shown the class '%s'; this is said once, others may follow",
            tile->classes.names[c]);
    job->warned = true;
  }
  for (int64_t i = 0; i < tile->rows; i++) {
    if (tile->label[i] < 0) continue;
    job->said.judged++;
    job->said.wrong += code[tile->label[i]] != vote[i];
  }
cleanup:
  sr__free(ctx, code);
  return status;
}

static sr_status predict_tile(sr_context *ctx, raster_job *job, const sr__tile *tile) {
  sr_status status = SR_OK;
  sr_table *cells = NULL, *predictions = NULL;
  SR_TRY(job->how->read(ctx, job->reader, tile, &cells));
  if (cells) {
    SR_TRY(sr__predict_rows(ctx, job->ensemble, cells, job->options,
                            (sr__rows_done){job->seen, job->shape.rows * job->shape.columns,
                                            job->said.rows > 0},
                            &predictions));
    const sr_table_view *said = sr_table_get(predictions);
    SR_TRY(judge_tile(ctx, job, sr_table_get(cells), said->label));
    job->said.rows += said->rows;
    sr_table_free(&cells);
  }
  SR_TRY(job->how->put(ctx, job->writer, tile, predictions ? sr_table_get(predictions) : NULL));
  job->seen += tile->rows * tile->columns;
  job->said.tiles++;
cleanup:
  sr_table_free(&predictions);
  sr_table_free(&cells);
  return status;
}

/* A table of predictions without rows says what the file will hold. */
static sr_status create_output(sr_context *ctx, raster_job *job, const char *output) {
  sr_status status = SR_OK;
  sr_table *none = NULL, *columns = NULL;
  sr_table_view empty = *sr_table_get(job->ensemble->schema);
  empty.rows = 0;
  SR_TRY(sr_table_wrap(ctx, &empty, &none));
  SR_TRY(sr__predict_rows(ctx, job->ensemble, none, job->options, (sr__rows_done){0}, &columns));
  SR_TRY(job->how->create(ctx, output, &job->shape, sr_table_get(columns), &job->writer));
cleanup:
  sr_table_free(&columns);
  sr_table_free(&none);
  return status;
}

sr_status sr_ensemble_predict_raster(sr_context *ctx, const sr_ensemble *ensemble,
                                     const char *input, const sr_read_options *read,
                                     const sr_predict_options *options, const char *output,
                                     sr_raster_summary *summary) {
  sr_status status = SR_OK;
  sr_read_options as_named;
  sr_predict_options defaults;
  sr__tile tile = {0};
  sr_read_options_init(&as_named);
  sr_predict_options_init(&defaults);
  if (!read) read = &as_named;
  raster_job job = {.ensemble = ensemble, .options = options ? options : &defaults};
  SR_TRY(sr__predict_options_check(ctx, job.options));
  if (job.options->along > 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_ARGUMENT, "along is of series, and a raster has none"));
  job.how = sr__tiles_of(input, read, output);
  if (!job.how)
    SR_TRY(sr__fail(ctx, SR_ERROR_UNSUPPORTED,
                    "'%s' and '%s' are not both rasters that are read and written in tiles; "
                    "GeoTIFF files are",
                    input, output));
  SR_TRY(job.how->open(ctx, input, read, &job.reader, &job.shape));
  if (job.shape.median)
    sr__log(ctx, SR_LOG_WARNING,
            "%s: '%s' is compared with its median, which no tile knows: the error is not told",
            input, job.shape.median);
  job.tile_cells = job.options->tile > 0 ? job.options->tile : default_cells(&job);
  SR_TRY(create_output(ctx, &job, output));
  while (sr__next_tile(&job.shape, job.tile_cells, &tile)) {
    SR_TRY(sr__check_interrupt(ctx));
    SR_TRY(predict_tile(ctx, &job, &tile));
  }
  if (job.said.rows == 0)
    SR_TRY(sr__fail_at(ctx, SR_ERROR_DATA, input, 0, 0, "every cell is missing in every feature"));
  SR_TRY(job.how->commit(ctx, &job.writer));
  if (summary) *summary = job.said;
cleanup:
  if (job.how) {
    job.how->abort(ctx, &job.writer);
    job.how->close(ctx, &job.reader);
  }
  return status;
}
