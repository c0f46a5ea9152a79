#!/usr/bin/env bash
# Generates, compiles and runs the example. Needs `npm run build` before.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
node $root/dist/cli.js codegen --ops custom_ops.yaml --out generated
${CC:-cc} -std=c99 -O2 -fPIC -shared -Wall -Wextra filters.c -o generated/libfilters.so -lm
$root/node_modules/.bin/tsx run.ts
