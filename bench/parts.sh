#!/usr/bin/env bash
# The runs of bench_parts that bench/results/parts.jsonl keeps: bench/record.sh parts bench/parts.sh
set -euo pipefail
cd "$(dirname "$0")/.."
for n in 1e5 1e6; do build/release/bench/bench_parts "$n"; done
for graph in window5 grid4 hole4 knn2; do build/release/bench/bench_parts 1e7 "$graph"; done
