#!/usr/bin/env bash
# Builds the exporter as one executable file that needs no Node.js, for the machine that it runs on: Linux x64 or arm64.
# Needs npm; takes Node.js 26, whose --build-sea makes it, from npm.
#
#   executable.sh FOLDER   leaves FOLDER/filer-exporter
set -euo pipefail
folder=$(realpath -m "${1:?the folder to leave it in}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
line=26

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --no-save --prefix "$work/node" "node-linux-$(node -p process.arch)@$line"
node --import tsx deploy/package/bundle.ts "$work/filer-exporter.mjs"
cat >"$work/sea.json" <<JSON
{ "main": "$work/filer-exporter.mjs", "mainFormat": "module", "output": "$folder/filer-exporter",
  "disableExperimentalSEAWarning": true }
JSON
"$work/node/node_modules/node-linux-$(node -p process.arch)/bin/node" --build-sea "$work/sea.json"
"$folder/filer-exporter" --version
