/* For libraries that open files themselves. Internal. */
#ifndef SR_CORE_WRITER_H
#define SR_CORE_WRITER_H

#include "core.h"

/* The name that the bytes go to until they are committed; the writer holds the same file. NULL
 * where they go straight through (pipes, standard output). */
const char *sr__writer_temporary(const sr__writer *writer);

#endif
