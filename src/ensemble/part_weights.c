/* Votes weighted by parts: a member counts as much as its parts are near the row. Nearness is
 * measured between the row and the parts' mean features, each feature in units of its standard
 * deviation. */
#include <math.h>

#include "core/maths.h"
#include "data/column_moments.h"
#include "ensemble.h"

static void standardize(const sr_table_view *view, sr__part_weights *weights) {
  for (int64_t j = 0; j < weights->features; j++) {
    sr__moments m = sr__column_moments(view->x + j * view->rows, view->rows);
    weights->mean[j] = (float)m.mean;
    weights->scale[j] = m.deviation > 0.0 ? (float)(1.0 / m.deviation) : 0.0f;
  }
}

/* A missing or infinite value stands at the mean. */
static float standard_value(const sr__part_weights *weights, const sr_table_view *view,
                            int64_t feature, int64_t row) {
  float value =
      (view->x[feature * view->rows + row] - weights->mean[feature]) * weights->scale[feature];
  return isfinite(value) ? value : 0.0f;
}

static void find_centers(const sr_table_view *view, const sr_parts_view *parts,
                         sr__part_weights *weights) {
  for (int64_t i = 0; i < view->rows; i++) {
    float *center = weights->center + parts->part[i] * weights->features;
    for (int64_t j = 0; j < weights->features; j++)
      center[j] += standard_value(weights, view, j, i) / (float)parts->size[parts->part[i]];
  }
}

static double squared_distance(const float *a, const float *b, int64_t count) {
  double sum = 0.0;
  for (int64_t j = 0; j < count; j++) sum += (double)(a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/* The mean squared distance between parts that follow each other: near enough to tell parts apart,
 * wide enough that several have a say. */
static double find_width(const sr__part_weights *weights) {
  double sum = 0.0;
  for (int32_t p = 1; p < weights->parts; p++)
    sum += squared_distance(weights->center + (p - 1) * weights->features,
                            weights->center + p * weights->features, weights->features);
  double width = weights->parts > 1 ? sum / (weights->parts - 1) : 0.0;
  return width > 1e-12 ? width : 1.0;
}

sr_status sr__part_weights_new(sr_context *ctx, const sr_table_view *view,
                               const sr_parts_view *parts, const sr__members *members,
                               sr__part_weights *weights) {
  sr_status status = SR_OK;
  *weights = (sr__part_weights){.parts = parts->parts, .features = view->features};
  SR_NEW_ZERO(ctx, weights->center, weights->parts * weights->features);
  SR_NEW(ctx, weights->mean, weights->features);
  SR_NEW(ctx, weights->scale, weights->features);
  SR_TRY(sr__seen_parts(ctx, members, parts, &weights->seen));
  standardize(view, weights);
  find_centers(view, parts, weights);
  weights->width = find_width(weights);
cleanup:
  if (status != SR_OK) {
    sr_allocator allocator = sr__allocator(ctx);
    sr__part_weights_free(&allocator, weights);
  }
  return status;
}

void sr__part_weights_free(const sr_allocator *allocator, sr__part_weights *weights) {
  sr__release(allocator, weights->center);
  sr__release(allocator, weights->mean);
  sr__release(allocator, weights->scale);
  sr__release(allocator, weights->seen);
  *weights = (sr__part_weights){0};
}

/* exp(-d^2 / width), taken relative to the nearest part so that far rows still have a nearest. */
void sr__part_nearness(const sr__part_weights *weights, const sr_table_view *view, int64_t first,
                       int64_t count, const int32_t *rows, float *nearness) {
  for (int64_t i = 0; i < count; i++) {
    int64_t row = rows ? rows[i] : first + i;
    float *to = nearness + i * weights->parts;
    double nearest = INFINITY, total = 0.0;
    for (int32_t p = 0; p < weights->parts; p++) {
      const float *center = weights->center + p * weights->features;
      double sum = 0.0;
      for (int64_t j = 0; j < weights->features; j++) {
        double step = standard_value(weights, view, j, row) - center[j];
        sum += step * step;
      }
      to[p] = (float)sum;
      if (to[p] < nearest) nearest = to[p];
    }
    for (int32_t p = 0; p < weights->parts; p++) {
      to[p] = (float)sr__exp_portable((nearest - to[p]) / weights->width);
      total += to[p];
    }
    for (int32_t p = 0; p < weights->parts; p++) to[p] = (float)(to[p] / total);
  }
}

/* A small constant keeps members in the vote whose parts are all far away. */
float sr__part_weight(const sr__part_weights *weights, int32_t member, const float *nearness) {
  const uint8_t *seen = weights->seen + (int64_t)member * weights->parts;
  float weight = 1e-3f;
  for (int32_t p = 0; p < weights->parts; p++) weight += seen[p] ? nearness[p] : 0.0f;
  return weight;
}
