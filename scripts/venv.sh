#!/usr/bin/env bash
# Makes build/venv with the Python packages of the tests, unless it has them. It is kept.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=build/venv
needed="numpy scipy scikit-learn pandas polars pyarrow matplotlib pytest joblib hypothesis lightgbm onnxruntime ale-py"
[ "$(cat "$venv/.packages" 2>/dev/null)" = "$needed" ] && exit 0
echo "making $venv"
python3 -m venv "$venv"
# shellcheck disable=SC2086
"$venv/bin/pip" install -q --disable-pip-version-check $needed
echo "$needed" > "$venv/.packages"
