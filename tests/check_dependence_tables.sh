#!/usr/bin/env bash
# The tables in the docs are those of the recorded results.
python3 "$SR_SOURCE/bench/honest_tables.py" --check || exit 1
python3 "$SR_SOURCE/bench/map_coverage.py" --check || exit 1
python3 "$SR_SOURCE/bench/series_accuracy.py" --check || exit 1
python3 "$SR_SOURCE/bench/refit.py" --check || exit 1
exec python3 "$SR_SOURCE/bench/dependence_tables.py" --check
