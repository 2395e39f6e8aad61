#!/usr/bin/env bash
# Tests the Python package of a build tree in a virtual environment of its own, which is kept.
#   python/test.sh build/dev [pytest options]
set -euo pipefail
cd "$(dirname "$0")/.."
tree=${1:?usage: python/test.sh BUILD_TREE [pytest options]}
shift
venv=build/venv
scripts/venv.sh
# A library with sanitizers needs their own loaded before Python.
preload=""
for sanitizer in asan ubsan tsan; do
  found=$(ldd "$tree/libspecroute.so" | awk -v name="lib$sanitizer" 'index($1, name) == 1 {print $3}')
  preload+="${found:+$found }"
done
export PYTHONPATH="$PWD/$tree/python" MPLBACKEND=Agg OMP_NUM_THREADS=1
# Freed memory is kept back for a while only, so that a test of memory can tell.
export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=4:thread_local_quarantine_size_kb=64:${ASAN_OPTIONS:-}"
exec env LD_PRELOAD="${preload% }" "$venv/bin/python" -m pytest -x "$@"
