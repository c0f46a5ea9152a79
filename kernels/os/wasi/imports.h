// All that a module of the kernels asks of JavaScript (runtime/native/wasm/imports.ts), and how functions are named for it.
#pragma once

#include <stdint.h>

#define PTLITE_IMPORT(name) __attribute__((import_module("ptlite"), import_name(name)))
#define PTLITE_EXPORTED(name) __attribute__((export_name(name)))

extern "C" {

/// Milliseconds of a clock that only goes forward.
PTLITE_IMPORT("clock") double ptlite_clock();

/// Calls task(context) and puts what it returns in `status`. 0 where `ptlite_leave` was called meanwhile, which ends the task at once: what stands
/// between is not cleaned up, but for the stack.
PTLITE_IMPORT("attempt") int32_t ptlite_attempt(int32_t (*task)(void*), void* context, volatile int32_t* status);

[[noreturn]] PTLITE_IMPORT("leave") void ptlite_leave();

/// Writes a line for whoever looks at the console.
PTLITE_IMPORT("report") void ptlite_report(const char* text, uint32_t bytes);

/// Generates a function from a description (kernels/arch/wasm/jit/code.h), and puts it at *start once it is compiled: until then, that is null. Gives the
/// bytes of its code, 0 where none can be generated.
PTLITE_IMPORT("generate") int32_t ptlite_generate(int32_t kind, const int32_t* words, int32_t count, void** start);

/// *start is not used any more, and goes.
PTLITE_IMPORT("discard") void ptlite_discard(void** start);

/// Whether code is generated at all, functions that are there, and bytes of their code.
PTLITE_IMPORT("generated") int32_t ptlite_generated(int64_t* functions, int64_t* bytes);

/// The table of this instance gets the functions that it lacks of those that were generated (runtime/native/wasm/threads/code-list.ts). 0 where it cannot
/// have them.
PTLITE_IMPORT("learn") int32_t ptlite_learn();

}  // extern "C"
