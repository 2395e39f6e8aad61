/* A structure: how dependent the rows are, and what to do about it. */
#include <math.h>

#include "describe.h"

static double rows_per_part(const sr_structure_view *v) {
  return (double)v->rows / (double)sr_parts_get(v->parts)->parts;
}

static const char *advice(const sr_structure_view *v) {
  return v->independent ? ": the rows are as good as independent"
                        : ", and judge by parts that were held out, never by single rows";
}

/* Maps: what the coordinates show. Empty elsewhere. */
static void print_map(const sr_structure_view *v, char *text, size_t size) {
  char fields[40] = "no fields", regions[40] = "one region", reach[80] = "", number[40];
  text[0] = '\0';
  if (v->distance_unit == SR_DISTANCE_NONE) return;
  if (v->fields > 0) snprintf(fields, sizeof fields, "%d fields", v->fields);
  if (v->regions > 1) snprintf(regions, sizeof regions, "%d regions", v->regions);
  sr_distance_text(v->reach, v->distance_unit, number, sizeof number);
  if (v->reach > 0.0)
    snprintf(reach, sizeof reach, "; residuals are alike up to %s", number);
  else if (isfinite(v->reach))
    snprintf(reach, sizeof reach, "; residuals of near rows are not alike");
  snprintf(text, size, "%s, %s%s", fields, regions, reach);
}

/* ---- text --------------------------------------------------------------------------------- */

static void add_lines(sr__description *lines, const void *object) {
  const sr_structure_view *v = sr_structure_get(object);
  const sr_dependence_view *found = v->dependence ? sr_dependence_get(v->dependence) : NULL;
  if (found)
    sr__dependence_head(lines, found);
  else if (isnan(v->tmix))
    sr__description_add(lines,
                        "%lld rows; dependence by %s.\n\n  T                cannot be told\n",
                        (long long)v->rows, v->graph);
  else
    sr__description_add(lines, "%lld rows; dependence by %s.\n\n  T                %.9g rows, %s\n",
                        (long long)v->rows, v->graph, sr__three_digits(v->tmix), v->tmix_method);
  sr__description_add(lines, "  block or %-7s %.0f rows, so %d %ss\n", sr_unit_name(v->unit),
                      rows_per_part(v), sr_parts_get(v->parts)->parts, sr_unit_name(v->unit));
  if (found && !isnan(found->politis_white_stationary))
    sr__description_add(lines,
                        "  block bootstrap  %.0f rows on average (stationary), %.0f (circular)%s\n",
                        found->politis_white_stationary, found->politis_white_circular,
                        found->politis_white_saturated ? ", at its cap" : "");
  char map[256];
  print_map(v, map, sizeof map);
  if (*map) sr__description_add(lines, "  map              %s\n", map);
  sr__description_add(lines, "  plan             %s%s\n", v->recommend, advice(v));
  if (found) sr__dependence_tail(lines, found);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void given_keys(const sr_structure_view *v, json_t *object) {
  json_object_set_new(object, "n", json_integer(v->rows));
  json_object_set_new(object, "graph", sr__json_text(v->graph));
  json_object_set_new(object, "tmix",
                      sr__json_scale(v->tmix, v->tmix_low, v->tmix_high, v->tmix_method));
}

static json_t *map_json(const sr_structure_view *v) {
  const char *unit = sr_distance_unit_name(v->distance_unit);
  if (!unit) return json_null();
  return json_pack("{s:i,s:i,s:o,s:o,s:s}", "fields", (int)v->fields, "regions", (int)v->regions,
                   "reach", sr__json_real(v->reach), "buffer_distance",
                   sr__json_real(v->buffer_distance), "distance_unit", unit);
}

static json_t *to_json(const void *object) {
  const sr_structure_view *v = sr_structure_get(object);
  json_t *value = json_object();
  if (v->dependence)
    sr__dependence_keys(sr_dependence_get(v->dependence), value);
  else
    given_keys(v, value);
  json_object_set_new(value, "parts", json_integer(sr_parts_get(v->parts)->parts));
  json_object_set_new(value, "block", sr__json_real(rows_per_part(v)));
  json_object_set_new(value, "recommend", sr__json_text(v->recommend));
  if (v->dependence)
    sr__dependence_lists(sr_dependence_get(v->dependence), value);
  else
    json_object_set_new(value, "warnings", json_array());
  json_object_set_new(value, "unit", sr__json_text(sr_unit_name(v->unit)));
  json_object_set_new(value, "map", map_json(v));
  return value;
}

/* ---- the page ----------------------------------------------------------------------------- */

/* The verdict in one sentence. */
static sr_status add_headline(sr_context *ctx, sr_page *page, const sr_structure_view *v) {
  const sr_dependence_view *found = v->dependence ? sr_dependence_get(v->dependence) : NULL;
  char text[512];
  if (v->independent)
    snprintf(text, sizeof text,
             "The rows are as good as independent: single rows may be held out, and plain bagging "
             "does no harm.");
  else if (found && isfinite(found->ess) && isfinite(v->tmix))
    snprintf(
        text, sizeof text,
        "The rows depend on each other: one is new only about %.9g rows later, and all %lld are "
        "worth about %.0f independent ones. An error measured on single rows would be too "
        "small; hold out whole %s.",
        sr__three_digits(v->tmix), (long long)v->rows, found->ess,
        v->unit == SR_UNIT_GROUP               ? "groups"
        : v->unit == SR_UNIT_FIELD             ? "fields"
        : found->relation == SR_RELATION_ORDER ? "stretches"
                                               : "areas");
  else
    return SR_OK;
  return sr_page_note(ctx, page, v->independent ? SR_AGREEMENT_GOOD : SR_AGREEMENT_PARTLY, text);
}

sr_status sr_page_add_structure(sr_context *ctx, sr_page *page, const sr_structure *structure) {
  sr_status status = SR_OK;
  const sr_structure_view *v = sr_structure_get(structure);
  char text[768], map[256], scale[64] = "T cannot be told from these rows";
  if (isfinite(v->tmix))
    snprintf(scale, sizeof scale, "Rows are taken as new after %.9g rows",
             sr__three_digits(v->tmix));
  print_map(v, map, sizeof map);
  snprintf(text, sizeof text,
           "%s. Use parts or blocks of about %.0f rows (%d %ss). %s%s%sRecommended plan: %s%s.",
           scale, rows_per_part(v), sr_parts_get(v->parts)->parts, sr_unit_name(v->unit),
           *map ? "The map: " : "", map, *map ? ". " : "", v->recommend, advice(v));
  SR_TRY(add_headline(ctx, page, v));
  SR_TRY(sr_page_paragraph(ctx, page, text));
  if (v->dependence) SR_TRY(sr_page_add_dependence(ctx, page, v->dependence));
cleanup:
  return status;
}

static sr_status add_to_page(sr_context *ctx, sr_page *page, const void *object) {
  return sr_page_add_structure(ctx, page, object);
}

sr_status sr_describe_structure(sr_context *ctx, const sr_structure *structure,
                                sr_description format, char **text) {
  static const sr__describer describer = {"How dependent are the rows, and what to do about it",
                                          add_lines, to_json, add_to_page};
  return sr__describe(ctx, &describer, structure, format, text);
}
