#!/usr/bin/env bash
# Puts the single executable, the systemd unit and the rules into a Debian package. Needs dpkg-deb.
#
#   deb.sh FOLDER   leaves FOLDER/filer-exporter_….deb; executable.sh builds FOLDER/filer-exporter unless it is there and from
#                   this commit
set -euo pipefail
folder=$(realpath -m "${1:?the folder to leave it in}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
case $("$folder/filer-exporter" --version 2>/dev/null || true) in
*"revision $revision,"*) ;;
*) deploy/package/executable.sh "$folder" ;;
esac
version=$(node -p "require('./package.json').version")
maintainer='filer-exporter maintainers <maintainers@filer-exporter.invalid>'
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
case $(node -p process.arch) in
x64) architecture=amd64 ;;
arm64) architecture=arm64 ;;
*)
  echo "deb.sh: $(node -p process.arch) is not supported; expected x64 or arm64" >&2
  exit 1
  ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
install -D -m 755 "$folder/filer-exporter" "$root/usr/bin/filer-exporter"
install -D -m 755 deploy/systemd/filer-exporter-doctor "$root/usr/bin/filer-exporter-doctor"
install -D -m 644 deploy/systemd/filer-exporter.service "$root/lib/systemd/system/filer-exporter.service"
install -D -m 644 deploy/systemd/filer-exporter.env "$root/etc/filer-exporter/filer-exporter.env"
install -d -m 700 "$root/etc/filer-exporter/secrets"
install -D -m 644 -t "$root/usr/share/filer-exporter" deploy/prometheus/filer-exporter.rules.yml
install -D -m 644 -t "$root/usr/share/filer-exporter/dashboards" grafana/dashboards/*.json
doc=$root/usr/share/doc/filer-exporter
install -D -m 644 -t "$doc" README.md CHANGELOG.md .env.example
install -D -m 644 -t "$doc/docs" docs/*.md
install -D -m 644 -t "$doc/docs/install" docs/install/*.md
install -D -m 644 -t "$doc/docs/runbooks" docs/runbooks/*.md
install -D -m 644 -t "$doc/docs/images" docs/images/*
install -D -m 644 -t "$doc/grafana" grafana/README.md
install -D -m 644 -t "$doc/deploy/prometheus" deploy/prometheus/README.md deploy/prometheus/*.yml
install -D -m 644 -t "$doc/deploy/helm/filer-exporter" deploy/helm/filer-exporter/README.md
printf 'filer-exporter (%s) stable; urgency=medium\n\n  * CHANGELOG.md lists the changes.\n\n -- %s  %s\n' \
  "$version" "$maintainer" "$(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
manual=$root/usr/share/man/man8
install -d -m 755 "$manual"
{
  printf '.TH FILER-EXPORTER 8\n.SH NAME\nfiler-exporter, filer-exporter-doctor \\- Prometheus exporter for a global file system\n'
  printf '.SH DESCRIPTION\nfiler-exporter-doctor runs filer-exporter once with the settings and secrets of its service.\n.nf\n'
  "$folder/filer-exporter" --help | sed 's/\\/\\e/g; s/-/\\-/g; s/^[.'"'"']/\\\&&/'
} | gzip -9n >"$manual/filer-exporter.8.gz"
echo '.so man8/filer-exporter.8' | gzip -9n >"$manual/filer-exporter-doctor.8.gz"
chmod 644 "$doc/changelog.gz" "$manual"/*.gz
install -D -m 644 LICENSE "$root/usr/share/doc/filer-exporter/copyright"

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: filer-exporter
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: net
Priority: optional
Depends: libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Description: Prometheus exporter for a global file system's two cloud services
 Polls the file acceleration telemetry service and the portal service within
 their request limits, and serves what they say as Prometheus metrics. One
 executable file; Node.js is not needed.
CONTROL
echo /etc/filer-exporter/filer-exporter.env >"$root/DEBIAN/conffiles"
# The service starts when the administrator has set the services, so installing it enables nothing.
cat >"$root/DEBIAN/postinst" <<'SCRIPT'
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ -n "$2" ] && [ -d /run/systemd/system ]; then systemctl try-restart filer-exporter.service; fi
SCRIPT
cat >"$root/DEBIAN/prerm" <<'SCRIPT'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now filer-exporter.service; fi
SCRIPT
cat >"$root/DEBIAN/postrm" <<'SCRIPT'
#!/bin/sh
set -e
if [ "$1" = purge ]; then
  rm -rf /etc/filer-exporter/secrets
  # systemd keeps the state of a temporary user in private, with a link to it.
  for name in filer-exporter filer-exporter-doctor; do rm -rf "/var/lib/private/$name" "/var/lib/$name"; done
  if [ -d /etc/filer-exporter ]; then rmdir --ignore-fail-on-non-empty /etc/filer-exporter; fi
fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
SCRIPT
chmod 755 "$root"/DEBIAN/{postinst,prerm,postrm}

dpkg-deb --build --root-owner-group -Zzstd "$root" "$folder/filer-exporter_${version}_${architecture}.deb"
