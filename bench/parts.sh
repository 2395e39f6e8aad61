#!/usr/bin/env bash
# The runs of bench_parts that bench/results keeps, in two pieces of a few minutes each:
#   bench/record.sh parts bench/parts.sh
#   bench/record.sh parts_large bench/parts.sh large
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = large ]; then
  for graph in window5 grid4 hole4 knn2; do build/release/bench/bench_parts 1e7 "$graph"; done
else
  for n in 1e5 1e6; do build/release/bench/bench_parts "$n"; done
fi
