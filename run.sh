#!/usr/bin/env bash
# Installs what is missing, builds, and tells two stories on data that ships with the project or is made here:
# a forest that is a fantasy (117 seconds of EEG), and a stream where the default comes close to the best that is possible.
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
echo "---- Story 2: a stream where something can be learned, and where the best possible error (bayes_risk) is known."
tell simulate ar1 --n 12000 --tmix 20 --d 3 --json -o out/stream.csv
tell compare out/stream.csv --target y --plans uniform,auto --members 60 --report out/compare.html
echo
echo "Plain bagging follows the noise of its stream; the default (auto) mixes bags and leaves of several sizes and comes"
echo "closer to the best possible. Pages: out/report.html, out/compare.html"
echo
echo "To install the command and the library:  sudo cmake --install build/run --prefix /usr/local"
