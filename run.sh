#!/usr/bin/env bash
# Installs what is missing, builds, and does the main job on data that ships with the project: says how
# dependent the rows are, trains an ensemble, and sets the naive error beside the honest one.
# The report is written to out/report.html.
set -euo pipefail
cd "$(dirname "$0")"
scripts/install.sh run
cmake --preset run >/dev/null
cmake --build --preset run -j "$(nproc)" | tail -n 1
mkdir -p out
specroute=build/run/specroute
data=data/eeg_eye_state.csv.gz

echo
echo "== specroute diagnose $data --target class"
"$specroute" diagnose "$data" --target class
echo
echo "== specroute train $data --target class -o out/eeg.model --report out/report.html"
"$specroute" train "$data" --target class -o out/eeg.model --report out/report.html
echo
echo "The report is out/report.html"
