#!/usr/bin/env bash
# Installs what is missing, builds with sanitizers, passes the tests, those of the Python package too.
#   ./test.sh          everything that fits into minutes
#   ./test.sh --full   also the wheel, the tutorials, the release (which is the portable build), thread-sanitizer and coverage
#                      builds, the heavy statistical checks and SR_FUZZ_SECONDS (120) of each fuzzer; ends with the lines and
#                      branches covered.
set -euo pipefail
cd "$(dirname "$0")"
full=no
case "${1:-}" in
  "") ;;
  --full) full=yes ;;
  *) echo "usage: ./test.sh [--full]" >&2; exit 2 ;;
esac
jobs=$(nproc)
scripts/install.sh run test

check() { # check PRESET [cmake options]
  local preset=$1
  shift
  echo "== $preset"
  cmake --preset "$preset" "$@" >/dev/null
  cmake --build --preset "$preset" -j "$jobs"
  ctest --preset "$preset" -j "$jobs"
}

# Where the packages of Python are that the tests need, the emulator's among them.
scripts/venv.sh
SPECROUTE_PYTHON=$PWD/build/venv/bin/python
export SPECROUTE_PYTHON

check dev
echo "== python"
python/test.sh build/dev
if [ "$full" = no ]; then
  echo "== pages, limits on memory, interrupts, learning (no sanitizers)"
  cmake --preset run >/dev/null
  cmake --build --preset run -j "$jobs" --target specroute_cli
  for script in check_pages check_memory check_interrupts check_learning; do
    SR_COMMAND=$PWD/build/run/specroute python3 "tests/$script.py"
  done
  exit 0
fi

scripts/install.sh full
SR_FULL=1 check release # with pages, limits and interrupts
SR_FULL=1 python/test.sh build/release # on a library with everything in it
python/full.sh                         # on the wheel, which has less
check tsan # races: the heavy statistical checks run the same code more often
scripts/fuzz.sh "${SR_FUZZ_SECONDS:-120}"
check coverage
# Kernels define functions of one name under several conditions, which Debian's gcovr cannot count.
build/venv/bin/pip install -q --disable-pip-version-check 'gcovr>=8'
build/venv/bin/gcovr --root . --filter src/ --filter cli/ build/coverage --gcov-ignore-parse-errors=all \
  --merge-mode-functions=separate --exclude-unreachable-branches --print-summary --txt build/coverage/summary.txt -j "$jobs"
