/* Fit, vote, naive and honest error against slow references written from the definitions. */
#include <math.h>

#include "harness.h"

enum { N = 600, D = 4, MEMBERS = 20 };

typedef struct fixture {
  sr_context *ctx;
  sr_table *table;
  sr_structure *structure;
} fixture;

static sr_table *witness(sr_context *ctx, int64_t n, double tmix) {
  return test_simulate(ctx, 1, "ar1:n=%lld,d=%d,tmix=%.17g", (long long)n, D, tmix);
}

static int setup(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->ctx = test_context(2);
  f->table = witness(f->ctx, N, 5);
  sr_structure_options options;
  sr_structure_options_init(&options);
  options.tmix = 5;
  assert_ok(f->ctx, sr_structure_estimate(f->ctx, f->table, &options, 1, &f->structure));
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  sr_structure_free(&f->structure);
  sr_table_free(&f->table);
  sr_context_free(&f->ctx);
  free(f);
  return 0;
}

static sr_train_options train_options(const char *plan) {
  sr_train_options options;
  sr_train_options_init(&options);
  options.plan = plan;
  options.members = MEMBERS;
  options.structure.tmix = 5;
  options.evaluate.importance = 0;
  return options;
}

/* Mixes bits so that neighboring numbers give unrelated ones; in [0, 2^24). */
static float scrambled(uint32_t z) {
  z = (z ^ z >> 16) * 0x85ebca6bu;
  z = (z ^ z >> 13) * 0xc2b2ae35u;
  return (float)((z ^ z >> 16) >> 8);
}

/* ---- structure ---------------------------------------------------------------------------- */

static void a_series_is_cut_into_ranges_of_four_scales(void **state) {
  fixture *f = *state;
  const sr_structure_view *view = sr_structure_get(f->structure);
  assert_string_equal(view->graph, "time");
  assert_int_equal(view->unit, SR_UNIT_PART);
  assert_string_equal(view->tmix_method, "given");
  const sr_parts_view *parts = sr_parts_get(view->parts);
  assert_int_equal(parts->parts, 30);
  for (int i = 1; i < N; i++) assert_true(parts->part[i] - parts->part[i - 1] <= 1);
}

static void groups_are_the_parts_where_there_are_any(void **state) {
  fixture *f = *state;
  sr_table_view view = *sr_table_get(f->table);
  int32_t group[N];
  const char *names[] = {"a", "b", "unused", "c"};
  for (int i = 0; i < N; i++) group[i] = i % 7 < 3 ? 3 : i % 7 < 5 ? 1 : 0;
  view.group = group;
  view.groups = (sr_dictionary){4, names};
  sr_table *table = NULL;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &table));
  sr_structure_options options;
  sr_structure_options_init(&options);
  sr_structure *structure = NULL;
  assert_ok(f->ctx, sr_structure_estimate(f->ctx, table, &options, 1, &structure));
  assert_int_equal(sr_structure_get(structure)->unit, SR_UNIT_GROUP);
  const sr_parts_view *parts = sr_parts_get(sr_structure_get(structure)->parts);
  assert_int_equal(parts->parts, 3);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j += 50)
      assert_int_equal(parts->part[i] == parts->part[j], group[i] == group[j]);
  sr_structure_free(&structure);
  sr_table_free(&table);
}

/* The Fiedler value of a window graph is known: see docs/methods/solver-window.md. It knows nothing
 * of the data, so that there is always a part for every member. */
static void the_literal_scale_is_that_of_the_cutting_graph(void **state) {
  fixture *f = *state;
  enum { TAU = 3 };
  sr_structure_options options;
  sr_structure_options_init(&options);
  options.graph = "time:3";
  options.tmix = 5;
  sr_structure *structure = NULL;
  assert_ok(f->ctx, sr_structure_estimate(f->ctx, f->table, &options, 1, &structure));
  double lambda = 0, theta = acos(-1.0) / (N - (TAU + 1) / 2.0);
  for (int k = 1; k <= TAU; k++) lambda += 2 * pow(sin(k * theta / 2), 2) / TAU;
  /* The constant c is chosen so that c / lambda is 7 parts, or just more than 7. */
  for (int more = 0; more < 2; more++) {
    char text[96];
    snprintf(text, sizeof text, "spectral:scale=literal,c=%.17g",
             lambda * 7 * (more ? 1.0001 : 0.9999));
    sr_plan *plan = NULL;
    assert_ok(f->ctx, sr_plan_new(f->ctx, structure, text, MEMBERS, 1, &plan));
    assert_close(sr_plan_get(plan).parameters[0].value, 7 + more, 0);
    sr_plan_free(&plan);
  }
  sr_plan *plan = NULL;
  assert_ok(f->ctx, sr_plan_new(f->ctx, structure, "spectral:scale=literal", MEMBERS, 1, &plan));
  assert_close(sr_plan_get(plan).parameters[0].value, MEMBERS, 0);
  sr_plan_free(&plan);
  sr_structure_free(&structure);
}

