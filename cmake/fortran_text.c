/* The one function of Fortran's run time that LAPACK's eigenproblems need, so that a library with
 * OpenBLAS linked in needs no libgfortran: two texts behind each other, cut or filled up with
 * blanks. */
#include <stddef.h>
#include <string.h>

void _gfortran_concat_string(size_t size, char *to, size_t first_size, const char *first,
                             size_t second_size, const char *second);

void _gfortran_concat_string(size_t size, char *to, size_t first_size, const char *first,
                             size_t second_size, const char *second) {
  size_t head = first_size < size ? first_size : size;
  size_t tail = second_size < size - head ? second_size : size - head;
  memcpy(to, first, head);
  memcpy(to + head, second, tail);
  memset(to + head + tail, ' ', size - head - tail);
}
