#!/usr/bin/env bash
# Builds kube-apiserver 1.20.2 from Debian 12's own source package, the newest that a machine without Kubernetes' downloads
# can have. Some five minutes on two idle cores. As root, after
#   apt-get install golang-go rsync make gcc etcd-server
#
#   build-api-server.sh FOLDER   leaves FOLDER/kube-apiserver
set -euo pipefail
folder=$(realpath -m "${1:?the folder to work in}")
mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
[ -n "$mirror" ] || mirror=http://deb.debian.org/debian

mkdir -p "$folder"/apt/{lists,cache/archives}/partial "$folder"/packages "$folder"/go/src/k8s.io "$folder"/home
for kind in deb deb-src; do
  echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main"
done >"$folder/apt/sources.list"
apt=(-o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/apt/lists"
  -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User=root)
apt-get "${apt[@]}" -qq update
cd "$folder/packages"
apt-get "${apt[@]}" -qq source --download-only kubernetes
apt-get "${apt[@]}" -qq download golang-github-modern-go-reflect2-dev

tar -xzf kubernetes_*.orig.tar.gz -C "$folder/go/src/k8s.io"
rm -rf "$folder/go/src/k8s.io/kubernetes"
mv "$folder"/go/src/k8s.io/kubernetes-* "$folder/go/src/k8s.io/kubernetes"
cd "$folder/go/src/k8s.io/kubernetes"

# The reflect2 that it comes with breaks under Go 1.18 and newer at the first custom resource; Debian's own does not.
reflect2=vendor/github.com/modern-go/reflect2
dpkg-deb --fsys-tarfile "$folder"/packages/golang-github-modern-go-reflect2-dev_*.deb | tar -x -C "$folder/packages"
rm -f "$reflect2"/*.go "$reflect2"/*.s
find "$folder/packages/usr/share/gocode/src/github.com/modern-go/reflect2" -maxdepth 1 \( -name '*.go' -o -name '*.s' \) \
  ! -name '*_test.go' -exec cp -t "$reflect2" {} +

export GOPATH="$folder/go" HOME="$folder/home" GO111MODULE=off CGO_ENABLED=0
export KUBE_GIT_VERSION=v1.20.2 KUBE_GIT_MAJOR=1 KUBE_GIT_MINOR=20 KUBE_GIT_COMMIT=debian KUBE_GIT_TREE_STATE=clean
make WHAT=cmd/kube-apiserver
cp -L _output/bin/kube-apiserver "$folder/"
