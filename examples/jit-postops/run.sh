#!/usr/bin/env bash
# Builds the example against the generator's sources and runs it. Further arguments go to the compiler (-fsanitize=address).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
[ -f "$root/build/generated/isa_levels.h" ] || npm --prefix "$root" run --silent build:native
jit=("$root"/kernels/arch/x86/jit/{algorithms,emitter,generator,injector}.cpp "$root"/kernels/jit/{cache,code_memory}.cpp)
g++ -std=c++17 -O1 -DNDEBUG -I"$root/kernels" -I"$root/kernels/arch/x86" -I"$root/kernels/arch/generic" -I"$root/kernels/include" -I"$root/kernels/generated" -I"$root/build/generated" \
  "$@" "$root/examples/jit-postops/main.cpp" "${jit[@]}" "$root"/kernels/{dispatch/levels,arch/x86/isa/cpuid,arch/x86/isa/host,os/linux/pages,os/linux/tiles}.cpp -o "$out/jit-postops"
"$out/jit-postops"
