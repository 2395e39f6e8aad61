#!/usr/bin/env bash
# The page of benchmarks is what the recorded lines give.
exec python3 "$SR_SOURCE/scripts/benchmarks.py" --check
