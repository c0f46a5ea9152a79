#!/usr/bin/env bash
# Compiles the kernels with clang for other processors and systems, to see that they could be built for these: nothing is linked or run.
#   aarch64  64-bit Arm with Linux     arch/arm and os/linux, each level; scripts/emulate runs what g++ makes of it
#   wasm32   WebAssembly with WASI     arch/generic and os/wasi; scripts/build-web.sh builds arch/wasm
# The first is a row of targets.json with `clang`. scripts/build-native.sh builds for macOS by clang.
#   scripts/compile-targets.sh [--install] [TARGET...]
# --install: on Debian as root, gets the tools that are missing. Exits with 77 where a tool is missing, after saying which.
set -uo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/install-missing.sh
. scripts/install-missing.sh

install=
targets=()
read -ra known <<<"wasm32 $(node scripts/targets.mjs clang)"
for argument in "$@"; do
  case $argument in
    --install) install=1 ;;
    *)
      case " ${known[*]} " in
        *" $argument "*) targets+=("$argument") ;;
        *) echo "compile-targets: unknown target $argument; expected ${known[*]}" >&2; exit 2 ;;
      esac
      ;;
  esac
done
[ ${#targets[@]} -gt 0 ] || targets=(aarch64 wasm32)
version=19

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find_clang() { command -v "${PTLITE_CLANG:-clang++-$version}" || { [ -z "${PTLITE_CLANG:-}" ] && command -v clang++; }; }

# describe TARGET: sets system and processor, folders of kernels/, flags and packages
describe() {
  if [ "$1" = wasm32 ]; then
    system=wasi processor=generic packages=(wasi-libc "libc++-$version-dev-wasm32")
    flags=(--target=wasm32-wasi -isystem "$("$clang" -print-resource-dir)/../../../include/wasm32-wasi/c++/v1")
  else
    eval "$(node scripts/targets.mjs clang "$1")"
  fi
}

# usable TARGET: whether there are a compiler and the target's headers
usable() {
  clang=$(find_clang)
  local found=$?
  describe "$1"
  [ "$found" = 0 ] || return 1
  printf '#include <atomic>\n#include <math.h>\n' | "$clang" "${flags[@]}" -std=gnu++17 -fsyntax-only -x c++ - >"$work/probe" 2>&1
}

for target in "${targets[@]}"; do
  usable "$target" && continue
  needed="clang-$version ${packages[*]}"
  if [ -n "$install" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # shellcheck disable=SC2086
    (install_missing "$target" 77 $needed) >"$work/apt" 2>&1 || tail -n 5 "$work/apt" >&2
    usable "$target" && continue
  fi
  echo "compile-targets: $target cannot be compiled for here; it needs: $needed" >&2
  echo "  sudo apt-get install $needed" >&2
  exit 77
done
command -v cmake >/dev/null || { echo 'compile-targets: cmake is missing' >&2; exit 77; }
if [ ! -f kernels/generated/kernel_list.h ]; then
  echo "kernels/generated/kernel_list.h is missing; run 'npm run codegen' first" >&2
  exit 1
fi

# sources PROCESSOR SYSTEM
sources() {
  find kernels -name '*.cpp' -not -path 'kernels/arch/*' -not -path 'kernels/os/*' -not -path 'kernels/generated/*' -not -path kernels/host/node_api.cpp
  local folders=("kernels/os/$2")
  [ "$2" = wasi ] || folders+=(kernels/os/unix)
  # threads of WebAssembly are instructions of arch/wasm
  find "kernels/arch/$1/isa" kernels/arch/generic/jit "${folders[@]}" -name '*.cpp' -not -path 'kernels/os/wasi/threads/*'
}

# levels PROCESSOR: name, number, level that it builds upon, and flags, a level a line
levels() {
  awk -F'|' '/^[A-Z]/ { for (i = 1; i <= NF; i++) gsub(/^ +| +$/, "", $i); print $1 "|" n++ "|" $2 "|" $7 }' "kernels/arch/$1/isa/ladder.txt"
}

# compile LEVEL NUMBER FLAG...: the files whose names come in
compile() {
  local level=$1 number=$2
  shift 2
  xargs -r -P "${PTLITE_BUILD_JOBS:-$(nproc)}" -n 8 "$clang" "${flags[@]}" "$@" -fsyntax-only -O0 -std=gnu++17 \
    -w -fno-exceptions -fno-rtti -fsigned-char -fwrapv -ffp-contract=fast \
    -Ikernels "-Ikernels/arch/$processor" -Ikernels/arch/generic -Ikernels/include -Ikernels/generated "-I$work/$processor/generated" \
    "-DCPU_CAPABILITY=$level" "-DPTLITE_LEVEL=$number" -DPTLITE_GUARDS -DPTLITE_CUSTOM_LIBRARIES -DPTLITE_ASYNC_LAUNCHES
}

failed=0
for target in "${targets[@]}"; do
  describe "$target"
  mkdir -p "$work/$processor"
  (cd "$work/$processor" && cmake "-DPTLITE_ARCH=$processor" -DCMAKE_CXX_COMPILER_VERSION=99 -P "$OLDPWD/kernels/arch/Levels.cmake") >"$work/levels" 2>&1 || { cat "$work/levels" >&2; exit 1; }
  start=$SECONDS count=0 wrong=0
  declare -A upon=()
  while IFS='|' read -r level number parent own; do
    upon[$level]=$parent
    definitions=()
    above=$level
    while [ -n "$above" ]; do definitions+=("-DCPU_CAPABILITY_$above") above=${upon[$above]}; done
    # the lowest level has all files, the others those that name it
    if [ "$number" = 0 ]; then files=$(sources "$processor" "$system" | sort); else files=$(grep -lE "^// isa:.*\b$level\b" kernels/ops/*/*.cpp); fi
    count=$((count + $(wc -l <<<"$files")))
    # shellcheck disable=SC2086
    compile "$level" "$number" "${definitions[@]}" $own <<<"$files" || wrong=1
  done < <(levels "$processor")
  unset upon
  if [ "$wrong" = 0 ]; then
    echo "$target: $count files ($((SECONDS - start)) s)"
  else
    failed=1
    echo "$target: some of $count files do not compile" >&2
  fi
done
exit $failed
