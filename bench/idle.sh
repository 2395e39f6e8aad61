#!/usr/bin/env bash
# What needs an idle machine: the Fiedler pair and graph building on one and two cores.
#   bench/record.sh idle bench/idle.sh build/release/bench
set -euo pipefail
programs=$1
points=$(mktemp -d)
trap 'rm -rf "$points"' EXIT
for rows in 1000000 10000000; do
  "${SR_BENCH_PYTHON:-python3}" -c "import numpy; numpy.random.default_rng(1).random((2, $rows)).tofile('$points/$rows')"
done
for threads in 1 2; do
  "$programs/bench_fiedler" 1e6 grid,holes,knn2 none 60 "$threads"
  "$programs/bench_fiedler" 1e7 grid,holes none 60 "$threads"
  "$programs/bench_graph" grid 4 "$threads" 3 10000000 2
  "$programs/bench_graph" space 8 "$threads" 1 1000000 2 "$points/1000000"
  "$programs/bench_graph" space 8 "$threads" 1 10000000 2 "$points/10000000"
done
"$programs/bench_fiedler" 1e5 grid,holes,knn2,knn10 cholmod,arpack,slepc 20
"$programs/bench_fiedler" 1e6 grid,holes cholmod 30
