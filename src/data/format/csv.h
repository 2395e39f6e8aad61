/* Delimited text: how fields are cut, what each column is, and the threaded reader that csv, tsv,
 * UCR and ARFF share. Internal to src/data. */
#ifndef SR_DATA_CSV_H
#define SR_DATA_CSV_H

#include "data/column_roles.h"
#include "data/field_text.h"
#include "data/source.h"

typedef struct sr__csv_dialect {
  char separator; /* ' ' stands for any run of blanks */
  bool arff;      /* also single quotes, backslash escapes, % comments; quotes end with the line */
} sr__csv_dialect;

typedef struct sr__csv_field {
  char *text;
  size_t length;
  bool quoted;
} sr__csv_field;

/* Where a field stands, for messages. */
typedef struct sr__csv_place {
  const char *file;
  int64_t line;
  int64_t column; /* from 1 */
} sr__csv_place;

/* How a column is kept while reading. */
typedef enum sr__cell_kind {
  SR_CELL_SKIP,
  SR_CELL_FLOAT,
  SR_CELL_DOUBLE,
  SR_CELL_ISO_TIME,
  SR_CELL_CODE
} sr__cell_kind;

typedef struct sr__csv_column {
  const char *name;
  sr__column_role role;
  sr__cell_kind kind;
  bool required;  /* a missing value is an error */
  bool undecided; /* a feature without a value in the sample: numbers if all its texts are */
  bool closed;    /* no text may be added to names (ARFF nominal) */
  bool keep_order;
  bool dated; /* dates in date_order instead of ISO times */
  sr__date_order date_order;
  sr__names names; /* of code columns */
  size_t offset;   /* bytes before this column in a row */
} sr__csv_column;

typedef struct sr__csv_layout {
  const char *file;
  sr__csv_dialect dialect;
  sr__csv_column *columns;
  int64_t count;
  size_t row_bytes;
  int64_t line;         /* lines that came before the first byte of the data */
  bool declared;        /* a header of another kind said what the columns are */
  int64_t pattern_line; /* the line that fixed the number of columns */
  sr__arena arena;      /* column names */
} sr__csv_layout;

/* ---- cutting (csv_scan.c) ----------------------------------------------------------------- */

/* Every buffer ends in '\n'. Cuts the field at `at`; *next is its separator or line end. Quoted
 * text is unescaped in place; *lines grows by the line ends inside it. */
SR_MUST_CHECK sr_status sr__csv_cut(sr_context *ctx, const sr__csv_dialect *dialect,
                                    const sr__csv_place *place, char *at, const char *end,
                                    sr__csv_field *field, char **next, int64_t *lines);
/* Bytes up to the end of the last whole record; 0 where there is none. */
size_t sr__csv_whole_records(const sr__csv_dialect *dialect, const char *text, size_t size);
/* The first byte after blank lines and comments; grows *line with each. */
char *sr__csv_skip_blank(const sr__csv_dialect *dialect, char *at, const char *end, int64_t *line);
static inline bool sr__csv_at_line_end(const char *at) {
  return *at == '\n' || (*at == '\r' && at[1] == '\n');
}
/* Past the separator at `at`; false where the record ends here. */
bool sr__csv_next_field(const sr__csv_dialect *dialect, char **at);
int64_t sr__count_lines(const char *text, size_t size);

/* ---- layout (csv_layout.c) ---------------------------------------------------------------- */

/* Detects what the options leave open from the first bytes of the file (whole records, or all of
 * it). `text` is changed. *data is where the data begin. */
SR_MUST_CHECK sr_status sr__csv_detect(sr_context *ctx, char *text, size_t size,
                                       const sr_read_options *options, sr__csv_layout *layout,
                                       size_t *data);
/* Gives the columns their roles by their names. */
SR_MUST_CHECK sr_status sr__csv_assign_roles(sr_context *ctx, const sr_read_options *options,
                                             sr__csv_layout *layout);
/* What a column of a role is read as: times as dates or numbers, features as text or numbers. */
void sr__csv_set_kind(sr__csv_column *column, bool iso_time, bool text);
/* Gives each column its place in memory, once roles and text columns are known. */
void sr__csv_place_columns(sr__csv_layout *layout);
void sr__csv_layout_free(sr_context *ctx, sr__csv_layout *layout);

/* ---- reading (csv_reader.c) and joining (csv_join.c) ---------------------------------------- */

/* A stretch of rows in memory: the columns lie one after the other, `capacity` cells each. */
typedef struct sr__csv_segment {
  char *cells;
  int64_t capacity, used;
} sr__csv_segment;

/* The rows of one stretch of text. */
typedef struct sr__csv_chunk {
  int32_t segment;
  int64_t first; /* row in the segment */
  int64_t rows;
  int64_t before; /* rows of the table before this chunk; set when all are read */
} sr__csv_chunk;

static inline char *sr__csv_cells(const sr__csv_segment *segment, const sr__csv_column *column) {
  return segment->cells + (size_t)segment->capacity * column->offset;
}

/* Reads a file of delimited text; separator 0 is detected. */
SR_MUST_CHECK sr_status sr__read_delimited(sr_context *ctx, sr__source *source,
                                           const sr_read_options *options, char separator,
                                           sr_table **table);
/* Reads the data of a source whose layout is known. */
SR_MUST_CHECK sr_status sr__csv_read_data(sr_context *ctx, sr__source *source,
                                          sr__csv_layout *layout, sr_table **table);
/* Moves the rows into a table and frees each segment as soon as it is empty. */
SR_MUST_CHECK sr_status sr__csv_join(sr_context *ctx, sr__csv_layout *layout,
                                     sr__csv_segment *segments, int64_t segment_count,
                                     sr__csv_chunk *chunks, int64_t chunk_count, sr_table **table);

#endif
