/* What the files of this room share. Internal. */
#ifndef SR_DESCRIBE_DESCRIBE_H
#define SR_DESCRIBE_DESCRIBE_H

#include <specroute/describe.h>

#include <jansson.h>

#include "core/text.h"

/* ---- text --------------------------------------------------------------------------------- */

/* Lines that grow; the first failure is kept, so that authors need not check each line. Zeroed but
 * for `ctx` it is empty. */
typedef struct sr__description {
  sr_context *ctx;
  sr__text text;
  sr_status status;
} sr__description;
void sr__description_add(sr__description *lines, const char *format, ...) SR_PRINTF(2, 3);
/* Warnings under a heading of their own; nothing where there are none. */
void sr__description_add_warnings(sr__description *lines, int32_t count,
                                  const char *const *warnings);

/* ---- JSON --------------------------------------------------------------------------------- */

/* A number that may be NaN or infinite, which JSON does not know: null then. */
json_t *sr__json_real(double value);
/* T as every object of the command shows it: {estimate, low, high, method}; what is not known is
 * null. */
json_t *sr__json_scale(double estimate, double low, double high, const char *method);
/* Any bytes, as sr_text_clean gives them; NULL where memory is out. */
json_t *sr__json_text(const char *text);
json_t *sr__json_strings(int32_t count, const char *const *strings);

/* ---- one object in every format ----------------------------------------------------------- */

/* How an object of any kind is said in each format. */
typedef struct sr__describer {
  const char *title; /* of the page */
  void (*add_lines)(sr__description *lines, const void *object);
  json_t *(*to_json)(const void *object); /* NULL where memory is out */
  sr_status (*add_to_page)(sr_context *ctx, sr_page *page, const void *object);
} sr__describer;
SR_MUST_CHECK sr_status sr__describe(sr_context *ctx, const sr__describer *describer,
                                     const void *object, sr_description format, char **text);

/* ---- shared between objects --------------------------------------------------------------- */

/* Keys of a dependence, in the order of the command's JSON up to sample_condition. */
void sr__dependence_keys(const sr_dependence_view *view, json_t *object);
/* Its lists: warnings, estimates, implied. */
void sr__dependence_lists(const sr_dependence_view *view, json_t *object);
/* What was held out, how many, how long, and which buffer was kept: one wording everywhere. */
typedef struct sr__held_out {
  sr_unit unit;
  int32_t units, folds;
  int64_t rows, buffer;
  double distance; /* kept free on a map; NaN: not known */
  sr_distance_unit distance_unit;
} sr__held_out;
void sr__print_held_out(const sr__held_out *held_out, char *text, size_t size);
/* Where a row lies on the map: its coordinates, or its place on the lattice. */
bool sr__has_places(const sr_table_view *table);
void sr__map_position(const sr_table_view *table, int64_t row, double *x, double *y);
/* Values of the rows, NaN left out, as a heat map; with names they are classes 0, 1, ... */
SR_MUST_CHECK sr_status sr__page_add_values(sr_context *ctx, sr_page *page,
                                            const sr_table_view *view, const double *value,
                                            const char *title, sr_dictionary names);
/* Metrics, confusion (more than eight classes: not as text) and calibration of judged votes. */
void sr__description_add_metrics(sr__description *lines, const sr_metrics *metrics);
void sr__description_add_confusion(sr__description *lines, const sr_dictionary *classes,
                                   const int64_t *confusion);
void sr__description_add_calibration(sr__description *lines, const sr_metrics *metrics);
json_t *sr__json_metrics(const sr_metrics *metrics);
json_t *sr__json_confusion(const sr_dictionary *classes, const int64_t *confusion);
json_t *sr__json_calibration(const sr_metrics *metrics);
SR_MUST_CHECK sr_status sr__page_add_metrics(sr_context *ctx, sr_page *page,
                                             const sr_metrics *metrics,
                                             const sr_dictionary *classes,
                                             const int64_t *confusion);
/* What members found on rows that they left out; nothing where none did. */
void sr__json_add_own_judgments(const sr_ensemble *ensemble, json_t *object);
void sr__description_add_own_judgments(sr__description *lines, const sr_ensemble *ensemble);
/* Learning curves of members that are trained in steps; nothing for others. */
void sr__json_add_learning(const sr_ensemble *ensemble, json_t *object);
SR_MUST_CHECK sr_status sr__page_add_learning(sr_context *ctx, sr_page *page,
                                              const sr_ensemble *ensemble);
/* The lines before and after what follows from a dependence. */
void sr__dependence_head(sr__description *lines, const sr_dependence_view *view);
void sr__dependence_tail(sr__description *lines, const sr_dependence_view *view);

#endif
