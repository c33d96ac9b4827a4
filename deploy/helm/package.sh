#!/bin/sh
# package.sh OUT: packages the chart of a release into the folder OUT. The addresses of the repository and of the image, which
# only a release knows, take the place of the examples: REPOSITORY=https://github.com/… IMAGE=ghcr.io/…
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chart=$folder/filer-exporter
cp -RL "$top/deploy/helm/filer-exporter" "$chart"
find "$chart" -type f ! -name '*.json' -exec sed -i \
  "s|https://git.example.com/filer-exporter|$REPOSITORY|; s|registry.example.com/filer-exporter|$IMAGE|" {} +
sed -i "s|^  repository: filer-exporter\$|  repository: $IMAGE|" "$chart/values.yaml"
"$top/test/deploy/tools/node_modules/.bin/helm" package "$chart" --destination "$1"
