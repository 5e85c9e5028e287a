#!/bin/bash
# published.sh: the first five minutes of README.md, as they stand there, with a release out of a registry. The registry runs on the
# node of this machine's cluster, which has to be up and without sluice, and stands in for the one that the chart names: containerd
# asks it by that name, and Helm is told its address. Takes away what it made; fails where sluice is not there within a minute.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/cluster state=${CLUSTER_STATE:-/var/lib/sluice-cluster}
registry=172.31.255.2:19500
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
architecture=$(dpkg --print-architecture)
if helm status sluice --namespace sluice-system >/dev/null 2>&1; then echo 'published: sluice is in this cluster; uninstall it first' >&2; exit 1; fi
folder=$(mktemp -d)
serves=''

leave() {
  local status=$?
  helm uninstall sluice --namespace sluice-system --wait >/dev/null 2>&1 || true
  kubectl delete --ignore-not-found --wait=false -f "$folder/shop.yaml" >/dev/null 2>&1 || true
  kubectl delete --ignore-not-found namespace sluice-system >/dev/null 2>&1 || true
  [ -z "$serves" ] || kill -- -"$serves" 2>/dev/null || true
  rm -rf "$folder" "$state/registries"
  exit $status
}
trap leave EXIT

# Of the programs that are there already: how the compiler optimised them makes no difference here.
make release VERSION="$version" ARCHES="$architecture" PLUGINS= PROFILE="${PROFILE:-release}"
# Where the pages say that sluice is published.
home() { sed -n "s/^$1=//p" release/home; }
name=$(home registry)
name=${name%%/*} releases=$(home repository)/releases/download
setsid "$here/cluster" run crane registry serve --address "$registry" >"$folder/registry.log" 2>&1 &
serves=$!
for _ in $(seq 9000); do ! curl --silent --fail --output /dev/null "http://$registry/v2/" || break; sleep 0.1; done
mkdir -p "$state/registries/$name"
printf 'server = "http://%s"\n' "$registry" > "$state/registries/$name/hosts.toml"
PLAIN=1 release/publish.sh "$version" "$registry"

# blocks PAGE MARKS: what stands in the blocks with those marks.
blocks() { awk -v "marks=\`\`\`$2" '/^```/ { on = !within && $0 == marks; within = !within; next } on' "$1"; }
# The database of the page is there after ten seconds; here it is once what the page shows was seen, on however slow a machine.
blocks README.md yaml,file=shop.yaml | sed 's|sleep 10;|until [ -e /tmp/seen ]; do sleep 0.1; done;|' > "$folder/shop.yaml"
grep -q /tmp/seen "$folder/shop.yaml"
# README.md's first steps follow its installation; a line that stands on several pages runs once.
first() { blocks README.md sh,first; }
{ blocks README.md sh,published; first; for page in README.md docs/*.md; do blocks "$page" sh,published; done; } | awk '!told[$0]++' > "$folder/commands"
# What looks at the pods prints what the page shows below it.
first | sed '0,/^kubectl apply/d' > "$folder/looks"
blocks README.md '' > "$folder/shown"
grep -q "oci://$name" "$folder/commands"
grep -q 'sh install.sh' "$folder/commands"
mkdir "$folder/bin" "$folder/releases"
ln -s "$PWD/target/release-$version" "$folder/releases/v$version"
# install.sh asks there, too.
export SLUICE_RELEASES=file://$folder/releases
export PATH=$folder/bin:$PATH
# Each address of the page is that of what was made here, for this kind of machine; a folder stands in for root's.
helm() { case $1 in install | upgrade) command helm "${@/oci:\/\/$name/oci:\/\/$registry}" --plain-http ;; *) command helm "$@" ;; esac; }
curl() { command curl "${@/"$releases"/$SLUICE_RELEASES}"; }
sudo() { "$@" --directory "$folder/bin"; }

# What is another each time: words of digits and others, the ends of names, and how far columns are apart.
masked() { sed -E 's/[^ ]*([0-9][^0-9 ]|[^0-9 ][0-9])[^ ]*/#/g; s/[^ ]*-[b-df-hj-np-tv-xz2456789]{5}( |$)/# /g; s/ +/ /g; s/ $//; /^$/d' "$1"; }
shows() {
  for _ in $(seq 1800); do
    while read -r look; do eval "$look" || [ $? = 3 ]; done < looks > printed
    if diff <(masked shown) <(masked printed) > differs; then return; fi
    sleep 0.5
  done
  echo 'published: README.md shows something else (<) than is printed (>):' >&2
  cat differs >&2
  return 1
}

cd "$folder"
start=$EPOCHSECONDS
while read -r command; do
  echo "\$ $command"
  eval "$command" || [ $? = 3 ] # `status` says so that something waits
  [[ $command != 'helm install'* ]] || installed=$((EPOCHSECONDS - start))
  [[ $command != 'kubectl apply'* ]] || shows
done < commands
kubectl exec deployment/database -- touch /tmp/seen
kubectl rollout status deployment/web --timeout=15m
echo "published: installed from the registry in $installed s, everything runs after $((EPOCHSECONDS - start)) s"
kubectl get pods --namespace sluice-system -o 'jsonpath={.items[*].spec.containers[0].image}' | tr ' ' '\n' | grep -q "^$name/.*:$version@sha256:"
kubectl get pods -l app=web -o 'jsonpath={.items[*].status.initContainerStatuses[0].imageID}' | grep -q "^$name/.*@sha256:"
[[ $(kubectl sluice version) == "kubectl sluice $version"* ]]
