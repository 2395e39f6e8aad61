/* Where memory is limited, OpenBLAS must start no threads of its own: each asks for a buffer as
 * soon as the program is loaded, for ever where it is refused, and the program could then never
 * end. And malloc must not look for a heap of 64 MB per thread, which is refused again at every
 * call. The command starts itself again with one thread for BLAS and one heap, before any library
 * has begun; the command's own threads are not touched. */
#include <stdio.h>

#if defined(__linux__) && defined(__GLIBC__)
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static bool memory_is_limited(void) {
  const int kinds[] = {RLIMIT_AS, RLIMIT_DATA};
  struct rlimit limit;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (getrlimit(kinds[i], &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return true;
  return false;
}

/* Runs before the constructors of all libraries, so nothing but plain system calls is used. */
static void restart_where_limited(int count, char **arguments, char **environment) {
  enum { MOST = 4096 };
  static char one_thread[] = "OPENBLAS_NUM_THREADS=1";
  static char one_heap[] = "MALLOC_ARENA_MAX=1"; /* one that the user gave stands before it */
  static char *wider[MOST + 3];
  int entries = 0;
  (void)count;
  if (!memory_is_limited()) return;
  for (; environment[entries]; entries++) {
    if (strncmp(environment[entries], one_thread, sizeof one_thread - 2) == 0) return;
    if (entries == MOST) return;
    wider[entries] = environment[entries];
  }
  wider[entries] = one_thread;
  wider[entries + 1] = one_heap;
  execve("/proc/self/exe", arguments, wider); /* where it fails the command goes on as it is */
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first_of_all)(int, char **,
                                                        char **) = restart_where_limited;
#endif
