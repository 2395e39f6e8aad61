#!/usr/bin/env bash
# The runs of bench_parts that bench/results/parts.jsonl keeps: bench/record.sh parts bench/parts.sh
set -euo pipefail
cd "$(dirname "$0")/.."
parts=build/release/bench/bench_parts
for case in grid4 grid8 hole4 hole8 knn2 window5; do SR_NO_SCOTCH=1 "$parts" 1e6 "$case"; done
"$parts" 1e5
SR_NO_SCOTCH=1 "$parts" 1e6 knn5
for case in grid4 hole4; do "$parts" 1e7 "$case"; done
