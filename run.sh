#!/usr/bin/env bash
# Installs what is missing, builds, and does the main job on data that ships with the project.
# The report is written to out/report.html.
set -euo pipefail
cd "$(dirname "$0")"
scripts/install.sh run
cmake --preset run >/dev/null
cmake --build --preset run -j "$(nproc)" | tail -n 1
mkdir -p out
specroute=build/run/specroute
"$specroute" simulate ar1 --n 10000 --tmix 50 --d 5 -o out/ar1.csv
