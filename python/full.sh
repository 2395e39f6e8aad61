#!/usr/bin/env bash
# The long checks of the Python package: `pip install .` and a wheel, each built in a clean directory and
# installed into an empty environment, its tests in full, exports read by onnxruntime and treelite, its
# types, the tutorials executed, the reference built.
#   python/full.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive HEAD | tar -x -C "$work" --one-top-level=source
cd "$work/source"
python3 -m venv "$work/venv"
pip() { "$work/venv/bin/pip" -q --disable-pip-version-check "$@"; }
echo "== pip install ."
python3 -m venv "$work/plain"
"$work/plain/bin/pip" -q --disable-pip-version-check install .
(cd "$work" && "$work/plain/bin/specroute" --version && "$work/plain/bin/python" -c '
import numpy, specroute
rng = numpy.random.default_rng(0)
X = rng.normal(size=(300, 3))
model = specroute.SpecrouteClassifier(n_estimators=10, random_state=0).fit(X, X[:, 0] > 0)
assert 0 <= model.honest_error_ < 0.3, model.honest_error_')
rm -rf "$work/plain" # what was compiled for it serves the wheel
pip wheel . --no-deps -w "$work/wheels"
wheel=$(echo "$work"/wheels/specroute-*-py3-none-linux_*.whl)
echo "== $(basename "$wheel"), $(($(stat -c %s "$wheel") / 1000)) kB"
pip install "$wheel[test]"
cd "$work"
library=$("$work/venv/bin/python" -c 'import specroute, os; print(os.path.dirname(specroute.__file__) + "/lib/libspecroute.so")')
# libc, libm and what belongs to them, nothing else.
if ldd "$library" | grep -vE 'linux-vdso|ld-linux|lib(c|m|pthread|dl|gcc_s)\.so'; then
  echo "the wheel's library needs more than libc and libm" >&2
  exit 1
fi
SR_FULL=1 MPLBACKEND=Agg "$work/venv/bin/python" -m pytest -x -p no:cacheprovider "$source/python/tests"
echo "== exports"
pip install treelite
exports=$(SR_COMMAND="$work/venv/bin/specroute" "$work/venv/bin/python" "$source/tests/check_export.py" 2>&1) || { echo "$exports"; exit 1; }
if grep -q skipped <<<"$exports"; then echo "$exports"; exit 1; fi
pip install "$wheel[docs]" mypy
echo "== types"
"$work/venv/bin/python" -m mypy --strict --config-file "$source/python/typing/mypy.ini" "$source/python/typing/sample.py"
"$work/venv/bin/python" -m mypy.stubtest specroute --ignore-missing-stub --ignore-unused-allowlist \
  --mypy-config-file "$source/python/typing/mypy.ini" --allowlist "$source/python/typing/differs.txt"
for tutorial in "$source"/docs/tutorials/*.ipynb; do
  echo "== $(basename "$tutorial")"
  (cd "$source/docs/tutorials" && "$work/venv/bin/python" - "$tutorial" <<'PYTHON'
import sys
import nbclient
import nbformat

nbclient.NotebookClient(nbformat.read(sys.argv[1], 4), timeout=900).execute()
PYTHON
  )
done
"$work/venv/bin/python" -m sphinx -q -W --keep-going "$source/docs/python" "$work/html"
test -s "$work/html/index.html"
echo "== the Python package passes in full"
