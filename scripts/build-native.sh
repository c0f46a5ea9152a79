#!/usr/bin/env bash
# Builds the kernel library: kernels/ -> build/ -> dist/libptlite.so.
#   scripts/build-native.sh [--target NAME]
# --target: for a row of targets.json with a cross compiler: kernels/ -> build/NAME/ -> dist/NAME/libptlite.so, or .dll.
# Missing tools are installed on Debian when run as root; otherwise it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/install-missing.sh
. scripts/install-missing.sh

target='' configure=() toolchain='' compiler='' compiler_package='' prepare='' check=''
while [ $# -gt 0 ]; do
  case $1 in
    --target) target=${2-}; shift $(($# < 2 ? 1 : 2)) ;;
    --target=*) target=${1#*=}; shift ;;
    *) echo "build-native: unknown argument $1; expected --target NAME" >&2; exit 2 ;;
  esac
  [ -n "$target" ] || { echo "build-native: --target needs a name" >&2; exit 2; }
done

row=$(node scripts/targets.mjs build ${target:+"$target"}) || { echo "build-native: there is no such library to build" >&2; exit 2; }
eval "$row"

need=() header_folders=()
if [ -n "$toolchain" ]; then
  configure=("-DCMAKE_TOOLCHAIN_FILE=$PWD/$toolchain")
  command -v "$compiler" >/dev/null || read -ra need <<<"$compiler_package"
  [ -z "$prepare" ] || "$prepare"
fi
# shellcheck disable=SC2154
for header in ${headers[@]+"${headers[@]}"}; do
  found=
  for place in /usr/local/include /usr/include; do [ -f "$place/${header%%=*}" ] && found=$place && break; done
  case $(uname -s) in
    # of Homebrew, whose g++ has a version in its name: CXX says which
    Darwin) configure=("-DCMAKE_CXX_FLAGS=-isystem $(brew --prefix)/include") ;;
    *) [ -n "$found" ] || need+=("${header##*=}") ;;
  esac
  header_folders+=("${found:-/usr/include}/$(dirname "${header%%=*}")")
done
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
if [ -n "$toolchain" ] && [ ${#header_folders[@]} -gt 0 ]; then
  # headers alone, for any system; those beside them are of this one
  mkdir -p "$folder/headers"
  for place in "${header_folders[@]}"; do ln -sfn "$place" "$folder/headers/$(basename "$place")"; done
  # beside what the toolchain sets
  export CXXFLAGS="-isystem $PWD/$folder/headers ${CXXFLAGS:-}"
fi
log=$folder/configure.log
cmake -S kernels -B "$folder" ${generator[@]+"${generator[@]}"} ${configure[@]+"${configure[@]}"} -DCMAKE_BUILD_TYPE=Release >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
rm -f "$log"
cmake --build "$folder" --parallel "${PTLITE_BUILD_JOBS:-$(getconf _NPROCESSORS_ONLN)}" -- ${PTLITE_BUILD_FLAGS:-}
[ -z "$check" ] || node "$check" "$folder/$file" "$folder"
# a new file and a rename, so that a process that has the old library mapped keeps it
cp "$folder/$file" "$out/.$file.new"
mv "$out/.$file.new" "$out/$file"
echo "$out/$file: $(($(wc -c <"$out/$file"))) bytes"
