/* Windows of a recording: what they hold, and that no honest error is judged by windows that share
 * values with it. */
#include <math.h>

#include "harness.h"

enum { ROWS = 50, FEATURES = 3 };

/* Two interleaved recordings; feature j of row i is 100 j + i. */
static sr_table *recording(sr_context *ctx, bool grouped) {
  static const char *const names[] = {"a", "b", "c"}, *const classes[] = {"no", "yes"},
                           *const groups[] = {"left", "right"};
  float x[ROWS * FEATURES];
  int32_t label[ROWS], group[ROWS];
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < FEATURES; j++) x[j * ROWS + i] = (float)(100 * j + i);
    label[i] = i % 3 == 0;
    group[i] = i % 2;
  }
  sr_table_view view = {.rows = ROWS,
                        .features = FEATURES,
                        .x = x,
                        .feature_names = names,
                        .label = label,
                        .classes = {2, classes},
                        .target_name = "y",
                        .group = grouped ? group : NULL,
                        .groups = {grouped ? 2 : 0, groups}};
  sr_table *table = NULL;
  assert_ok(ctx, sr_table_new(ctx, &view, &table));
  return table;
}

static void windows_hold_their_rows(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  const int64_t lengths[] = {1, 4, 7, 25}, strides[] = {1, 3, 4, 40};
  for (int grouped = 0; grouped < 2; grouped++)
    for (int k = 0; k < 16; k++) {
      int64_t length = lengths[k / 4], stride = strides[k % 4], window = 0;
      sr_table *table = recording(ctx, grouped), *made = NULL;
      assert_ok(ctx, sr_table_windows(ctx, table, length, stride, &made));
      const sr_table_view *v = sr_table_get(made);
      assert_int_equal(v->channels, FEATURES);
      assert_string_equal(v->channel_names[2], "c");
      assert_string_equal(v->target_name, "y");
      assert_int_equal(v->features, 0);
      assert_int_equal(v->overlap, (length - 1) / stride);
      int64_t step = grouped ? 2 : 1, own = ROWS / step;
      for (int64_t g = 0; g < step; g++)
        for (int64_t first = 0; first + length <= own; first += stride, window++) {
          int64_t last = g + (first + length - 1) * step;
          assert_true(v->time[window] == (double)last);
          assert_int_equal(v->label[window], last % 3 == 0);
          if (grouped) assert_int_equal(v->group[window], g);
          for (int64_t c = 0; c < FEATURES; c++) {
            const int64_t *offset = v->series_offset + window * FEATURES + c;
            assert_int_equal(offset[1] - offset[0], length);
            for (int64_t t = 0; t < length; t++)
              assert_true(v->series[offset[0] + t] == (float)(100 * c + g + (first + t) * step));
          }
        }
      assert_int_equal(window, v->rows);
      sr_table_free(&made);
      sr_table_free(&table);
    }
  sr_context_free(&ctx);
}

