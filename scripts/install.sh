#!/usr/bin/env bash
# Installs the Debian packages of the named sections of packages.txt that are missing.
#   scripts/install.sh run test
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
wanted=()
for section in "$@"; do
  while read -r first rest; do
    # shellcheck disable=SC2206
    [ "$first" = "$section" ] && wanted+=($rest)
  done < "$here/packages.txt"
done
missing=()
for package in "${wanted[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "need root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
