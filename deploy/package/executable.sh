#!/usr/bin/env bash
# Builds the exporter as one executable file that needs no Node.js, for the machine that it runs on: Linux x64 or arm64.
# It embeds Node.js 26, whose --build-sea makes it: the archive of the Node.js project with the SHA-256 in node.sha256,
# which is that of https://nodejs.org/dist/v…/SHASUMS256.txt.
#
#   executable.sh FOLDER   leaves FOLDER/filer-exporter
#
# On a machine that cannot reach nodejs.org, EMBEDDED_NODE is the path of a Node.js 26 in place of the archive.
set -euo pipefail
folder=$(realpath -m "${1:?the folder to leave it in}")
node=${EMBEDDED_NODE:-}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
if [ -z "$node" ]; then
  archive=$(sed -n "s/^.*  \(node-.*-linux-$(node -p process.arch)\.tar\.xz\)$/\1/p" deploy/package/node.sha256)
  version=${archive#node-}
  curl --fail --silent --show-error --location --proto =https --output "$work/$archive" \
    "https://nodejs.org/dist/${version%%-*}/${archive:?no archive for this machine in node.sha256}"
  grep "  $archive\$" deploy/package/node.sha256 | (cd "$work" && sha256sum --check --strict --quiet)
  tar --extract --xz --file "$work/$archive" --directory "$work" "${archive%.tar.xz}/bin/node"
  node=$work/${archive%.tar.xz}/bin/node
fi
node --import tsx deploy/package/bundle.ts "$work/filer-exporter.mjs"
cat >"$work/sea.json" <<JSON
{ "main": "$work/filer-exporter.mjs", "mainFormat": "module", "output": "$work/filer-exporter",
  "disableExperimentalSEAWarning": true }
JSON
"$node" --build-sea "$work/sea.json"
# A file in the place of the old one, which may be running and cannot be written then.
mv "$work/filer-exporter" "$folder/filer-exporter"
"$folder/filer-exporter" --version
