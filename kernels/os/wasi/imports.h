// All that a module of the kernels asks of JavaScript (runtime/native/wasm/imports.ts).
#pragma once

#include <stdint.h>

#define PTLITE_IMPORT(name) __attribute__((import_module("ptlite"), import_name(name)))

extern "C" {

/// Milliseconds of a clock that only goes forward.
PTLITE_IMPORT("clock") double ptlite_clock();

/// Calls task(context) and puts what it returns in `status`. 0 where `ptlite_leave` was called meanwhile, which ends the task at once: what stands
/// between is not cleaned up, but for the stack.
PTLITE_IMPORT("attempt") int32_t ptlite_attempt(int32_t (*task)(void*), void* context, volatile int32_t* status);

[[noreturn]] PTLITE_IMPORT("leave") void ptlite_leave();

/// Writes a line for whoever looks at the console.
PTLITE_IMPORT("report") void ptlite_report(const char* text, uint32_t bytes);

}  // extern "C"
