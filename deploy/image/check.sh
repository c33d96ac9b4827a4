#!/usr/bin/env bash
# Builds the image twice and runs it as in production; ends with 0 if every check succeeds. Reaches no image
# registry: bases.sh builds replacements for the base images. As root, on Debian with
#   apt-get install podman buildah runc catatonit
#
#   check.sh [--sbom FILE]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
sbom=
[ "${1:-}" != --sbom ] || sbom=$(realpath -m "${2:?the file for the SBOM}")

work=$(mktemp -d)
export CONTAINERS_CONF="$here/containers.conf"
# A storage of its own, which goes with everything that is built in it.
export CONTAINERS_STORAGE_CONF="$work/storage.conf"
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/storage"\nrunroot = "%s/run"\n' "$work" "$work" >"$work/storage.conf"
name=filer-exporter-check-$$
images=("localhost/$name/node:1" "localhost/$name/runtime:1" "localhost/$name:1" "localhost/$name:2" "localhost/$name/sbom:1")
failures=0

# shellcheck disable=SC2317
cleanup() {
  podman rm --force --time 0 "$name" >/dev/null 2>&1 || true
  [ ! -e "$work/pod.yaml" ] || podman play kube --down "$work/pod.yaml" >/dev/null 2>&1 || true
  umount --lazy "$work/storage/overlay" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

check() { # WHAT EXPECTED FOUND
  if [ "$2" = "$3" ]; then
    echo "ok      $1: $3"
  else
    echo "FAILED  $1: expected $2, found $3"
    failures=$((failures + 1))
  fi
}

build() { # TAG, and what else podman build takes
  local certificates=() path
  # A machine behind a proxy of its own trusts more than the base images do.
  for path in /etc/ssl/certs /usr/share/ca-certificates /usr/local/share/ca-certificates; do
    [ ! -d "$path" ] || certificates+=(-v "$path:$path:ro")
  done
  local tag=$1
  shift
  podman build --quiet --isolation chroot --pull=never --layers --format docker --network host \
    "${certificates[@]}" -v "$work/npmrc:/root/.npmrc:ro" \
    --build-arg "NODE_IMAGE=${images[0]}" --build-arg "RUNTIME_IMAGE=${images[1]}" \
    --build-arg "REVISION=check" --build-arg "SOURCE_DATE_EPOCH=$epoch" --timestamp "$epoch" \
    "$@" -t "$tag" "$work/context" >"$work/build.log" 2>&1 || {
    cat "$work/build.log" >&2
    return 1
  }
}

of_image() { podman image inspect --format "$1" "${images[2]}"; }
of_container() { podman inspect --format "$1" "$name"; }

# The sources of one moment: later edits have no effect.
mkdir "$work/context"
tar -C "$top" -cf - Dockerfile .dockerignore package.json package-lock.json tsconfig.json LICENSE src deploy/image |
  tar -C "$work/context" -xf -
free_port() {
  node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })"
}

has_appliances() { # PORT: yes once a fleet is on the page, or what there is after half a minute
  local count=0
  for _ in $(seq 1 150); do
    count=$(curl --silent --fail "http://127.0.0.1:$1/metrics" | grep -c '^filer_appliance_up' || true)
    if [ "$count" -ge 12 ]; then
      echo yes
      return
    fi
    sleep 0.2
  done
  echo "$count appliances"
}

epoch=$(git -C "$top" log -1 --format=%ct 2>/dev/null || echo 0)
path='ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
"$here/bases.sh" "$work/bases" >/dev/null
podman import --quiet --change "$path" "$work/bases/node.tar" "${images[0]}" >/dev/null
podman import --quiet --change "$path" --change 'USER 65532' "$work/bases/runtime.tar" "${images[1]}" >/dev/null

printf 'registry=%s\ncafile=/etc/ssl/certs/ca-certificates.crt\n' "$(npm config get registry 2>/dev/null)" >"$work/npmrc"
build "${images[2]}"
build "${images[3]}" --no-cache
layers='{{ json .RootFS.Layers }}'
check 'the image has layers' yes "$([ "$(of_image "$layers" | tr , '\n' | grep -c sha256:)" -gt 1 ] && echo yes)"
check 'two builds of one commit give the same layers' \
  "$(of_image "$layers")" "$(podman image inspect --format "$layers" "${images[3]}")"
check 'the image runs as a number that is not root' 65532:65532 "$(of_image '{{ .Config.User }}')"
check 'the image says which revision it is' check "$(of_image '{{ index .Config.Labels "org.opencontainers.image.revision" }}')"

