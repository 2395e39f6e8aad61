#!/usr/bin/env bash
# docs/results.md is what the committed result files say.
set -euo pipefail
[ -d "$SR_SOURCE/experiments/results" ] || { echo "no committed results"; exit 77; }
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$SR_COMMAND" report "$SR_SOURCE/experiments/results" -o "$made/results.md"
if ! diff -u "$SR_SOURCE/docs/results.md" "$made/results.md"; then
  echo "docs/results.md is out of date: specroute report experiments/results -o docs/results.md"
  exit 1
fi
