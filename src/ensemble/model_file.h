/* The model file: how an ensemble lies on disk. Internal.
 *
 *   8 bytes   magic "SPECRTE" and a line feed
 *   u32       version
 *   u64       bytes of all sections
 *   sections  each a four-letter tag, a u64 length and so many bytes
 *   u32       CRC-32 of everything before it
 *
 * All numbers are little-endian. A reader passes over a section whose tag begins with a small
 * letter and which it does not know, so that later versions may add such sections; one that begins
 * with a capital letter must be understood. */
#ifndef SR_ENSEMBLE_MODEL_FILE_H
#define SR_ENSEMBLE_MODEL_FILE_H

#include "core/bytes.h"
#include "ensemble.h"

#define SR_MODEL_MAGIC "SPECRTE\n"
enum {
  SR_MODEL_MAGIC_BYTES = 8,
  SR_MODEL_VERSION = 4,
  SR_MODEL_HEADER_BYTES = 20,
  SR_MODEL_CHECKSUM_BYTES = 4,
  SR_MODEL_TAG_BYTES = 4,
  SR_MODEL_MAX_CHANNELS = 1 << 16
};

/* What the target is; only classes for now. */
enum { SR_MODEL_CLASSES = 0 };
/* How a gated vote is written; hard and soft are 0 and 1. */
enum { SR_MODEL_GATED = 2 };

uint32_t sr__model_checksum(const void *bytes, int64_t count);
/* The whole file in memory. */
SR_MUST_CHECK sr_status sr__model_write(const sr_ensemble *ensemble, sr__bytes *bytes);

#endif
