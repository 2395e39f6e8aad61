#!/usr/bin/env bash
# Runs a benchmark and keeps what it printed:  bench/record.sh NAME COMMAND...
# The first line of bench/results/NAME.jsonl says what was run, on which commit, machine and vector level, and how busy
# the machine was.
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1
shift
export OPENBLAS_NUM_THREADS=1 # its idle thread would count as ours
mkdir -p bench/results
of_cpu() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -1; }
machine="$(nproc) x $(of_cpu 'model name') (family $(of_cpu 'cpu family') model $(of_cpu model)), $(awk '/MemTotal/ {printf "%.0f GB", $2/1048576}' /proc/meminfo)"
commit=$(git describe --always)
git diff --quiet HEAD -- . ':!bench/results' || commit+=-dirty # results of other benchmarks do not change what is timed
level=$(build/release/specroute --version -v 2>/dev/null | sed -n 's/.*level:\([a-z0-9]*\).*/\1/p')
{
  printf '{"command": "%s", "commit": "%s", "machine": "%s", "isa": "%s", "load": %s, "date": "%s"}\n' \
    "$*" "$commit" "$machine" "$level" "$(cut -d' ' -f1 /proc/loadavg)" "$(date -u +%F)"
  "$@"
} >"bench/results/$name.jsonl.new"
mv "bench/results/$name.jsonl.new" "bench/results/$name.jsonl"
cat "bench/results/$name.jsonl"