static void spectral_cuts_as_many_parts_as_algorithm_1_says(void **state) {
  fixture *f = *state;
  sr_plan *plan = NULL;
  assert_ok(f->ctx, sr_plan_new(f->ctx, f->structure, "spectral", 100, 1, &plan));
  assert_string_equal(sr_plan_get(plan).parameters[0].name, "parts");
  assert_close(sr_plan_get(plan).parameters[0].value, 5.0, 0); /* ceil(1 / (1/5)) */
  sr_plan_free(&plan);
}

/* ---- votes -------------------------------------------------------------------------------- */

static sr_ensemble *fit(fixture *f, const char *plan_name, sr_vote vote, sr_plan **plan) {
  assert_ok(f->ctx, sr_plan_new(f->ctx, f->structure, plan_name, MEMBERS, 1, plan));
  sr_ensemble_options options;
  sr_ensemble_options_init(&options);
  options.vote = vote;
  sr_ensemble *ensemble = NULL;
  assert_ok(f->ctx, sr_ensemble_fit(f->ctx, f->table, *plan, &options, 1, &ensemble));
  return ensemble;
}

static void the_majority_wins(void **state) {
  fixture *f = *state;
  sr_plan *plan = NULL;
  sr_ensemble *ensemble = fit(f, "routed", SR_VOTE_HARD, &plan);
  static int32_t votes[MEMBERS * N], label[N];
  static float proba[2 * N];
  assert_ok(f->ctx, sr_ensemble_votes(f->ctx, ensemble, f->table, votes));
  assert_ok(f->ctx, sr_ensemble_predict(f->ctx, ensemble, f->table, label, proba));
  for (int i = 0; i < N; i++) {
    int ones = 0;
    for (int j = 0; j < MEMBERS; j++) ones += votes[j * N + i];
    assert_int_equal(label[i], 2 * ones > MEMBERS);
    assert_close(proba[2 * i + 1], (double)ones / MEMBERS, 1e-6);
    assert_close(proba[2 * i] + proba[2 * i + 1], 1.0, 1e-6);
  }
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
}

static void soft_votes_are_shares(void **state) {
  fixture *f = *state;
  sr_plan *plan = NULL;
  sr_ensemble *ensemble = fit(f, "uniform", SR_VOTE_SOFT, &plan);
  static int32_t label[N];
  static float proba[2 * N];
  int right = 0;
  assert_ok(f->ctx, sr_ensemble_predict(f->ctx, ensemble, f->table, label, proba));
  for (int i = 0; i < N; i++) {
    assert_close(proba[2 * i] + proba[2 * i + 1], 1.0, 1e-5);
    assert_int_equal(label[i], proba[2 * i + 1] > proba[2 * i]);
    right += label[i] == sr_table_get(f->table)->label[i];
  }
  assert_true(right > N * 9 / 10); /* trees of leaf 1 know their training rows */
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
}

