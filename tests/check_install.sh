#!/usr/bin/env bash
# Installs into a fresh folder and builds a separate consumer through CMake and through pkg-config, in
# C and in C++; every public header stands alone; only sr_ names are exported.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ASAN_OPTIONS=detect_leaks=0
flags=(-Wall -Wextra -Werror -pedantic)
[ -z "${SR_SANITIZE:-}" ] || flags+=("-fsanitize=$SR_SANITIZE")
cmake --install "$SR_BUILD" --prefix "$folder/usr" >/dev/null
libdir=$(dirname "$(find "$folder/usr" -name specroute.pc)")/..
export LD_LIBRARY_PATH=$libdir

cmake -S "$SR_SOURCE/tests/consumer" -B "$folder/build" -DCMAKE_PREFIX_PATH="$folder/usr" \
  -DCMAKE_C_FLAGS="${flags[*]}" -DCMAKE_CXX_FLAGS="${flags[*]}" >/dev/null
cmake --build "$folder/build" >/dev/null
"$folder/build/consumer"
"$folder/build/consumer_cxx"

export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra options <<<"$(pkg-config --cflags --libs specroute)"
cc -std=c17 "${flags[@]}" "$SR_SOURCE/tests/consumer/consumer.c" "${options[@]}" -o "$folder/by_pkg_config"
"$folder/by_pkg_config"

for header in "$folder"/usr/include/specroute/*.h; do
  printf "#include <specroute/%s>\nextern int alone;\n" "$(basename "$header")" >"$folder/one.c"
  cc -std=c17 "${flags[@]}" -I"$folder/usr/include" -fsyntax-only "$folder/one.c"
  c++ -std=c++17 "${flags[@]}" -I"$folder/usr/include" -fsyntax-only -x c++ "$folder/one.c"
done

# What a sanitizer or the coverage runtime (mangle_path) brings along is not ours.
library=$(find "$folder/usr" -name 'libspecroute.so.0')
[ "$(objdump -p "$library" | awk '/SONAME/ {print $2}')" = libspecroute.so.0 ]
foreign=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^sr_[a-z]' | grep -v -e '^_' -e asan -e ubsan -e '^mangle_path$' -e '^$' || true)
[ -z "$foreign" ] || { echo "exported beside sr_: $foreign"; exit 1; }
for file in bin/specroute share/man/man1/specroute.1 share/bash-completion/completions/specroute \
    share/zsh/site-functions/_specroute share/fish/vendor_completions.d/specroute.fish; do
  [ -s "$folder/usr/$file" ] || { echo "$file was not installed"; exit 1; }
done
"$folder/usr/bin/specroute" --version

# The Debian package holds the same files. Sanitized libraries are not packaged.
[ -z "${SR_SANITIZE:-}" ] || exit 0
(cd "$SR_BUILD" && cpack -G DEB -B "$folder/deb" >/dev/null)
# Read whole before they are searched: a pipe that closes early is a failure of dpkg-deb.
contents=$(dpkg-deb --contents "$folder"/deb/specroute_*.deb)
depends=$(dpkg-deb --field "$folder"/deb/specroute_*.deb Depends)
grep -q ' ./usr/bin/specroute$' <<<"$contents" || { echo "the package lacks the command"; exit 1; }
# Unpacked by dpkg into a root of its own, which has no shell for the script that calls ldconfig (check_docker
# installs to the end); what it depends on is the machine's.
root=$folder/root
mkdir -p "$root"/var/lib/dpkg/{info,updates}
touch "$root/var/lib/dpkg/status"
if [ "$(id -u)" = 0 ]; then
  dpkg --root="$root" --force-depends --unpack "$folder"/deb/specroute_*.deb >/dev/null 2>&1
  dpkg --root="$root" --status specroute | grep -q '^Status: install ok unpacked$'
else
  dpkg-deb --extract "$folder"/deb/specroute_*.deb "$root"
fi
(unset LD_LIBRARY_PATH && "$root/usr/bin/specroute" --version)
grep -q libc6 <<<"$depends" || { echo "the package depends on: $depends"; exit 1; }
