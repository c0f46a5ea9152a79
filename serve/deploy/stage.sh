#!/usr/bin/env bash
# Puts into a folder what the image holds: Node, the libraries that it needs, the packages ptlite and @ptlite/serve, and a user.
# The Dockerfile runs it in its first stage, image-size.mjs where there is no Docker. The clone has to be built (setup.sh).
#   serve/deploy/stage.sh FOLDER
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
[ ! -e "$out" ] || { echo "$0: $out is there already" >&2; exit 1; }
mkdir -p "$out"/{app,etc,models,tmp,usr/bin}
chmod 1777 "$out/tmp"

# Node without the symbols that debuggers use
node=$(readlink -f "$(command -v node)")
cp "$node" "$out/usr/bin/node"
strip --strip-unneeded "$out/usr/bin/node"

# what the loader finds for Node and the kernel library, and the loader, under the names by which they are asked for
{ ldd "$node"; ldd "$root/dist/libptlite.so"; } | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' | sort -u |
  while read -r library; do
    mkdir -p "$out$(dirname "$library")"
    cp -L "$library" "$out$library"
  done

# the packages as npm would install them, but for maps, declarations and what only developers have
app=$out/app
cp "$root/serve/package.json" "$root/serve/package-lock.json" "$app"
[ ! -e "$root/serve/.npmrc" ] || cp "$root/serve/.npmrc" "$app"
npm --prefix "$app" ci --prefer-offline --omit=dev --omit=peer --ignore-scripts --no-fund --no-audit --loglevel=error
rm -f "$app/.npmrc" "$app/package-lock.json" "$app/node_modules/.package-lock.json"
cp -r "$root/serve/dist" "$app/dist"
mkdir -p "$app/node_modules/ptlite"
cp "$root/package.json" "$root/LICENSE" "$app/node_modules/ptlite"
cp -r "$root/dist" "$app/node_modules/ptlite/dist"
rm -rf "$app/node_modules/ptlite/dist/.cache" "$app/dist/types"
# the server loads the library in parts: the whole one is for bundlers, selective builds are made in clones
rm -f "$app/node_modules/ptlite/dist/"{whole.js,selective-build.js}
find "$app" -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.markdown' -o -name '*.md' ! -iname 'license*' \) -delete
find "$app" -type d \( -name test -o -name tests -o -name benchmark -o -name benchmarks -o -name .github \) -prune -exec rm -rf {} +
find "$app" -type d -empty -delete
cp "$root/serve/deploy/healthcheck.mjs" "$app"

# whose work it is
for text in "$(dirname "$node")/../LICENSE" /usr/share/doc/{nodejs,libc6,libstdc++6,libgcc-s1}/copyright; do
  [ ! -e "$text" ] || { mkdir -p "$out/usr/share/doc" && cp -L "$text" "$out/usr/share/doc/$(basename "$(dirname "$text")")-$(basename "$text")"; }
done

printf 'root:x:0:0:root:/root:/sbin/nologin\nptlite:x:65532:65532:ptlite:/app:/sbin/nologin\n' > "$out/etc/passwd"
printf 'root:x:0:\nptlite:x:65532:\n' > "$out/etc/group"
printf 'hosts: files dns\n' > "$out/etc/nsswitch.conf"
chmod -R go-w,a+rX "$app" "$out/etc"
