#!/usr/bin/env bash
# The runs of bench_auto_witness that bench/results/auto_witness.jsonl keeps:
#   bench/record.sh auto_witness bench/auto_witness.sh build/release/bench/bench_auto_witness
set -euo pipefail
for rows in 2000 5000 10000; do "$1" 501 20 $rows 2; done
