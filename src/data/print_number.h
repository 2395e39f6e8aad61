/* Numbers to the shortest decimal text that reads back as the same number, in any locale. Internal
 * to src/data. */
#ifndef SR_DATA_PRINT_NUMBER_H
#define SR_DATA_PRINT_NUMBER_H

enum { SR_NUMBER_BYTES = 40 };

/* Writes at most SR_NUMBER_BYTES characters, without a final zero, and gives the end. NaN is "NA",
 * infinities are "inf" and "-inf". */
char *sr__print_float(float value, char *to);
char *sr__print_double(double value, char *to);

#endif
