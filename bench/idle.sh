#!/usr/bin/env bash
# Graph building on one and two cores, which only an idle machine can tell apart:
#   bench/record.sh idle bench/idle.sh build/release/bench
set -euo pipefail
programs=$1
points=$(mktemp -d)
trap 'rm -rf "$points"' EXIT
for rows in 1000000 10000000; do
  "${SR_BENCH_PYTHON:-python3}" -c "import numpy; numpy.random.default_rng(1).random((2, $rows)).tofile('$points/$rows')"
done
for threads in 1 2; do
  "$programs/bench_graph" grid 4 "$threads" 3 10000000 2
  "$programs/bench_graph" space 8 "$threads" 1 1000000 2 "$points/1000000"
  "$programs/bench_graph" space 8 "$threads" 1 10000000 2 "$points/10000000"
done
