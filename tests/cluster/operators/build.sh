#!/bin/bash
# build.sh BIN [check]: the operators into BIN/operators, each from its own Go module at the version that versions.env pins, with
# the manifests of its release. What is there at that version is kept. With "check" nothing is built: it fails where something would be.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$1/operators
check=${2:-}
# shellcheck source=versions.env
. "$here/versions.env"

# manifests FILE…: definitions go into crds; of a folder with a kustomization what it builds, by the name of the program.
manifests() {
  local file
  for file; do
    case $file in
    config/default) kubectl kustomize "$file" 2>/dev/null > "$bin/$name.yaml" ;;
    releases/*) install -m 644 "$file" "$bin/$name.yaml" ;;
    *) install -m 644 "$file" "$bin/crds/" ;;
    esac
  done
}

# shellcheck source=../modules.sh
. "$here/../modules.sh"

# cert_manager: its controllers, from the module of its packages, with a main of our own (cert-manager/main.go says why).
cert_manager() {
  local key work folder
  key="$CERT_MANAGER $(sha256sum "$here/cert-manager/main.go")"
  [ "$(cat "$bin/.cert-manager" 2>/dev/null)" = "$key" ] && return
  [ -z "$check" ] || exit 1
  echo "  -> cert-manager $CERT_MANAGER"
  work=$(mktemp -d)
  folder=$(cd "$work" && said go mod download -json "$certmanager@v$CERT_MANAGER" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  sed -e '/=> \.\//d' -e 's/^module .*/module main/' "$folder/go.mod" > "$work/go.mod"
  echo "require $certmanager v$CERT_MANAGER" >> "$work/go.mod"
  cat "$folder/go.sum" > "$work/go.sum" # not cp, which would keep it from being written
  cp "$here/cert-manager/main.go" "$work/"
  (cd "$work" && said go build -trimpath -gcflags=all=-dwarf=false -ldflags '-s -w' -mod=mod -o "$bin/cert-manager" .)
  (cd "$folder" && manifests deploy/crds/*.yaml)
  rm -r "$work"
  echo "$key" > "$bin/.cert-manager"
}

# postgres: a root folder of Debian's PostgreSQL, for an image.
postgres() {
  [ "$(cat "$bin/.postgres" 2>/dev/null)" = "$POSTGRES" ] && return
  [ -z "$check" ] || exit 1
  echo "  -> postgresql-$POSTGRES"
  rm -rf "$bin/postgres"
  debootstrap --variant=minbase --include="postgresql-$POSTGRES,ca-certificates" bookworm "$bin/postgres" >"$bin/postgres.log"
  rm -rf "$bin"/postgres/{var/cache/apt/archives,usr/share/{doc,man,locale},var/lib/apt/lists}
  # The user that CloudNativePG runs it as.
  sed -i 's/^postgres:x:[0-9]*:[0-9]*:/postgres:x:26:26:/' "$bin/postgres/etc/passwd"
  sed -i 's/^postgres:x:[0-9]*:/postgres:x:26:/' "$bin/postgres/etc/group"
  (cd "$bin/postgres/usr/local/bin" && ln -s "../../lib/postgresql/$POSTGRES/bin"/* .) # where a program is found without a PATH
  echo "$POSTGRES" > "$bin/.postgres"
}

certmanager=github.com/cert-manager/cert-manager
cert_manager
prometheus=github.com/prometheus-operator/prometheus-operator
get prometheus-operator $prometheus "v$PROMETHEUS_OPERATOR" ./cmd/operator 'example/prometheus-operator-crd/*.yaml'
get jobset sigs.k8s.io/jobset "v$JOBSET" . config/default
get kueue sigs.k8s.io/kueue "v$KUEUE" ./cmd/kueue config/default
get cnpg github.com/cloudnative-pg/cloudnative-pg "v$CLOUDNATIVE_PG" ./cmd/manager "releases/cnpg-$CLOUDNATIVE_PG.yaml"
postgres
