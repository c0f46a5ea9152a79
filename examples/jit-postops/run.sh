#!/usr/bin/env bash
# Builds the example with the generator's sources, AddressSanitizer and UndefinedBehaviorSanitizer, and runs it.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -f build/CMakeCache.txt ] || npm run --silent build:native >/dev/null
cmake --build build --target jit_postops >/dev/null
build/jit_postops
