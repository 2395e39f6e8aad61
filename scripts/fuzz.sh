#!/usr/bin/env bash
# Runs every fuzzer for SECONDS (120) on all cores, starting from the corpus in the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-120}
cmake --preset fuzz >/dev/null
names=$(printf '%s\n' fuzz/fuzz_*.c | sed 's|fuzz/||; s|\.c$||')
# shellcheck disable=SC2086
cmake --build --preset fuzz -j "$(nproc)" --target $names
run_one() {
  local name=$1 longest=4096
  [ "$name" != model ] || longest=65536 # the smallest nets
  mkdir -p "build/fuzz/found/$name"
  "build/fuzz/fuzz/fuzz_$name" -max_total_time="$2" -max_len=$longest -rss_limit_mb=2000 -timeout=20 \
    -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/found/$name" "fuzz/corpus/$name" \
    >"build/fuzz/$name.log" 2>&1 || { tail -30 "build/fuzz/$name.log"; echo "fuzz_$name found something"; return 1; }
  echo "fuzz_$name: $(grep -o 'Done [0-9]* runs' "build/fuzz/$name.log"), no finding"
}
export -f run_one
printf '%s\n' $names | sed 's|fuzz_||' | xargs -P "$(nproc)" -I{} bash -c "run_one {} $seconds"
