#!/usr/bin/env bash
# Every kernel compiles for AArch64; kernels called one by one (cross/kernels.c), and trees, neighbors, the K-cycle and
# filters through their rooms (cross/rooms.c) give the same bytes there (under qemu) as here. The full test only.
set -euo pipefail
compiler=aarch64-linux-gnu-gcc
[ "${SR_FULL:-0}" = 1 ] || exit 77
command -v $compiler >/dev/null && command -v qemu-aarch64 >/dev/null || { echo "no cross compiler"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags=(-std=c17 -Wno-psabi -D_GNU_SOURCE -O2 -ffp-contract=off -fno-math-errno -Werror=implicit-function-declaration -DSR__LEVEL=base -I "$SR_SOURCE/src" -I "$SR_SOURCE/include")
# compiler objects [flag...]: the sources that are read, side by side; each name is there once
compile() {
  mkdir -p "$2"
  xargs -P "$(nproc)" -I{} sh -c 'source=$1 && shift && exec "$@" -c "$source" -o "$0/$(basename "$source").o"' "$2" {} \
    "$1" "${flags[@]}" "${@:3}"
}
find "$SR_SOURCE/src" -name '*_kernel.c' | compile $compiler "$folder/kernels" -Wall -Wextra
sources=("$SR_SOURCE/src/core/maths.c" "$SR_SOURCE/src/plan/draw_kernel.c" "$SR_SOURCE"/src/learner/tree/{bins,walk}_kernel.c)
# Whole rooms; what they have of files, of BLAS and of higher levels is not called and need not be there.
rooms=()
for file in "$SR_SOURCE"/src/{core,data,graph,spectrum,learner,learner/series,learner/tree,learner/rocket}/*.c; do
  case $file in *arpack.c | */registry.c) ;; *) rooms+=("$file") ;; esac
done
build() { # compiler output sources...
  printf '%s\n' "${@:3}" |
    compile "$1" "$2.objects" -ffunction-sections -fdata-sections -idirafter /usr/include -idirafter "/usr/include/$(uname -m)-linux-gnu"
  "$1" -static "$2.objects"/*.o -Wl,--gc-sections -Wl,--unresolved-symbols=ignore-all -lm -lpthread -o "$2" 2>"$2.log" ||
    { cat "$2.log"; exit 1; }
  rm -r "$2.objects"
}
for program in kernels rooms; do
  with=("$SR_SOURCE/tests/cross/$program.c")
  [ $program = kernels ] && with+=("${sources[@]}") || with+=("${rooms[@]}")
  build $compiler "$folder/there" "${with[@]}"
  build cc "$folder/here" "${with[@]}"
  qemu-aarch64 "$folder/there" >"$folder/there.txt"
  SPECROUTE_ISA=base "$folder/here" >"$folder/here.txt"
  diff "$folder/here.txt" "$folder/there.txt" && cat "$folder/here.txt"
done