static void impossible_windows_are_refused(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *table = recording(ctx, false), *made = NULL, *again = NULL;
  assert_int_equal(sr_table_windows(ctx, table, 0, 1, &made), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_table_windows(ctx, table, 1, 0, &made), SR_ERROR_ARGUMENT);
  assert_int_equal(sr_table_windows(ctx, table, ROWS + 1, 1, &made), SR_ERROR_DATA);
  assert_ok(ctx, sr_table_windows(ctx, table, 4, 2, &made));
  assert_int_equal(sr_table_windows(ctx, made, 4, 2, &again), SR_ERROR_UNSUPPORTED);
  sr_table_free(&made);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

/* ---- folds ------------------------------------------------------------------------------------
 */

static void no_fold_trains_on_what_a_held_out_window_shares(void **state) {
  (void)state;
  sr_context *ctx = test_context(1);
  sr_table *rows = test_simulate(ctx, 2, "ar1:n=%d,d=2,tmix=1", 1200);
  const int64_t strides[] = {1, 2, 5, 16};
  for (int k = 0; k < 4; k++) {
    sr_table *windows = NULL;
    sr_structure *structure = NULL;
    sr_folds *folds = NULL;
    assert_ok(ctx, sr_table_windows(ctx, rows, 16, strides[k], &windows));
    assert_ok(ctx, sr_structure_estimate(ctx, windows, NULL, 1, &structure));
    int64_t overlap = 15 / strides[k];
    assert_int_equal(sr_structure_get(structure)->overlap, overlap);
    assert_true(sr_structure_get(structure)->tmix >= (double)overlap + 1.0);
    assert_ok(ctx, sr_folds_new(ctx, structure, NULL, 1, &folds));
    const sr_folds_view *f = sr_folds_get(folds);
    assert_true(f->buffer >= overlap);
    for (int32_t fold = 0; fold < f->folds; fold++)
      for (int64_t i = 0; i < f->rows; i++)
        for (int64_t j = i - overlap < 0 ? 0 : i - overlap; j <= i + overlap && j < f->rows; j++)
          assert_false(f->role[fold * f->rows + i] == SR_ROLE_TEST &&
                       f->role[fold * f->rows + j] == SR_ROLE_TRAIN);
    sr_folds_free(&folds);
    sr_structure_free(&structure);
    sr_table_free(&windows);
  }
  sr_table_free(&rows);
  sr_context_free(&ctx);
}

/* ---- EEG --------------------------------------------------------------------------------------
 */

/* 117 s of EEG, windows of 64 samples every 16: windows that share values make the error look like
 * nothing, whole stretches with a margin say that there is little skill. */
static void eeg_windows_look_learned_and_are_not(void **state) {
  (void)state;
  sr_context *ctx = test_context(2);
  sr_table *table = NULL;
  sr_ensemble *ensemble = NULL;
  sr_read_options read;
  sr_train_options o;
  sr_read_options_init(&read);
  read.target = "class";
  read.window = 64;
  read.stride = 16;
  assert_ok(ctx, sr_table_read(ctx, SR_SOURCE_DIR "/data/eeg_eye_state.csv.gz", &read, &table));
  assert_int_equal(sr_table_get(table)->rows, (14980 - 64) / 16 + 1);
  assert_int_equal(sr_table_get(table)->channels, 14);
  assert_int_equal(sr_table_get(table)->overlap, 3);
  sr_train_options_init(&o);
  o.learner = "minirocket:features=420,judged_by=rows";
  o.plan = "uniform";
  o.members = 2;
  assert_ok(ctx, sr_train(ctx, table, &o, 1, &ensemble));
  const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
  assert_true(e->naive < 0.35);
  assert_true(e->honest > 0.3 && e->honest > e->naive + 0.1);
  assert_true(e->buffer >= 3);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  sr_context_free(&ctx);
}

static void the_command_cuts_windows(void **state) {
  (void)state;
  char *out = NULL, *err = NULL, line[1024];
  const char *const columns = "--target class --window 128 --stride 128";
  snprintf(line, sizeof line,
           "train %s/data/eeg_eye_state.csv.gz %s --learner minirocket:features=84 --plan uniform "
           "-m 1 -o windows_test.model --json",
           SR_SOURCE_DIR, columns);
  assert_int_equal(test_command(line, &out, &err), 0);
  free(out);
  free(err);
  snprintf(line, sizeof line,
           "predict windows_test.model %s/data/eeg_eye_state.csv.gz %s -o windows_test.csv --json",
           SR_SOURCE_DIR, columns);
  assert_int_equal(test_command(line, &out, &err), 0);
  assert_non_null(strstr(out, "\"error\""));
  free(out);
  free(err);
  snprintf(line, sizeof line,
           "predict windows_test.model %s/data/eeg_eye_state.csv.gz -o windows_test.csv",
           SR_SOURCE_DIR);
  assert_int_not_equal(test_command(line, &out, &err), 0);
  assert_non_null(strstr(err, "windows"));
  free(out);
  free(err);
  remove("windows_test.model");
  remove("windows_test.csv");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_hold_their_rows),
      cmocka_unit_test(impossible_windows_are_refused),
      cmocka_unit_test(no_fold_trains_on_what_a_held_out_window_shares),
      cmocka_unit_test(eeg_windows_look_learned_and_are_not),
      cmocka_unit_test(the_command_cuts_windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