static void columns_are_found_by_name(void **state) {
  fixture *f = *state;
  sr_plan *plan = NULL;
  sr_ensemble *ensemble = fit(f, "uniform", SR_VOTE_HARD, &plan);
  static int32_t expected[N], label[N];
  assert_ok(f->ctx, sr_ensemble_predict(f->ctx, ensemble, f->table, expected, NULL));
  const sr_table_view *old = sr_table_get(f->table);
  static float x[(D + 1) * N];
  const char *names[D + 1] = {"x3", "other", "x1", "x4", "x2"};
  const int from[D + 1] = {2, 0, 0, 3, 1};
  for (int j = 0; j <= D; j++) memcpy(x + j * N, old->x + from[j] * N, N * sizeof *x);
  sr_table_view view = {.rows = N, .features = D + 1, .x = x, .feature_names = names};
  sr_table *table = NULL;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &table));
  assert_ok(f->ctx, sr_ensemble_predict(f->ctx, ensemble, table, label, NULL));
  assert_memory_equal(label, expected, sizeof label);
  sr_table_free(&table);
  names[2] = "y1";
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &table));
  assert_int_equal(sr_ensemble_predict(f->ctx, ensemble, table, label, NULL), SR_ERROR_DATA);
  assert_non_null(strstr(sr_context_error(f->ctx).message, "'x1'"));
  sr_table_free(&table);
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
}

/* A category keeps its meaning when a new file lists the names in another order. */
static void categories_are_found_by_name(void **state) {
  fixture *f = *state;
  static float x[N], z[N];
  static int32_t label[N], got[N];
  const char *class_names[] = {"no", "yes"}, *names[] = {"color"};
  const char *colors[] = {"blue", "green", "red"}, *shuffled[] = {"red", "gray", "blue", "green"};
  const float code[] = {2, 3, 0};
  for (int i = 0; i < N; i++) {
    x[i] = (float)(i * 7 % 3);
    label[i] = x[i] == 1.0f;
    z[i] = code[(int)x[i]];
  }
  sr_dictionary old_categories = {3, colors}, new_categories = {4, shuffled};
  sr_table_view view = {.rows = N,
                        .features = 1,
                        .x = x,
                        .feature_names = names,
                        .categories = &old_categories,
                        .label = label,
                        .classes = {2, class_names}};
  sr_table *train = NULL, *test = NULL;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &train));
  view.x = z;
  view.categories = &new_categories;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &test));
  sr_plan *plan = NULL;
  assert_ok(f->ctx, sr_plan_new(f->ctx, f->structure, "uniform", 5, 1, &plan));
  sr_ensemble *ensemble = NULL;
  assert_ok(f->ctx, sr_ensemble_fit(f->ctx, train, plan, NULL, 1, &ensemble));
  assert_ok(f->ctx, sr_ensemble_predict(f->ctx, ensemble, test, got, NULL));
  assert_memory_equal(got, label, sizeof got);
  sr_ensemble_free(&ensemble);
  sr_plan_free(&plan);
  sr_table_free(&train);
  sr_table_free(&test);
}

/* ---- naive and honest error ----------------------------------------------------------------- */

typedef struct reference {
  double naive, honest, covariance, variance_of_margin, variance_of_member;
} reference;

/* From the definitions: bag by bag, row by row, pair by pair. */
static reference slow_reference(fixture *f, const sr_plan *plan, const sr_ensemble *ensemble,
                                const sr_folds_view *folds) {
  static int32_t votes[MEMBERS * N], counts[N];
  static int64_t rows[N];
  static bool drawn[MEMBERS][N], seen[MEMBERS][N];
  const int32_t *label = sr_table_get(f->table)->label;
  assert_ok(f->ctx, sr_ensemble_votes(f->ctx, ensemble, f->table, votes));
  memset(drawn, 0, sizeof drawn);
  memset(seen, 0, sizeof seen);
  for (int j = 0; j < MEMBERS; j++) {
    int64_t length;
    assert_ok(f->ctx, sr_plan_bag(f->ctx, plan, j, rows, counts, &length));
    for (int64_t i = 0; i < length; i++) {
      drawn[j][rows[i]] = true;
      for (int64_t near = rows[i] - folds->buffer; near <= rows[i] + folds->buffer; near++)
        if (near >= 0 && near < N) seen[j][folds->unit_of_row[near]] = true;
    }
  }
  reference r = {0};
  double naive_rows = 0, honest_rows = 0, pairs = 0, product = 0, rho_sum = 0, rho_square = 0;
  double rho_rows = 0, mean[MEMBERS] = {0}, square[MEMBERS] = {0}, judged[MEMBERS] = {0};
  for (int i = 0; i < N; i++) {
    int naive[2] = {0}, honest[2] = {0};
    double margin[MEMBERS];
    for (int j = 0; j < MEMBERS; j++) {
      margin[j] = 0;
      if (drawn[j][i]) continue;
      naive[votes[j * N + i]]++;
      if (seen[j][folds->unit_of_row[i]]) continue;
      honest[votes[j * N + i]]++;
      margin[j] = votes[j * N + i] == label[i] ? 1 : -1;
      mean[j] += margin[j];
      square[j] += 1;
      judged[j]++;
    }
    if (naive[0] + naive[1]) {
      naive_rows++;
      r.naive += (naive[1] > naive[0]) != label[i];
    }
    int judges = honest[0] + honest[1];
    if (!judges) continue;
    honest_rows++;
    r.honest += (honest[1] > honest[0]) != label[i];
    for (int j = 0; j < MEMBERS; j++)
      for (int k = 0; k < j; k++)
        if (margin[j] != 0 && margin[k] != 0) {
          pairs++;
          product += margin[j] * margin[k];
        }
    if (judges < 2) continue;
    double rho = (double)(honest[label[i]] - honest[1 - label[i]]) / judges;
    rho_sum += rho;
    rho_square += rho * rho;
    rho_rows++;
  }
  double means = 0;
  int mean_pairs = 0;
  for (int j = 0; j < MEMBERS; j++) {
    mean[j] /= judged[j];
    r.variance_of_member += (square[j] / judged[j] - mean[j] * mean[j]) / MEMBERS;
    for (int k = 0; k < j; k++, mean_pairs++) means += mean[j] * mean[k];
  }
  r.naive /= naive_rows;
  r.honest /= honest_rows;
  r.covariance = product / pairs - means / mean_pairs;
  r.variance_of_margin = rho_square / rho_rows - rho_sum / rho_rows * (rho_sum / rho_rows);
  return r;
}

