/* NumPy's .npy files, versions 1 to 3: the header and its items. Internal. */
#ifndef SR_DATA_NPY_H
#define SR_DATA_NPY_H

#include "source.h"

/* An array of one or two dimensions of plain numbers. */
typedef struct sr__npy {
  char kind; /* f float, i signed, u unsigned, b truth value */
  int size;  /* bytes per item */
  bool swapped;
  bool columns_first;    /* Fortran order */
  int64_t rows, columns; /* one dimension: columns is 1 */
} sr__npy;

/* Reads up to the first item. Errors: SR_ERROR_FORMAT (damaged), SR_ERROR_UNSUPPORTED (another type
 * or more dimensions), SR_ERROR_DATA (no items), SR_ERROR_OVERFLOW, those of the source. */
SR_MUST_CHECK sr_status sr__npy_read_header(sr_context *ctx, sr__source *source, sr__npy *array);
double sr__npy_real(const sr__npy *array, const unsigned char *item);
/* Of an array that is not of floats. Unsigned numbers from 2^63 on give a negative number. */
int64_t sr__npy_integer(const sr__npy *array, const unsigned char *item);

enum { SR__NPY_HEADER_BYTES = 192 };
/* The header of an array in this machine's byte order, version 1.0, padded so that the items begin
 * at a multiple of 64. Gives its length. */
size_t sr__npy_print_header(const sr__npy *array, char header[SR__NPY_HEADER_BYTES]);

#endif
