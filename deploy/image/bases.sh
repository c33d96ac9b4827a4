#!/usr/bin/env bash
# Puts together, from Debian's packages and npm's own build of Node.js, replacements for the two base images that the
# Dockerfile names, for machines that reach no image registry. As root.
#
#   bases.sh FOLDER   leaves FOLDER/node.tar and FOLDER/runtime.tar, root file systems for `podman import`
set -euo pipefail
folder=$(realpath -m "${1:?the folder to work in}")
suite=trixie
line=$(tr -d '[:space:]' <"$(dirname "${BASH_SOURCE[0]}")/../../.nvmrc")

# What the runtime's maker takes of Debian for programs in C, and what npm needs in addition to Node.js.
runtime_packages=(base-files libc6 libgcc-s1 libstdc++6 netbase tzdata)
build_packages=(dash coreutils findutils libacl1 libattr1 libgmp10 libselinux1 libpcre2-8-0 libssl3t64 libcap2 zlib1g libzstd1)

mirror=$(awk '/^URIs:/ { print $2; exit } /^deb / { print $2; exit }' \
  /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null || true)
[ -n "$mirror" ] || mirror=http://deb.debian.org/debian

mkdir -p "$folder"/apt/lists/partial "$folder"/apt/cache/archives/partial "$folder"/packages "$folder"/npm
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$folder/apt/sources.list"
apt=(-o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/apt/lists"
  -o "Dir::Cache=$folder/apt/cache" -o Dir::State::status=/dev/null -o APT::Sandbox::User=root)
apt-get "${apt[@]}" -qq update
(cd "$folder/packages" && apt-get "${apt[@]}" -qq download "${runtime_packages[@]}" "${build_packages[@]}")

unpack() { # ROOT PACKAGE…
  local root=$1 package file
  shift
  rm -rf "$root"
  mkdir -p "$root"
  for package in "$@"; do
    for file in "$folder/packages/${package}"_*.deb; do dpkg-deb --fsys-tarfile "$file" | tar -x --keep-directory-symlink -C "$root"; done
  done
  rm -rf "$root"/usr/share/{doc,man,locale,info}
  mkdir -p "$root/tmp" "$root/etc"
  chmod 1777 "$root/tmp"
  printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$root/etc/passwd"
  printf 'root:x:0:\nnonroot:x:65532:\n' >"$root/etc/group"
}

npm install --silent --no-audit --no-fund --no-save --prefix "$folder/npm" "node-linux-$(node -p process.arch)@$line" "npm@11"

unpack "$folder/runtime" "${runtime_packages[@]}"
unpack "$folder/node" "${runtime_packages[@]}" "${build_packages[@]}"
ln -sf dash "$folder/node/usr/bin/sh"
install -D -m755 "$folder/npm/node_modules/node-linux-$(node -p process.arch)/bin/node" "$folder/node/usr/local/bin/node"
mkdir -p "$folder/node/usr/local/lib/node_modules"
cp -a "$folder/npm/node_modules/npm" "$folder/node/usr/local/lib/node_modules/"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$folder/node/usr/local/bin/npm"

for name in node runtime; do
  tar -C "$folder/$name" --sort=name --mtime=@0 --numeric-owner -cf "$folder/$name.tar" .
  rm -rf "${folder:?}/$name"
done
