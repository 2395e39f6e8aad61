/* File formats. Each is one file with an operations table and a line in methods.def. Internal. */
#ifndef SR_DATA_FORMAT_FORMAT_H
#define SR_DATA_FORMAT_FORMAT_H

#include <specroute/method.h>

#include "data/raster_tiles.h"
#include "data/source.h"
#include "data/table.h"

enum { SR__MOST_ENDINGS = 5 };

/* What the first bytes of a file say. */
typedef enum sr__recognition {
  SR__NOT_RECOGNIZED,
  SR__LIKELY,      /* where the file's name tells nothing */
  SR__MORE_LIKELY, /* than another format whose ending the name has */
  SR__CERTAIN      /* whatever the name */
} sr__recognition;

/* The start of a file. */
typedef struct sr__beginning {
  const char *path;
  const char *bytes;
  size_t size;
  bool whole; /* this is all of it */
  const sr_read_options *options;
} sr__beginning;

typedef struct sr__format {
  sr_method about;
  const char *endings[SR__MOST_ENDINGS + 1]; /* of names; the longest that fits wins */
  const char *endings_text;                  /* the same in one text */
  sr__recognition (*recognize)(const sr__beginning *beginning); /* NULL: never */
  /* Reads a table from bytes; NULL: not read so. Does not close the source. */
  sr_status (*read)(sr_context *ctx, sr__source *source, const sr_read_options *options,
                    sr_table **table);
  /* Reads what the library that knows the format opens itself; NULL: not read so. */
  sr_status (*read_path)(sr_context *ctx, const char *path, const sr_read_options *options,
                         sr_table **table);
  /* Writes a table; NULL: not written. */
  sr_status (*write)(sr_context *ctx, const sr_table_view *table, const char *path);
  const sr__tile_operations *tiles; /* NULL: read and written in one piece */
  bool holds_series;                /* else series are written as columns */
  bool is_text;                     /* written also as .gz */
  bool is_list;                     /* "a.tif,b.tif" is several files */
  bool takes_labels;                /* polygons may be laid over it */
} sr__format;

/* Endings and their text from one list. */
#define SR__ENDINGS_1(a) .endings = {a}, .endings_text = a
#define SR__ENDINGS_2(a, b) .endings = {a, b}, .endings_text = a " " b
#define SR__ENDINGS_3(a, b, c) .endings = {a, b, c}, .endings_text = a " " b " " c
#define SR__ENDINGS_4(a, b, c, d) .endings = {a, b, c, d}, .endings_text = a " " b " " c " " d

const sr__format *sr__format_at(int index);
/* The format whose ending the path has, without .gz, or NULL. */
const sr__format *sr__format_of_path(const char *path);

/* Whether the bytes begin with a text, in letters of either case, after blanks and line ends. */
bool sr__begins_with_word(const sr__beginning *beginning, const char *word);

/* A file in memory, read as sr_table_read would read it under `name`. */
typedef struct sr__memory_file {
  const void *bytes;
  size_t size;
  const char *name;
  size_t step; /* as in sr__source_set_step; 0: that of files */
} sr__memory_file;
SR_MUST_CHECK sr_status sr__table_read_memory(sr_context *ctx, sr__memory_file file,
                                              const sr_read_options *options, sr_table **table);

#endif
