#!/usr/bin/env bash
# Makes a fresh clone ready to run: npm packages, then the build, which installs a compiler and CMake where they are missing.
# Safe to run again: what is there already is kept.
set -euo pipefail
cd "$(dirname "$0")"

started=$SECONDS
say() { printf 'setup: %3d s  %s\n' $((SECONDS - started)) "$*"; }
die() { echo "setup: $*" >&2; exit 1; }

command -v node >/dev/null || die 'Node 20 or newer is needed (https://nodejs.org)'
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || die "Node 20 or newer is needed, found $(node --version)"
case $(node scripts/targets.mjs here) in
  linux-*) ;;
  *) die "the kernels need Linux on a processor of targets.json, found $(uname -sm)" ;;
esac

say "three steps, about two minutes on two cores the first time, more where a compiler has to be installed"
# npm writes this file last, so it is older than the lockfile when the packages are stale
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  say '1 of 3: npm packages'
  npm ci --no-fund --no-audit
fi
# the server's packages are its own; in a clone it serves with this library
if [ ! -e serve/node_modules/.package-lock.json ] || [ serve/package-lock.json -nt serve/node_modules/.package-lock.json ]; then
  npm --prefix serve ci --no-fund --no-audit
fi
ln -sfn ../.. serve/node_modules/ptlite
say '2 of 3: kernel library'
npm run --silent codegen
npm run --silent build:native
say '3 of 3: JavaScript'
npm run --silent build:js
say 'ready'
