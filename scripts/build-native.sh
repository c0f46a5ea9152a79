#!/usr/bin/env bash
# Builds the kernel library: kernels/ -> build/ -> dist/libptlite.so.
#   scripts/build-native.sh [--target linux-arm64]
# --target: for another processor, with a cross compiler: kernels/ -> build/TARGET/ -> dist/TARGET/libptlite.so.
# Missing tools are installed on Debian when run as root; otherwise it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

target='' configure=() folder=build out=dist
while [ $# -gt 0 ]; do
  case $1 in
    --target) target=${2-}; shift $(($# < 2 ? 1 : 2)) ;;
    --target=*) target=${1#*=}; shift ;;
    *) echo "build-native: unknown argument $1; expected --target linux-arm64" >&2; exit 2 ;;
  esac
  if [ "$target" != linux-arm64 ]; then
    echo "build-native: unknown target '$target'; expected linux-arm64" >&2
    exit 2
  fi
done

need=()
case ${target:-linux-$(uname -m)} in
  linux-arm64)
    command -v aarch64-linux-gnu-g++ >/dev/null || need+=(g++-aarch64-linux-gnu)
    configure=("-DCMAKE_TOOLCHAIN_FILE=$PWD/kernels/arch/arm/linux.cmake")
    folder=build/$target out=dist/$target
    ;;
  linux-x86_64)
    [ -f /usr/include/xbyak/xbyak.h ] || [ -f /usr/local/include/xbyak/xbyak.h ] || need+=(libxbyak-dev)
    ;;
esac
[ -n "$target" ] || command -v g++ >/dev/null || need+=(g++)
command -v cmake >/dev/null || need+=(cmake)
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
if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
mkdir -p "$folder" "$out"
log=$folder/configure.log
cmake -S kernels -B "$folder" "${generator[@]}" "${configure[@]}" -DCMAKE_BUILD_TYPE=Release >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
rm -f "$log"
cmake --build "$folder" --parallel "${PTLITE_BUILD_JOBS:-$(nproc)}" -- ${PTLITE_BUILD_FLAGS:-}
# a new file and a rename, so that a process that has the old library mapped keeps it
cp "$folder/libptlite.so" "$out/.libptlite.so.new"
mv "$out/.libptlite.so.new" "$out/libptlite.so"
echo "$out/libptlite.so: $(stat -c %s "$out/libptlite.so") bytes"
