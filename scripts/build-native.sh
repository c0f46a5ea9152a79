#!/usr/bin/env bash
# Builds the kernel library: kernels/ -> build/ -> dist/libptlite.so.
# Missing tools are installed on Debian when run as root; otherwise it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

need=()
command -v g++ >/dev/null || need+=(g++)
command -v cmake >/dev/null || need+=(cmake)
[ -f /usr/include/xbyak/xbyak.h ] || [ -f /usr/local/include/xbyak/xbyak.h ] || need+=(libxbyak-dev)
command -v ninja >/dev/null || command -v make >/dev/null || need+=(ninja-build)
if [ ${#need[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing ${need[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${need[@]}"
  else
    echo "the native build needs: ${need[*]}" >&2
    echo "  sudo apt-get install ${need[*]}" >&2
    exit 1
  fi
fi
if [ ! -f kernels/generated/kernel_list.h ]; then
  echo "kernels/generated/kernel_list.h is missing; run 'npm run codegen' first" >&2
  exit 1
fi

generator=()
if [ ! -f build/CMakeCache.txt ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
cmake -S kernels -B build "${generator[@]}" -DCMAKE_BUILD_TYPE=Release >build.log 2>&1 || { cat build.log >&2; rm -f build.log; exit 1; }
rm -f build.log
cmake --build build --parallel "${PTLITE_BUILD_JOBS:-$(nproc)}" -- ${PTLITE_BUILD_FLAGS:-}
mkdir -p dist
# a new file and a rename, so that a process that has the old library mapped keeps it
cp build/libptlite.so dist/.libptlite.so.new
mv dist/.libptlite.so.new dist/libptlite.so
echo "dist/libptlite.so: $(stat -c %s dist/libptlite.so) bytes"
