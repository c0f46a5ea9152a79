#!/usr/bin/env bash
# Builds the generators and the kernels around generated code with AddressSanitizer, at AVX2, and runs main.cpp.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
level=1 # AVX2, in kernels/isa/ladder.txt
common=(-std=gnu++17 -O1 -fsanitize=address -fno-exceptions -fwrapv -Wno-psabi -DNDEBUG "-DPTLITE_TEST_LEVEL=$level"
  -I"$root/kernels" -I"$root/kernels/include" -I"$root/kernels/generated" -I"$root/build/generated")
avx2=(-DCPU_CAPABILITY=AVX2 -DCPU_CAPABILITY_AVX2 -DCPU_CAPABILITY_DEFAULT "-DPTLITE_LEVEL=$level" -mavx2 -mfma -mf16c -mbmi2 -mlzcnt)
base=(-DCPU_CAPABILITY=DEFAULT -DCPU_CAPABILITY_DEFAULT -DPTLITE_LEVEL=0)
{
  for source in "$root"/kernels/{jit,isa,pool}/*.cpp; do echo "${base[*]} -c $source -o $out/base_$(basename "$source").o"; done
  for source in "$root"/kernels/ops/{fused,step_program,post_ops,sparse_gemm}.cpp "$root/test/native/asan/main.cpp"; do
    echo "${avx2[*]} -c $source -o $out/ops_$(basename "$source").o"
  done
} | xargs -P "$(nproc)" -I{} sh -c "${CXX:-g++} ${common[*]} {}"
"${CXX:-g++}" -fsanitize=address "$out"/*.o -o "$out/main" -lpthread
"$out/main"
ATEN_CPU_CAPABILITY=avx2 "$out/main"
