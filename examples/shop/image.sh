#!/bin/bash
# image.sh [OUT.tar]: localhost/shop:dev, the one image of this example (PostgreSQL, nginx, busybox and the four programs
# of image/), made from Debian's packages without a container engine. Made again only when a package or a file changed.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/target/images/shop.tar}
work=$root/target/shop tree=$root/target/shop/tree unpacked=$root/target/shop/unpacked
apt=(-qq -o APT::Sandbox::User=root)                     # root may write where apt's own user may not
mkdir -p "$work/debs" "$(dirname "$out")"

# Only the libraries: the rest of the closure (perl, debconf, the 100 MB of LLVM behind PostgreSQL's JIT) serves installing.
packages() {
  server=$(apt-cache depends postgresql | sed -n 's/^ *Depends: \(postgresql-[0-9]*\)$/\1/p') && [ -n "$server" ] || return 1
  apt-cache depends --recurse --important "$server" nginx | grep -E '^(lib|zlib)' | grep -Ev '^lib(llvm|perl|z3)|-perl$|-common$|-bin$' | sort -u
  printf '%s\n' "$server" "${server/-/-client-}" nginx nginx-common busybox-static
}
fetch() { list=$(packages) && uris=$(apt-get "${apt[@]}" download --print-uris $list) && inputs="$uris $(cat "$0" "$root/tests/cluster/mkoci.py" "$here"/image/*)"; }

fetch 2>/dev/null || { apt-get "${apt[@]}" update; fetch; }
stamp=$(sha256sum <<<"$inputs")
[ -e "$out" ] && [ "$(cat "$out.stamp" 2>/dev/null)" = "$stamp" ] && exit 0

download() { (cd "$work/debs" && apt-get "${apt[@]}" download $list); }
rm -rf "$work/debs"/* "$tree" "$unpacked"
download 2>/dev/null || { apt-get "${apt[@]}" update; fetch; stamp=$(sha256sum <<<"$inputs"); download; }
mkdir -p "$unpacked"
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$unpacked"; done

pg=$(cd "$unpacked" && echo usr/lib/postgresql/*) share=$(cd "$unpacked" && echo usr/share/postgresql/[0-9]*)
take() { for path; do mkdir -p "$tree/$(dirname "$path")"; cp -a "$unpacked/$path" "$tree/$path"; done; }
take $pg/bin/{postgres,initdb,pg_isready,psql} $pg/lib/{plpgsql,dict_snowball}.so usr/sbin/nginx etc/nginx/mime.types bin/busybox
(cd "$unpacked" && find $share -type f ! -path '*/locale/*' ! -path '*/man/*' ! -path '*/extension/*' -o -path '*/extension/plpgsql*') | while read -r path; do take "$path"; done

# Debian's own loader tells what the programs load, so the machine needs none of these libraries itself.
folders=$(echo "$unpacked"/lib/*-linux-gnu "$unpacked"/usr/lib/*-linux-gnu | tr ' ' :) loader=$(echo "$unpacked"/lib/*-linux-gnu/ld-linux-*.so.*)
for program in "$tree"/$pg/bin/* "$tree"/$pg/lib/*.so "$tree/usr/sbin/nginx"; do
  LD_LIBRARY_PATH='' "$loader" --library-path "$folders" --list "$program" > "$work/libraries"
  ! grep '=>' "$work/libraries" | grep -v "=> $unpacked/" || { echo "image.sh: $program lacks the library above; packages() leaves out too much" >&2; exit 1; }
  sed -n 's/.*=> \(.*\) (0x.*/\1/p' "$work/libraries" | sed "s|^$unpacked/||"
done | sort -u | while read -r library; do
  mkdir -p "$tree/lib/$(basename "$(dirname "$library")")" "$tree/lib64"
  cp -L "$unpacked/$library" "$tree/lib/$(basename "$(dirname "$library")")/"
done
cp -L "$loader" "$tree/lib64/"

mkdir -p "$tree/usr/bin" "$tree/srv/api/cgi-bin" "$tree/srv/web" "$tree/usr/share/zoneinfo"      # the server looks for zones; UTC is built in
for applet in $("$tree/bin/busybox" --list); do [ "$applet" = busybox ] || ln -s busybox "$tree/bin/$applet"; done
for program in postgres initdb pg_isready psql; do ln -s "/$pg/bin/$program" "$tree/usr/bin/$program"; done
printf 'root:x:0:0::/:/bin/sh\nshop:x:999:999::/tmp:/bin/sh\n' > "$tree/etc/passwd"     # initdb asks for the name of its uid
printf 'root:x:0:\nshop:x:999:\n' > "$tree/etc/group"
install -m 755 "$here"/image/{database,migrate,api,web} "$tree/usr/bin/"
install -m 755 "$here/image/products.cgi" "$tree/srv/api/cgi-bin/products"
install -m 644 "$here/image/nginx.conf" "$tree/etc/nginx/nginx.conf"
install -m 644 "$here/image/index.html" "$tree/srv/web/index.html"

OCI_USER=999:999 "$root/tests/cluster/mkoci.py" "$out" localhost/shop:dev '["/bin/sh"]' "$tree=/"
echo "$stamp" > "$out.stamp"
rm -rf "$tree" "$unpacked"
