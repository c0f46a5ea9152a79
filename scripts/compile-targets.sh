#!/usr/bin/env bash
# Compiles the kernels for processors and systems that no library is built for, to see that they could be: nothing is linked or run.
#   aarch64  64-bit Arm with Linux     arch/generic and os/linux
#   wasm32   WebAssembly with WASI     arch/generic and os/wasi
# All of kernels/ but arch/x86, one level each.
#   scripts/compile-targets.sh [--install] [TARGET...]
# --install: on Debian as root, gets the tools that are missing. Exits with 77 where a tool is missing, after saying which.
set -uo pipefail
cd "$(dirname "$0")/.."

install=
targets=()
for argument in "$@"; do
  case $argument in
    --install) install=1 ;;
    aarch64 | wasm32) targets+=("$argument") ;;
    *) echo "compile-targets: unknown target $argument; expected aarch64 or wasm32" >&2; exit 2 ;;
  esac
done
[ ${#targets[@]} -gt 0 ] || targets=(aarch64 wasm32)
version=19
packages_aarch64='libc6-dev-arm64-cross libstdc++-12-dev-arm64-cross'
packages_wasm32="wasi-libc libc++-$version-dev-wasm32"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find_clang() { command -v "${PTLITE_CLANG:-clang++-$version}" || { [ -z "${PTLITE_CLANG:-}" ] && command -v clang++; }; }

# flags_of TARGET: one argument a line
flags_of() {
  case $1 in
    aarch64) echo --target=aarch64-linux-gnu ;;
    wasm32)
      echo --target=wasm32-wasi
      echo -isystem
      echo "$("$clang" -print-resource-dir)/../../../include/wasm32-wasi/c++/v1"
      ;;
  esac
}

# usable TARGET: whether there are a compiler and the target's headers
usable() {
  clang=$(find_clang) || return 1
  mapfile -t flags < <(flags_of "$1")
  printf '#include <atomic>\n#include <math.h>\n' | "$clang" "${flags[@]}" -std=gnu++17 -fsyntax-only -x c++ - >"$work/probe" 2>&1
}

for target in "${targets[@]}"; do
  usable "$target" && continue
  packages=packages_$target
  needed="clang-$version ${!packages}"
  if [ -n "$install" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing $needed"
    # shellcheck disable=SC2086
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $needed; } >"$work/apt" 2>&1 ||
      tail -n 5 "$work/apt" >&2
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

(cd "$work" && cmake -DPTLITE_ARCH=generic -P "$OLDPWD/kernels/arch/Levels.cmake") >"$work/levels" 2>&1 || { cat "$work/levels" >&2; exit 1; }

# sources SYSTEM
sources() {
  find kernels -name '*.cpp' -not -path 'kernels/arch/*' -not -path 'kernels/os/*' -not -path 'kernels/generated/*'
  find kernels/arch/generic "kernels/os/posix" "kernels/os/$1" -name '*.cpp'
}

failed=0
for target in "${targets[@]}"; do
  system=linux
  [ "$target" = wasm32 ] && system=wasi
  mapfile -t flags < <(flags_of "$target")
  count=$(sources "$system" | wc -l) start=$SECONDS
  if sources "$system" | sort | xargs -P "${PTLITE_BUILD_JOBS:-$(nproc)}" -n 8 "$clang" "${flags[@]}" -fsyntax-only -O0 -std=gnu++17 \
    -w -fno-exceptions -fno-rtti -fwrapv -ffp-contract=fast \
    -Ikernels -Ikernels/arch/generic -Ikernels/include -Ikernels/generated "-I$work/generated" \
    -DCPU_CAPABILITY=DEFAULT -DCPU_CAPABILITY_DEFAULT -DPTLITE_LEVEL=0 -DPTLITE_GUARDS -DPTLITE_CUSTOM_LIBRARIES -DPTLITE_ASYNC_LAUNCHES; then
    echo "$target: $count files ($((SECONDS - start)) s)"
  else
    failed=1
    echo "$target: some of $count files do not compile" >&2
  fi
done
exit $failed
