#!/usr/bin/env bash
# Traces the model, builds the runtime for it, bundles the app into one file and runs it.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p build
node ../../dist/cli.js trace model.ptl --input input.json -o build/model.trace
node ../../dist/selective-build.js --trace build/model.trace --isa avx2 --out build/selected
node bundle.mjs build/selected build/app.js
node build/app.js --library build/selected/libptlite.so model.ptl
