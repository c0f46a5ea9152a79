#!/usr/bin/env bash
# Generates, compiles and runs the example. Needs `npm run build` before.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
node $root/dist/cli.js codegen --ops custom_ops.yaml --out generated --natives ../natives.js
g++ -std=c++17 -O2 -fPIC -shared -Wall -Wextra -I $root/kernels/include -I . kernels.cpp -o generated/libcustom.so
$root/node_modules/.bin/tsx run.ts
