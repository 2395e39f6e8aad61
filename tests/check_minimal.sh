#!/usr/bin/env bash
# A build without the optional libraries works and says what it lacks.
set -euo pipefail
[ -n "${SR_FULL:-}" ] || { echo "builds the library once more: for ./test.sh --full"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake -S "$SR_SOURCE" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DSR_WERROR=ON \
  -DSR_WITHOUT="netcdf;gdal;xgboost;arpack" >/dev/null
cmake --build "$folder" >"$folder/log" 2>&1 || { tail -30 "$folder/log"; exit 1; }
"$folder/specroute" --version -v | tee "$folder/version"
grep -q 'without  netcdf gdal xgboost arpack' "$folder/version"
touch "$folder/x.nc" "$folder/x.tif"
printf 'CDF\1aaaaaaaaaaaa' >"$folder/x.nc"
code=0
"$folder/specroute" diagnose "$folder/x.nc" 2>"$folder/error" || code=$?
[ "$code" -eq 1 ] && grep -q libnetcdf "$folder/error" || { cat "$folder/error"; echo "exit $code"; exit 1; }
