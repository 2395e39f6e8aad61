#!/usr/bin/env bash
# A program that begins as the command does ends under every limit on its memory, although OpenBLAS
# asks for ever for the buffers of its own threads. Small and without sanitizers, which need more
# address space than any limit leaves.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/program.c" <<'PROGRAM'
#include <stdio.h>
extern int openblas_get_num_threads(void);
int main(void) { return printf("%d\n", openblas_get_num_threads()) < 0; }
PROGRAM
"${CC:-cc}" -O1 "$folder/program.c" "$SR_SOURCE/cli/limits.c" -o "$folder/program" -lopenblas
unset OPENBLAS_NUM_THREADS
"$folder/program" >/dev/null
ran=0
for kilobytes in $(seq 60000 15000 400000); do
  if said=$(ulimit -v "$kilobytes" && timeout -s KILL 60 "$folder/program" 2>&1); then
    [ "$said" = 1 ] || { echo "$kilobytes kB: BLAS has $said threads"; exit 1; }
    ran=$((ran + 1))
  else
    code=$?
    [ "$code" -eq 127 ] || { echo "$kilobytes kB: exit $code: $said"; exit 1; } # could not be loaded
  fi
done
[ "$ran" -gt 10 ] || { echo "only $ran limits let the program be loaded"; exit 1; }
echo "$ran limits: the program ends under each"
