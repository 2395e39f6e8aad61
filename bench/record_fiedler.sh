#!/usr/bin/env bash
# Records bench/results/fiedler.jsonl: every family, size and peer. bench/record.sh cannot do it in
# one command, because sizes take different peers.
#   bench/record_fiedler.sh BENCH_FIEDLER
set -uo pipefail
cd "$(dirname "$0")/.."
bench=$1
out=bench/results/fiedler.jsonl
mkdir -p bench/results
machine="$(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(awk '/MemTotal/ {printf "%.0f GB", $2/1048576}' /proc/meminfo)"
printf '{"command": "bench/record_fiedler.sh", "commit": "%s", "machine": "%s", "date": "%s"}\n' \
  "$(git describe --always --dirty)" "$machine" "$(date -u +%F)" >"$out"
run() { flock /tmp/bench.lock nice -n -5 "$bench" "$@" >>"$out"; }
every=arpack,cholmod,slepc,eigsh,eigsh-shift,lobpcg,sklearn
meshes=grid,holes,knn2
for family in grid holes knn2 knn5 knn10; do run 1e5 $family $every 4; done
run 1e5 $meshes none 0 2
for family in grid holes knn2; do run 1e6 $family cholmod 20; done
run 1e6 grid,holes none 0 2
for family in window grid holes; do
  run 1e7 $family none 0 1
  run 1e7 $family none 0 2
done
for family in path window grid holes knn2 knn5 knn10; do run 1e4 $family $every 1; done
for family in path window path-edges window-edges; do
  run 1e5 $family cholmod,lobpcg 2
  run 1e6 $family none
done
run 1e6 knn2 none 0 2
run 1e6 knn5 arpack 20
