#!/usr/bin/env bash
# Makes a fresh clone ready to run: npm packages, then the build, which installs a compiler and CMake where they are missing.
# Safe to run again: what is there already is kept.
set -euo pipefail
cd "$(dirname "$0")"

die() { echo "setup: $*" >&2; exit 1; }

command -v node >/dev/null || die 'Node 20 or newer is needed (https://nodejs.org)'
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || die "Node 20 or newer is needed, found $(node --version)"
case $(uname -sm) in
  'Linux x86_64' | 'Linux aarch64') ;;
  *) die "the kernels need Linux on x86-64 or 64-bit Arm, found $(uname -sm)" ;;
esac

# npm writes this file last, so it is older than the lockfile when the packages are stale
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  npm ci --no-fund --no-audit
fi
npm run --silent build
