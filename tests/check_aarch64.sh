#!/usr/bin/env bash
# Every kernel compiles for AArch64, and those that cross/kernels.c runs give the same bytes there (under
# qemu) as here. The full test only.
set -euo pipefail
compiler=aarch64-linux-gnu-gcc
[ "${SR_FULL:-0}" = 1 ] || exit 77
command -v $compiler >/dev/null && command -v qemu-aarch64 >/dev/null || { echo "no cross compiler"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=(-std=c17 -Wno-psabi -D_GNU_SOURCE -O2 -ffp-contract=off -fno-math-errno -DSR__LEVEL=base -I "$SR_SOURCE/src" -I "$SR_SOURCE/include")
for kernel in $(find "$SR_SOURCE/src" -name '*_kernel.c'); do
  $compiler "${flags[@]}" -Wall -Wextra -c "$kernel" -o "$folder/kernel.o"
done
sources=("$SR_SOURCE/tests/cross/kernels.c" "$SR_SOURCE/src/core/maths.c" "$SR_SOURCE/src/plan/draw_kernel.c"
  "$SR_SOURCE"/src/learner/tree/{bins,walk}_kernel.c)
$compiler "${flags[@]}" -static "${sources[@]}" -lm -o "$folder/there"
cc "${flags[@]}" "${sources[@]}" -lm -o "$folder/here"
qemu-aarch64 "$folder/there" >"$folder/there.txt"
"$folder/here" >"$folder/here.txt"
diff "$folder/here.txt" "$folder/there.txt" && cat "$folder/here.txt"
