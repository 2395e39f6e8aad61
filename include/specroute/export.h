/* Symbol visibility and compiler attributes of the public headers. */
#ifndef SPECROUTE_EXPORT_H
#define SPECROUTE_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define SR_API __attribute__((visibility("default")))
#define SR_MUST_CHECK __attribute__((warn_unused_result))
#define SR_PRINTF(format_index, first_argument) \
  __attribute__((format(printf, format_index, first_argument)))
#else
#define SR_API
#define SR_MUST_CHECK
#define SR_PRINTF(format_index, first_argument)
#endif

/* Marks what may change or go in any version (VERSIONING.md). A program that wants to know where it
 * stands on such ground defines SR_WARN_EXPERIMENTAL: the compiler then names each use. */
#if defined(SR_WARN_EXPERIMENTAL) && (defined(__GNUC__) || defined(__clang__))
#define SR_EXPERIMENTAL __attribute__((deprecated("experimental: may change in any version")))
#else
#define SR_EXPERIMENTAL
#endif

#endif
