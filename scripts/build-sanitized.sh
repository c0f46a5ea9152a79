#!/usr/bin/env bash
# Builds the kernel library with sanitizers: kernels/ -> build/sanitized/SANITIZERS/libptlite.so. Several minutes without a compiler cache.
# PTLITE_SANITIZE: address,undefined (the default) or thread. PTLITE_ISA: levels to build, all that tests need without it.
set -euo pipefail
cd "$(dirname "$0")/.."

sanitizers=${PTLITE_SANITIZE:-address,undefined}
folder=build/sanitized/$sanitizers
if [ ! -f kernels/generated/kernel_list.h ]; then
  echo "kernels/generated/kernel_list.h is missing; run 'npm run codegen' first" >&2
  exit 1
fi
generator=()
if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
cmake -S kernels -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release "-DPTLITE_SANITIZE=$sanitizers" \
  "-DPTLITE_ISA=${PTLITE_ISA:-DEFAULT;AVX2;AVX512}" >/dev/null
cmake --build "$folder" --parallel "${PTLITE_BUILD_JOBS:-$(nproc)}" --target ptlite -- ${PTLITE_BUILD_FLAGS:-}
echo "$folder/libptlite.so: $(stat -c %s "$folder/libptlite.so") bytes"
