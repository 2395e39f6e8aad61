#!/usr/bin/env bash
# Installs what is missing, builds with sanitizers, passes the tests, those of the Python package too.
#   ./test.sh          everything that fits into minutes
#   ./test.sh --full   also the wheel, the tutorials, the release, portable, thread-sanitizer and coverage builds, the heavy
#                      statistical checks and SR_FUZZ_SECONDS (600) of each fuzzer
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

check dev
echo "== python"
python/test.sh build/dev
echo "== pages, limits on memory, interrupts (no sanitizers)"
cmake --preset run >/dev/null
cmake --build --preset run -j "$jobs" --target specroute_cli
for script in check_pages check_memory check_interrupts; do
  SR_COMMAND=$PWD/build/run/specroute python3 "tests/$script.py"
done
[ "$full" = yes ] || exit 0

scripts/install.sh full
SR_FULL=1 check release
SR_FULL=1 python/test.sh build/release
python/full.sh
SR_FULL=1 check tsan
check coverage
# Kernels define functions of one name under several conditions, which Debian's gcovr cannot count.
build/venv/bin/pip install -q --disable-pip-version-check 'gcovr>=8'
build/venv/bin/gcovr --root . --filter src/ --filter cli/ build/coverage --gcov-ignore-parse-errors=all \
  --merge-mode-functions=separate --exclude-unreachable-branches --print-summary --txt build/coverage/summary.txt -j "$jobs"
cmake --preset run -B build/portable -DSR_NATIVE=OFF -DSR_BUILD_TESTS=ON >/dev/null
cmake --build build/portable -j "$jobs"
ctest --test-dir build/portable -j "$jobs" --output-on-failure
scripts/fuzz.sh "${SR_FUZZ_SECONDS:-600}"
