/* Tables of maps, made up and real, for the tests of what is told of places. */
#ifndef SR_TESTS_MAP_KIT_H
#define SR_TESTS_MAP_KIT_H

#include "harness.h"

/* What the view says at its two columns of coordinates; labels are of the classes a and b. */
static inline sr_table *kit_map(sr_context *ctx, sr_table_view view) {
  static const char *const two[] = {"a", "b"};
  sr_table *table = NULL;
  view.coordinate_count = 2;
  if (view.label) view.classes = (sr_dictionary){2, two};
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  return table;
}

/* A file of shared/data/satellite; NULL where it is absent. `drop` may be NULL. */
static inline sr_table *kit_real_map(sr_context *ctx, const char *file, const char *target,
                                     const char *east, const char *north, const char *const *drop) {
  const char *const coordinates[] = {east, north, NULL};
  char relative[200];
  sr_read_options options;
  sr_table *table = NULL;
  snprintf(relative, sizeof relative, "satellite/%s", file);
  const char *path = test_shared_data(relative);
  if (!path) return NULL;
  sr_read_options_init(&options);
  options.target = target;
  options.coordinates = coordinates;
  options.drop = drop;
  assert_ok(ctx, sr_table_read(ctx, path, &options, &table));
  return table;
}

#endif
