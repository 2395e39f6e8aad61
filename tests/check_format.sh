#!/usr/bin/env bash
# Every C file stands as .clang-format lays it out.
set -euo pipefail
cd "$SR_SOURCE"
command -v clang-format >/dev/null || { echo "clang-format is not here"; exit 77; }
find src include cli experiments tests bench fuzz examples -name '*.[ch]' -print0 |
  xargs -0 clang-format --dry-run --Werror
