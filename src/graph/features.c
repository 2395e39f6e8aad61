/* Features made comparable: standardized numbers, scaled indicators of categories. */
#include "features.h"

#include <math.h>

#include "data/column_moments.h"

/* Categories beyond this would make a feature mostly zeros. */
enum { MOST_CATEGORIES = 64 };

typedef struct column_plan {
  int64_t feature;
  int32_t category; /* -1: the number itself */
  double center, scale;
} column_plan;

typedef struct standardize_work {
  const sr_table_view *table;
  const column_plan *plan;
  sr__features *features;
} standardize_work;

static int32_t categories_of(const sr_table_view *table, int64_t feature) {
  return table->categories ? table->categories[feature].count : 0;
}

static void plan_number(const sr_table_view *table, int64_t feature, column_plan *plan,
                        int64_t *columns, int64_t *missing) {
  sr__moments m = sr__column_moments(table->x + feature * table->rows, table->rows);
  *missing += table->rows - m.finite;
  if (m.deviation > 0.0) plan[(*columns)++] = (column_plan){feature, -1, m.mean, 1.0 / m.deviation};
}

/* One indicator a category, scaled so that two random rows are as far apart as in a standardized
 * number: expected squared distance 2. A missing category is the zero vector. */
static void plan_categories(const sr_table_view *table, int64_t feature, column_plan *plan,
                            int64_t *columns, int64_t *missing) {
  int64_t count[MOST_CATEGORIES] = {0}, known = 0;
  int32_t categories = categories_of(table, feature);
  const float *x = table->x + feature * table->rows;
  for (int64_t i = 0; i < table->rows; i++) {
    if (!(x[i] >= 0 && x[i] < (float)categories)) continue;
    count[(int32_t)x[i]]++;
    known++;
  }
  *missing += table->rows - known;
  double same = 0.0;
  for (int32_t c = 0; c < categories && known; c++)
    same += ((double)count[c] / (double)known) * ((double)count[c] / (double)known);
  if (!(same < 1.0) || known == 0) return;
  for (int32_t c = 0; c < categories; c++) {
    if (count[c] > 0) plan[(*columns)++] = (column_plan){feature, c, 0.0, 1.0 / sqrt(1.0 - same)};
  }
}

static float planned_value(const column_plan *plan, float x) {
  if (plan->category < 0) return isfinite(x) ? (float)((x - plan->center) * plan->scale) : 0.0f;
  return x == (float)plan->category ? (float)plan->scale : 0.0f;
}

static sr_status fill_chunk(sr_context *worker, void *data, int64_t chunk, int slot) {
  (void)worker, (void)slot;
  standardize_work *work = data;
  int64_t columns = work->features->columns, rows = work->features->rows;
  sr__span span = sr__graph_chunk(rows, chunk);
  for (int64_t c = 0; c < columns; c++) {
    const column_plan *plan = &work->plan[c];
    const float *x = work->table->x + plan->feature * rows;
    for (int64_t i = span.begin; i < span.end; i++)
      work->features->x[i * columns + c] = planned_value(plan, x[i]);
  }
  return SR_OK;
}

static void report(sr_context *ctx, const sr_table_view *table, int64_t columns, int64_t missing,
                   int64_t too_many) {
  if (missing > 0)
    sr__log(ctx, SR_LOG_INFO, "%lld missing values count as the mean of their feature in distances",
            (long long)missing);
  if (too_many > 0)
    sr__log(ctx, SR_LOG_WARNING,
            "%lld features with more than %d categories are left out of distances",
            (long long)too_many, MOST_CATEGORIES);
  sr__log(ctx, SR_LOG_DEBUG, "distances use %lld columns made from %lld features",
          (long long)columns, (long long)table->features);
}

sr_status sr__features_standardize(sr_context *ctx, const sr_table_view *table,
                                   sr__features *features) {
  sr_status status = SR_OK;
  column_plan *plan = NULL;
  int64_t columns = 0, missing = 0, too_many = 0, most = 0;
  *features = (sr__features){.rows = table->rows};
  for (int64_t j = 0; j < table->features; j++) {
    int32_t categories = categories_of(table, j);
    most += categories > 1 && categories <= MOST_CATEGORIES ? categories : 1;
  }
  SR_NEW(ctx, plan, most);
  for (int64_t j = 0; j < table->features; j++) {
    int32_t categories = categories_of(table, j);
    if (categories > MOST_CATEGORIES)
      too_many++;
    else if (categories > 0)
      plan_categories(table, j, plan, &columns, &missing);
    else
      plan_number(table, j, plan, &columns, &missing);
  }
  report(ctx, table, columns, missing, too_many);
  if (columns == 0 && table->rows > 0)
    SR_TRY(sr__fail(ctx, SR_ERROR_DATA,
                    "none of %lld features varies, so rows have no distances; use graph time",
                    (long long)table->features));
  features->columns = columns;
  SR_NEW(ctx, features->x, table->rows * columns);
  standardize_work work = {table, plan, features};
  SR_TRY(sr__parallel_for(ctx, sr__graph_chunks(table->rows), fill_chunk, &work));
cleanup:
  sr__free(ctx, plan);
  if (status != SR_OK) sr__features_free(ctx, features);
  return status;
}

void sr__features_free(sr_context *ctx, sr__features *features) {
  sr__free(ctx, features->x);
  *features = (sr__features){0};
}