mount=$(podman image mount "${images[2]}")
check 'the image has no shell' '' "$(find "$mount" -path '*bin/*' \( -name sh -o -name bash -o -name dash -o -name busybox \) | head -n 1)"
check 'the image has no npm' '' "$(find "$mount" -name 'npm*' -path '*bin*' | head -n 1)"
check 'the image has the packages of production alone' \
  "$(cd "$top" && npm ls --all --parseable --omit=dev --omit=optional --package-lock-only 2>/dev/null | sed -n 's|.*/node_modules/||p' | sort -u | tr '\n' ' ')" \
  "$(cd "$mount/app" && find node_modules -name package.json -path '*node_modules/*' | sed -nE 's|.*node_modules/((@[^/]+/)?[^/]+)/package.json$|\1|p' | sort -u | tr '\n' ' ')"
podman image unmount "${images[2]}" >/dev/null

build "${images[4]}" --target sbom
mount=$(podman image mount "${images[4]}")
check 'the SBOM is CycloneDX' CycloneDX "$(node -p "JSON.parse(require('fs').readFileSync('$mount/sbom.cdx.json')).bomFormat")"
[ -z "$sbom" ] || cp "$mount/sbom.cdx.json" "$sbom"
podman image unmount "${images[4]}" >/dev/null

port=$(free_port)
podman run --detach --quiet --name "$name" --pull=never --network host --read-only --cap-drop=all \
  --security-opt=no-new-privileges --memory 128m --env "LISTEN_ADDRESS=127.0.0.1:$port" "${images[2]}" --demo >/dev/null 2>"$work/run.log"
check 'the demo has its appliances on /metrics' yes "$(has_appliances "$port")"
check 'the health check says so' healthy "$(podman healthcheck run "$name" 2>/dev/null && echo healthy)"
pid=$(of_container '{{ .State.Pid }}')
check 'the process is not root' 65532 "$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")"
check 'the process has no capability' 0000000000000000 "$(awk '/^CapEff:/ { print $2 }' "/proc/$pid/status")"
check 'its root is read-only' ro "$(awk '$2 == "/" { split($4, option, ","); print option[1] }' "/proc/$pid/mounts")"
memory=$(awk '/^VmRSS:/ { print int($2 / 1024) }' "/proc/$pid/status")

check 'the process that gets signals is Node.js itself' /usr/local/bin/node "$(readlink "/proc/$pid/exe")"
before=$(date +%s%N)
podman kill --signal TERM "$name" >/dev/null
while [ -e "/proc/$pid" ] && [ "$((($(date +%s%N) - before) / 1000000))" -lt 10000 ]; do sleep 0.01; done
took=$((($(date +%s%N) - before) / 1000000))
podman wait "$name" >/dev/null 2>&1
check 'SIGTERM ends it cleanly' 0 "$(of_container '{{ .State.ExitCode }}')"
check 'SIGTERM ends it within a second' yes "$([ "$took" -lt 1000 ] && echo yes || echo "no, $took ms")"
echo "        image $(($(of_image '{{ .Size }}') / 1000000)) MB, demo $memory MiB resident, stopped in $took ms"

# The pod of the Helm chart, as the chart has it, run by podman: with the security context of the restricted standard.
if [ -x "$top/node_modules/.bin/helm" ]; then
  port=$(free_port)
  "$top/node_modules/.bin/helm" template "$name" "$top/deploy/helm/filer-exporter" --show-only templates/deployment.yaml \
    --set "fullnameOverride=$name,demo=true,service.port=$port,image.repository=${images[2]%:*}" --set-string image.tag=1 >"$work/pod.yaml"
  podman play kube "$work/pod.yaml" >"$work/pod.log" 2>&1 || cat "$work/pod.log" >&2
  container=$(podman ps --filter "name=$name-pod-0-filer-exporter" --format '{{ .ID }}')
  healthy=no
  for _ in $(seq 1 150); do
    if podman exec "$container" node healthcheck.mjs; then
      healthy=yes
      break
    fi
    sleep 0.2
  done
  check 'the pod of the chart responds' yes "$healthy"
  pid=$(podman inspect --format '{{ .State.Pid }}' "$container")
  check 'the process of the pod is not root' 65532 "$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")"
  check 'the process of the pod has no capability' 0000000000000000 "$(awk '/^CapEff:/ { print $2 }' "/proc/$pid/status")"
  check 'the process of the pod cannot get more rights' 1 "$(awk '/^NoNewPrivs:/ { print $2 }' "/proc/$pid/status")"
  check 'the root of the pod is read-only' ro "$(awk '$2 == "/" { split($4, option, ","); print option[1] }' "/proc/$pid/mounts")"
  podman play kube --down "$work/pod.yaml" >/dev/null 2>&1
fi

exit "$((failures > 0))"
