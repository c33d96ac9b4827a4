#!/usr/bin/env bash
# Prints what the tags of the two base images stand for at this moment, for the build arguments NODE_DIGEST and RUNTIME_DIGEST.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for name in NODE RUNTIME; do
  image=$(sed -n "s/^ARG ${name}_IMAGE=//p" Dockerfile)
  digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
  echo "${name,,}=@${digest:?no digest of $image}"
done
