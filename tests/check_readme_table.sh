#!/usr/bin/env bash
# The picture and the table of the README are what the recorded results give.
set -euo pipefail
python3 "$SR_SOURCE/scripts/picture.py" --check
