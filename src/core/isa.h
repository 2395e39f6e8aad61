/* The vector level that the kernels of this process run at. Internal.
 *
 * A file *_kernel.c is compiled once per level with SR__LEVEL set to the level's name. It holds
 * static functions on plain pointers and defines one table of pointers to them:
 *
 * - in its header: the struct sr__rocket_kernel with a pointer `transform`, and
 *   SR__KERNEL_LEVELS(sr__rocket_kernel)
 * - in the file: const sr__rocket_kernel SR__KERNEL(sr__rocket_kernel) = {transform};
 * - elsewhere: sr__rocket_kernel_now()->transform(...)
 *
 * Every level gives the same bytes. Nothing but the table has external linkage, so that no copy of
 * a function with instructions of a high level serves a low one. */
#ifndef SR_CORE_ISA_H
#define SR_CORE_ISA_H

typedef enum sr__isa_level { SR__ISA_BASE, SR__ISA_V3, SR__ISA_V4, SR__ISA_LEVELS } sr__isa_level;

/* The highest level of this processor, or a lower one that SPECROUTE_ISA names; asked once. A name
 * that is none of sr__isa_names() changes nothing. */
sr__isa_level sr__isa(void);
/* "base v3 v4" */
const char *sr__isa_names(void);
const char *sr__isa_name(sr__isa_level level);

#define SR__JOIN_NAMES(a, b) a##_##b
#define SR__JOIN(a, b) SR__JOIN_NAMES(a, b)
#ifdef SR__LEVEL
#define SR__KERNEL(name) SR__JOIN(name, SR__LEVEL)
#endif

/* Declares the tables of a kernel and NAME_now(), the one of this process. The table's type is
 * `name`. */
#if defined(__x86_64__)
#define SR__KERNEL_LEVELS(name)                                                       \
  extern const name name##_base, name##_v3, name##_v4;                                \
  static inline const name *name##_now(void) {                                        \
    const name *const table[SR__ISA_LEVELS] = {&name##_base, &name##_v3, &name##_v4}; \
    return table[sr__isa()];                                                          \
  }
#else
#define SR__KERNEL_LEVELS(name)  \
  extern const name name##_base; \
  static inline const name *name##_now(void) { return &name##_base; }
#endif

#endif