/* Bags of the user's own: members judge the units that lie farther than the buffer from all they
 * drew. */
static void errors_match_their_definitions(void **state) {
  fixture *f = *state;
  const int64_t buffers[] = {0, 1, 7, 30};
  char path[256], text[300];
  sr_plan *plan = NULL;
  assert_ok(f->ctx, sr_plan_new(f->ctx, f->structure, "routed:part_share=0.2", MEMBERS, 1, &plan));
  snprintf(path, sizeof path, "%s/own.csv", test_folder());
  snprintf(text, sizeof text, "bags:%s", path);
  assert_ok(f->ctx, sr_plan_write(f->ctx, plan, path, NULL));
  double judges[4];
  for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) {
    sr_train_options options = train_options(text);
    options.evaluate.folds.buffer = buffers[k];
    sr_ensemble *ensemble = NULL;
    sr_folds *folds = NULL;
    assert_ok(f->ctx, sr_train(f->ctx, f->table, &options, 1, &ensemble));
    assert_ok(f->ctx, sr_folds_new(f->ctx, f->structure, &options.evaluate.folds, 1, &folds));
    const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
    reference r = slow_reference(f, plan, ensemble, sr_folds_get(folds));
    assert_int_equal(e->folds, 0);
    assert_int_equal(e->buffer, buffers[k]);
    assert_int_equal(e->held_out, SR_UNIT_BLOCK);
    assert_close(e->naive, r.naive, 1e-12);
    assert_close(e->honest, r.honest, 1e-12);
    assert_close(e->covariance, r.covariance, 1e-12);
    assert_close(e->variance_of_margin, r.variance_of_margin, 1e-12);
    assert_close(e->variance_of_member, r.variance_of_member, 1e-12);
    assert_close(e->effective_members, r.variance_of_member / r.variance_of_margin, 1e-12);
    assert_true(e->honest_low <= e->honest && e->honest <= e->honest_high);
    judges[k] = e->judges;
    sr_folds_free(&folds);
    sr_ensemble_free(&ensemble);
  }
  assert_true(judges[0] > judges[2] &&
              judges[2] > judges[3]); /* a longer buffer bars more members */
  sr_plan_free(&plan);
}

