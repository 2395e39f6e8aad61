#!/usr/bin/env bash
# The long checks of the Python package: a wheel built in a clean directory and installed into an empty
# environment, its tests in full, its types, the tutorials executed, the reference built.
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
