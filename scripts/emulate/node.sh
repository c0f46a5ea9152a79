#!/usr/bin/env bash
# Node for 64-bit Arm on this machine's processor: an emulator of PTLITE_EMULATED_CPU runs PTLITE_EMULATED_NODE. See emulate.mjs.
exec "$PTLITE_EMULATOR" -cpu "$PTLITE_EMULATED_CPU" -L "$PTLITE_EMULATED_ROOT" "$PTLITE_EMULATED_NODE" "$@"