static void class_reports_add_up(void **state) {
  fixture *f = *state;
  sr_train_options options = train_options("routed");
  sr_ensemble *ensemble = NULL;
  assert_ok(f->ctx, sr_train(f->ctx, f->table, &options, 1, &ensemble));
  const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
  assert_int_equal(e->classes, 2);
  assert_int_equal(e->rows, N);
  assert_int_equal(e->by_class[0].rows + e->by_class[1].rows, e->honest_rows);
  double wrong = 0;
  int64_t rows[2] = {0};
  for (int i = 0; i < N; i++) rows[sr_table_get(f->table)->label[i]]++;
  for (int c = 0; c < 2; c++) wrong += e->by_class[c].error * (double)e->by_class[c].rows;
  assert_close(wrong / (double)e->honest_rows, e->honest, 1e-12);
  assert_close(e->baseline, (double)(rows[0] < rows[1] ? rows[0] : rows[1]) / N, 1e-12);
  sr_ensemble_free(&ensemble);
}

/* A full bootstrap sees every part, so folds must be fitted; naive OOB flatters, honest does not:
 * two copies of each row in turn make every row's twin a training row. */
static void folds_stand_in_where_no_part_is_left_out(void **state) {
  fixture *f = *state;
  static float x[2 * N];
  static int32_t label[N];
  const char *names[] = {"a", "b"};
  for (int i = 0; i < N; i++) {
    uint32_t bits = (uint32_t)(i / 20) * 2654435761u;
    x[i] = (float)(bits >> 16 & 1023);
    x[N + i] = (float)(bits & 1023);
    label[i] = (int32_t)(bits >> 27 & 1);
  }
  sr_table_view view = {.rows = N, .features = 2, .x = x, .label = label, .classes = {2, names}};
  sr_table *table = NULL;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &table));
  sr_train_options options = train_options("uniform");
  options.structure.tmix = 20; /* as long as the runs */
  options.structure.parts = 30;
  sr_ensemble *ensemble = NULL;
  assert_ok(f->ctx, sr_train(f->ctx, table, &options, 1, &ensemble));
  const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
  assert_int_equal(e->folds, 8);
  assert_int_equal(e->held_out, SR_UNIT_BLOCK);
  assert_true(e->naive < 0.02);
  assert_true(e->honest > 0.15); /* 0.5 for new runs in the mean; there are 30 */
  assert_int_equal(e->honest_rows, N);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
}

static void rows_without_a_class_are_left_out(void **state) {
  fixture *f = *state;
  sr_table_view view = *sr_table_get(f->table);
  static int32_t label[N];
  for (int i = 0; i < N; i++) label[i] = i % 3 ? view.label[i] : -1;
  view.label = label;
  sr_table *table = NULL;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &table));
  sr_train_options options = train_options("routed");
  sr_ensemble *ensemble = NULL;
  assert_ok(f->ctx, sr_train(f->ctx, table, &options, 1, &ensemble));
  assert_int_equal(sr_ensemble_get(ensemble)->rows, N - N / 3);
  assert_int_equal(sr_ensemble_get(ensemble)->evaluation->rows, N - N / 3);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  for (int i = 0; i < N; i++) label[i] = -1;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &table));
  assert_int_equal(sr_train(f->ctx, table, &options, 1, &ensemble), SR_ERROR_DATA);
  sr_table_free(&table);
}

static void the_informative_feature_is_the_most_important(void **state) {
  fixture *f = *state;
  static float x[3 * N];
  static int32_t label[N];
  const char *names[] = {"a", "b"};
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < 3; j++) x[j * N + i] = scrambled((uint32_t)(i * 3 + j + 1));
    label[i] = x[N + i] > (float)(1 << 23);
  }
  sr_table_view view = {.rows = N, .features = 3, .x = x, .label = label, .classes = {2, names}};
  sr_table *table = NULL;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &table));
  const char *plans[] = {"routed", "uniform"};
  for (int p = 0; p < 2; p++) {
    sr_train_options options = train_options(plans[p]);
    options.evaluate.importance = 1;
    sr_ensemble *ensemble = NULL;
    assert_ok(f->ctx, sr_train(f->ctx, table, &options, 1, &ensemble));
    const sr_evaluation *e = sr_ensemble_get(ensemble)->evaluation;
    assert_int_equal(e->features, 3);
    assert_true(e->importance[1] > 0.25);
    assert_true(fabs(e->importance[0]) < 0.1 && fabs(e->importance[2]) < 0.1);
    sr_ensemble_free(&ensemble);
  }
  sr_table_free(&table);
}

