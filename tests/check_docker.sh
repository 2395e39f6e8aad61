#!/usr/bin/env bash
# The lines of the Dockerfile without a Docker daemon: each stage in a folder that debootstrap fills, RUN
# lines in a chroot, COPY by cp. Minutes of work, root and the network: with SR_FULL=1 alone.
set -euo pipefail
[ -n "${SR_FULL:-}" ] || { echo "minutes of work: set SR_FULL=1"; exit 77; }
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "needs root and debootstrap"; exit 77; }
cd "$SR_SOURCE"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
release=$(awk '$1 == "FROM" {split($2, part, /[:-]/); print part[2]; exit}' Dockerfile)
[ "$release" = 12 ] || { echo "the Dockerfile starts from Debian $release, expected 12"; exit 1; }
debootstrap --variant=minbase bookworm "$folder/base" >"$folder/log" 2>&1 ||
  { tail -n 3 "$folder/log"; echo "debootstrap cannot reach its mirror"; exit 77; }
cp /etc/resolv.conf "$folder/base/etc/resolv.conf"
cp -a "$folder/base" "$folder/build"
mv "$folder/base" "$folder/image"
# Lines that end in a backslash go on; of each stage the RUN lines, in order.
runs() { # runs STAGE
  sed -e ':a' -e '/\\$/N; s/\\\n//; ta' Dockerfile | awk -v stage="$1" '$1 == "FROM" {s++} s == stage && $1 == "RUN" {$1 = ""; print}'
}
inside() { # inside ROOT FOLDER COMMAND
  chroot "$1" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -ec "cd $2; $3"
}
mkdir "$folder/build/source" "$folder/build/packages"
git archive HEAD | tar -x -C "$folder/build/source"
inside "$folder/build" /source "$(runs 1)"
cp "$folder"/build/packages/*.deb "$folder/image/tmp/"
rm -rf "$folder/build"
inside "$folder/image" / "$(runs 2)"
inside "$folder/image" / "$(awk -F'"' '$1 ~ /^ENTRYPOINT/ {print $2}' Dockerfile) --version"
printf 'a,y\n1,0\n2,1\n' >"$folder/image/small.csv"
inside "$folder/image" / "specroute diagnose small.csv --target y" >/dev/null
echo "the Dockerfile's lines made a command that runs"
