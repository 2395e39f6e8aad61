#!/usr/bin/env bash
# The tables in the docs are those of the recorded results.
exec python3 "$SR_SOURCE/bench/dependence_tables.py" --check
