#!/usr/bin/env bash
# docs/reference is what the command says of itself; `SR_UPDATE=1` writes it anew.
set -euo pipefail
folder=$SR_SOURCE/docs/reference
mkdir -p "$folder"
stale=0
for page in commands methods; do
  made=$("$SR_COMMAND" reference "$page")
  if [ "${SR_UPDATE:-}" = 1 ]; then
    printf '%s\n' "$made" >"$folder/$page.md"
  elif ! diff -u "$folder/$page.md" <(printf '%s\n' "$made"); then
    echo "docs/reference/$page.md is stale: SR_UPDATE=1 tests/check_reference.sh writes it" >&2
    stale=1
  fi
done
exit $stale
