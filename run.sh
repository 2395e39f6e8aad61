#!/usr/bin/env bash
# Installs what is missing, builds, and tells two stories on data that ships with the project: a forest that is a
# fantasy (117 seconds of EEG), and five years of weather where something is learned and the default errs least.
# Pages are written to out/. Nothing is installed outside of this folder but the packages that are missing.
set -euo pipefail
cd "$(dirname "$0")"
scripts/install.sh run
cmake --preset run >/dev/null
cmake --build --preset run -j "$(nproc)" | tail -n 1
mkdir -p out
specroute=build/run/specroute
eeg=data/eeg_eye_state.csv.gz

tell() {
  echo
  echo "== specroute $*"
  "$specroute" "$@"
}

echo
echo "---- Story 1: a forest that looks useful. Is the eye open, told from 117 seconds of EEG?"
tell diagnose "$eeg" --target class
tell train "$eeg" --target class -o out/eeg.model --report out/report.html
echo
echo "The naive error promises a useful model; on stretches that it never saw it guesses. out/report.html has the whole story."

echo
echo "---- Story 2: something can be learned. Is the air of Beijing bad (fine dust above 75), told from hour, month and weather?"
tell compare data/beijing_pm25.csv.gz --target "pm2.5 > 75" --drop No,year,day,pm2.5 --plans uniform,auto \
  --report out/compare.html
echo
echo "Plain bagging (uniform) learns the days that it saw; the default (auto) mixes bags and leaves of several sizes and is wrong"
echo "less often on stretches that it never saw. Pages: out/report.html, out/compare.html"
echo
echo "To install the command and the library:  sudo cmake --install build/run --prefix /usr/local"
