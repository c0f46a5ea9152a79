#!/usr/bin/env bash
# Builds the kernel library: kernels/ -> build/ -> dist/libptlite.so.
#   scripts/build-native.sh [--target linux-arm64|win32-x64]
# --target: for another processor or system, with a cross compiler: kernels/ -> build/TARGET/ -> dist/TARGET/libptlite.so, or .dll.
# Missing tools are installed on Debian when run as root; otherwise it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/install-missing.sh
. scripts/install-missing.sh

target='' configure=() folder=build out=dist file=libptlite.so
while [ $# -gt 0 ]; do
  case $1 in
    --target) target=${2-}; shift $(($# < 2 ? 1 : 2)) ;;
    --target=*) target=${1#*=}; shift ;;
    *) echo "build-native: unknown argument $1; expected --target linux-arm64 or win32-x64" >&2; exit 2 ;;
  esac
  case $target in
    linux-arm64 | win32-x64) ;;
    *) echo "build-native: unknown target '$target'; expected linux-arm64 or win32-x64" >&2; exit 2 ;;
  esac
done

xbyak=
for place in /usr/local/include /usr/include; do [ -f "$place/xbyak/xbyak.h" ] && xbyak=$place/xbyak && break; done

need=()
case ${target:-$(uname -s | tr A-Z a-z)-$(uname -m)} in
  linux-arm64)
    command -v aarch64-linux-gnu-g++ >/dev/null || need+=(g++-aarch64-linux-gnu)
    configure=("-DCMAKE_TOOLCHAIN_FILE=$PWD/kernels/arch/arm/linux.cmake")
    folder=build/$target out=dist/$target
    ;;
  win32-x64)
    command -v x86_64-w64-mingw32-g++-win32 >/dev/null || need+=(g++-mingw-w64-x86-64-win32)
    [ -n "$xbyak" ] || need+=(libxbyak-dev)
    configure=("-DCMAKE_TOOLCHAIN_FILE=$PWD/kernels/os/windows/mingw.cmake")
    folder=build/$target out=dist/$target file=libptlite.dll
    ;;
  darwin-*)
    # of Homebrew, whose g++ has a version in its name: CXX says which
    platform=darwin-$(uname -m | sed 's/x86_64/x64/')
    folder=build/$platform out=dist/$platform file=libptlite.dylib
    [ "$platform" = darwin-arm64 ] || configure=("-DCMAKE_CXX_FLAGS=-isystem $(brew --prefix)/include")
    ;;
  linux-x86_64)
    [ -n "$xbyak" ] || need+=(libxbyak-dev)
    ;;
esac
[ -n "$target" ] || command -v "${CXX:-g++}" >/dev/null || need+=(g++)
command -v cmake >/dev/null || need+=(cmake)
command -v ninja >/dev/null || command -v make >/dev/null || need+=(ninja-build)
install_missing 'the native build' 1 "${need[@]}"
if [ ! -f kernels/generated/kernel_list.h ]; then
  echo "kernels/generated/kernel_list.h is missing; run 'npm run codegen' first" >&2
  exit 1
fi

generator=()
if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
mkdir -p "$folder" "$out"
if [ "$target" = win32-x64 ]; then
  # headers alone, for any system; those beside them are of this one
  mkdir -p "$folder/headers"
  ln -sfn "${xbyak:-/usr/include/xbyak}" "$folder/headers/xbyak"
  configure+=("-DCMAKE_CXX_FLAGS=-isystem $PWD/$folder/headers")
fi
log=$folder/configure.log
cmake -S kernels -B "$folder" ${generator[@]+"${generator[@]}"} ${configure[@]+"${configure[@]}"} -DCMAKE_BUILD_TYPE=Release >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
rm -f "$log"
cmake --build "$folder" --parallel "${PTLITE_BUILD_JOBS:-$(getconf _NPROCESSORS_ONLN)}" -- ${PTLITE_BUILD_FLAGS:-}
# a new file and a rename, so that a process that has the old library mapped keeps it
cp "$folder/$file" "$out/.$file.new"
mv "$out/.$file.new" "$out/$file"
echo "$out/$file: $(($(wc -c <"$out/$file"))) bytes"
