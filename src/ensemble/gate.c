/* Gated votes: a member counts as much as its parts are near the row. Nearness is measured between
 * the row and the parts' mean features, each feature in units of its standard deviation. */
#include <math.h>

#include "ensemble.h"

static void standardise(const sr_table_view *view, sr__gate *gate) {
  for (int64_t j = 0; j < gate->features; j++) {
    const float *x = view->x + j * view->rows;
    double sum = 0.0, square = 0.0;
    int64_t count = 0;
    for (int64_t i = 0; i < view->rows; i++) {
      if (isnan(x[i])) continue;
      sum += x[i];
      count++;
    }
    double mean = count ? sum / (double)count : 0.0;
    for (int64_t i = 0; i < view->rows; i++) {
      if (!isnan(x[i])) square += (x[i] - mean) * (x[i] - mean);
    }
    double sd = count ? sqrt(square / (double)count) : 0.0;
    gate->mean[j] = (float)mean;
    gate->scale[j] = sd > 0.0 && isfinite(sd) ? (float)(1.0 / sd) : 0.0f;
  }
}

/* A missing or infinite value stands at the mean. */
static float standard_value(const sr__gate *gate, const sr_table_view *view, int64_t feature,
                            int64_t row) {
  float value = (view->x[feature * view->rows + row] - gate->mean[feature]) * gate->scale[feature];
  return isfinite(value) ? value : 0.0f;
}

static void find_centers(const sr_table_view *view, const sr_parts_view *parts, sr__gate *gate) {
  for (int64_t i = 0; i < view->rows; i++) {
    float *center = gate->center + parts->part[i] * gate->features;
    for (int64_t j = 0; j < gate->features; j++)
      center[j] += standard_value(gate, view, j, i) / (float)parts->size[parts->part[i]];
  }
}

static double squared_distance(const float *a, const float *b, int64_t count) {
  double sum = 0.0;
  for (int64_t j = 0; j < count; j++) sum += (double)(a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/* The mean squared distance between parts that follow each other: near enough to tell parts apart,
 * wide enough that several have a say. */
static double find_width(const sr__gate *gate) {
  double sum = 0.0;
  for (int32_t p = 1; p < gate->parts; p++)
    sum += squared_distance(gate->center + (p - 1) * gate->features,
                            gate->center + p * gate->features, gate->features);
  double width = gate->parts > 1 ? sum / (gate->parts - 1) : 0.0;
  return width > 1e-12 ? width : 1.0;
}

sr_status sr__gate_make(sr_context *ctx, const sr_table_view *view, const sr_parts_view *parts,
                        const sr__crew *crew, sr__gate *gate) {
  sr_status status = SR_OK;
  *gate = (sr__gate){.parts = parts->parts, .features = view->features};
  SR_NEW_ZERO(ctx, gate->center, gate->parts * gate->features);
  SR_NEW(ctx, gate->mean, gate->features);
  SR_NEW(ctx, gate->scale, gate->features);
  SR_NEW_ZERO(ctx, gate->seen, (int64_t)crew->members * gate->parts);
  standardise(view, gate);
  find_centers(view, parts, gate);
  gate->width = find_width(gate);
  for (int32_t j = 0; j < crew->members; j++) {
    for (int64_t i = 0; i < view->rows; i++) {
      if (sr__has_drawn(crew, j, i)) gate->seen[(int64_t)j * gate->parts + parts->part[i]] = 1;
    }
  }
cleanup:
  if (status != SR_OK) {
    sr_allocator allocator = sr__allocator(ctx);
    sr__gate_free(&allocator, gate);
  }
  return status;
}

void sr__gate_free(const sr_allocator *allocator, sr__gate *gate) {
  sr__release(allocator, gate->center);
  sr__release(allocator, gate->mean);
  sr__release(allocator, gate->scale);
  sr__release(allocator, gate->seen);
  *gate = (sr__gate){0};
}

/* exp(-d^2 / width), taken relative to the nearest part so that far rows still have a nearest. */
void sr__gate_pull(const sr__gate *gate, const sr_table_view *view, int64_t first, int64_t count,
                   const int32_t *rows, float *pull) {
  for (int64_t i = 0; i < count; i++) {
    int64_t row = rows ? rows[i] : first + i;
    float *to = pull + i * gate->parts;
    double nearest = INFINITY, total = 0.0;
    for (int32_t p = 0; p < gate->parts; p++) {
      const float *center = gate->center + p * gate->features;
      double sum = 0.0;
      for (int64_t j = 0; j < gate->features; j++) {
        double step = standard_value(gate, view, j, row) - center[j];
        sum += step * step;
      }
      to[p] = (float)sum;
      if (to[p] < nearest) nearest = to[p];
    }
    for (int32_t p = 0; p < gate->parts; p++) {
      to[p] = (float)exp((nearest - to[p]) / gate->width);
      total += to[p];
    }
    for (int32_t p = 0; p < gate->parts; p++) to[p] = (float)(to[p] / total);
  }
}

/* A small constant keeps members in the vote whose parts are all far away. */
float sr__gate_weight(const sr__gate *gate, int32_t member, const float *pull) {
  const uint8_t *seen = gate->seen + (int64_t)member * gate->parts;
  float weight = 1e-3f;
  for (int32_t p = 0; p < gate->parts; p++) weight += seen[p] ? pull[p] : 0.0f;
  return weight;
}