/* Gated votes: two halves with opposite rules. A global vote is at a loss, a gate is not. */
static void a_gate_listens_to_members_that_know_the_place(void **state) {
  fixture *f = *state;
  static float x[2 * N];
  static int32_t label[N], got[N];
  const char *names[] = {"a", "b"};
  for (int i = 0; i < N; i++) {
    x[i] = i < N / 2 ? -5.0f : 5.0f;
    x[N + i] = scrambled((uint32_t)(i + 1)) / (float)(1 << 23) - 1.0f;
    label[i] = (x[N + i] > 0) == (i < N / 2);
  }
  sr_table_view view = {.rows = N, .features = 2, .x = x, .label = label, .classes = {2, names}};
  sr_table *table = NULL;
  assert_ok(f->ctx, sr_table_new(f->ctx, &view, &table));
  double wrong[2] = {0};
  for (int gated = 0; gated < 2; gated++) {
    sr_train_options options = train_options("spectral");
    options.structure.tmix = 2;
    options.structure.parts = 2;
    options.evaluate.evaluate = 0;
    options.vote = gated ? SR_VOTE_GATED : SR_VOTE_HARD;
    sr_ensemble *ensemble = NULL;
    assert_ok(f->ctx, sr_train(f->ctx, table, &options, 1, &ensemble));
    assert_ok(f->ctx, sr_ensemble_predict(f->ctx, ensemble, table, got, NULL));
    for (int i = 0; i < N; i++) wrong[gated] += got[i] != label[i];
    sr_ensemble_free(&ensemble);
  }
  assert_true(wrong[0] > 0.3 * N);
  assert_true(wrong[1] < 0.01 * N);
  sr_table_free(&table);
}

static sr_status train_once(sr_context *ctx, void *data) {
  sr_train_options options = train_options(data);
  options.members = 4;
  options.evaluate.importance = 1;
  options.evaluate.folds.folds = 2;
  if (strcmp(data, "routed") == 0) options.vote = SR_VOTE_GATED;
  sr_table *table = NULL;
  sr_ensemble *ensemble = NULL;
  int32_t label[80];
  sr_status status = sr_simulate(ctx, "ar1:n=80,d=2", 1, 0, &table, NULL);
  if (status == SR_OK) status = sr_train(ctx, table, &options, 1, &ensemble);
  if (status == SR_OK) status = sr_ensemble_predict(ctx, ensemble, table, label, NULL);
  sr_ensemble_free(&ensemble);
  sr_table_free(&table);
  return status;
}

static void training_survives_every_allocation_failure(void **state) {
  (void)state;
  test_every_allocation(train_once, (void *)(uintptr_t) "routed");
  test_every_allocation(train_once, (void *)(uintptr_t) "uniform");
}

static void an_interrupt_stops_training(void **state) {
  fixture *f = *state;
  sr_train_options options = train_options("uniform");
  sr_ensemble *ensemble = NULL;
  sr_context_interrupt(f->ctx);
  assert_int_equal(sr_train(f->ctx, f->table, &options, 1, &ensemble), SR_ERROR_INTERRUPTED);
  assert_null(ensemble);
  sr_context_resume(f->ctx);
}

int main(void) {
#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
  const struct CMUnitTest tests[] = {
      WITH_FIXTURE(a_series_is_cut_into_ranges_of_four_scales),
      WITH_FIXTURE(groups_are_the_parts_where_there_are_any),
      WITH_FIXTURE(the_literal_scale_is_that_of_the_cutting_graph),
      WITH_FIXTURE(spectral_cuts_as_many_parts_as_algorithm_1_says),
      WITH_FIXTURE(the_majority_wins),
      WITH_FIXTURE(soft_votes_are_shares),
      WITH_FIXTURE(columns_are_found_by_name),
      WITH_FIXTURE(categories_are_found_by_name),
      WITH_FIXTURE(errors_match_their_definitions),
      WITH_FIXTURE(class_reports_add_up),
      WITH_FIXTURE(folds_stand_in_where_no_part_is_left_out),
      WITH_FIXTURE(rows_without_a_class_are_left_out),
      WITH_FIXTURE(the_informative_feature_is_the_most_important),
      WITH_FIXTURE(a_gate_listens_to_members_that_know_the_place),
      WITH_FIXTURE(training_survives_every_allocation_failure),
      WITH_FIXTURE(an_interrupt_stops_training),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
