#!/usr/bin/env bash
# Builds the kernels for browsers: kernels/ -> build/web/LEVEL/ -> dist/web/ptlite.wasm and dist/web/ptlite-relaxed.wasm.
#   scripts/build-web.sh [LEVEL...]    DEFAULT and RELAXED, which are all of kernels/arch/wasm/isa/ladder.txt, where none is named
# Missing tools are installed on Debian when run as root; otherwise it says what to install, and exits with 77.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/install-missing.sh
. scripts/install-missing.sh

levels=("$@")
[ ${#levels[@]} -gt 0 ] || levels=(DEFAULT RELAXED)
version=19
headers=/usr/lib/llvm-$version/include/wasm32-wasi/c++/v1

usable() {
  command -v "clang++-$version" "wasm-ld-$version" >/dev/null || return 1
  printf '#include <algorithm>\n#include <math.h>\n' | "clang++-$version" --target=wasm32-wasi -isystem "$headers" -std=gnu++17 -fsyntax-only -x c++ - 2>/dev/null
}

need=()
usable || need+=("clang-$version" "lld-$version" wasi-libc "libc++-$version-dev-wasm32" "libclang-rt-$version-dev-wasm32")
command -v cmake >/dev/null || need+=(cmake)
command -v ninja >/dev/null || command -v make >/dev/null || need+=(ninja-build)
install_missing 'the build for browsers' 77 "${need[@]}"
if [ ! -f kernels/generated/kernel_list.h ]; then
  echo "kernels/generated/kernel_list.h is missing; run 'npm run codegen' first" >&2
  exit 1
fi

mkdir -p dist/web
for level in "${levels[@]}"; do
  case $level in
    DEFAULT) name=ptlite ;;
    RELAXED) name=ptlite-relaxed ;;
    *) echo "build-web: unknown level $level; expected DEFAULT or RELAXED" >&2; exit 2 ;;
  esac
  folder=build/web/$level
  generator=()
  if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
  mkdir -p "$folder"
  log=$folder/configure.log
  cmake -S kernels/arch/wasm -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release "-DPTLITE_LEVEL=$level" \
    "-DCMAKE_CXX_COMPILER=clang++-$version" -DCMAKE_CXX_COMPILER_TARGET=wasm32-wasi "-DCMAKE_CXX_FLAGS=-isystem $headers" \
    >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
  rm -f "$log"
  cmake --build "$folder" --parallel "${PTLITE_BUILD_JOBS:-$(nproc)}" -- ${PTLITE_BUILD_FLAGS:-}
  # a new file and a rename, so that whoever reads the old one has all of it
  npx tsx scripts/build/own-memory.ts "$folder/ptlite.wasm" "dist/web/.$name.wasm.new"
  mv "dist/web/.$name.wasm.new" "dist/web/$name.wasm"
done
