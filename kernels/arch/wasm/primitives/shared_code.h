// Generated code, as threads know it. Each has a table of functions of its own, to which JavaScript adds those that others have got since: before this
// thread calls one, and before it works on what a thread that knows more has begun.
#pragma once

#include <stdint.h>

#include <atomic>

namespace ptlite {

#if defined(__wasm_atomics__)

// Grows with each function, before any handle has its number (runtime/native/wasm/threads/code-list.ts).
struct CodeList {
  std::atomic<uint32_t> lock, generation;
  uint32_t newest;
};
extern CodeList code_list __attribute__((visibility("hidden")));
extern __thread uint32_t known_generation __attribute__((visibility("hidden")));

// Has JavaScript add what is new. False where it cannot.
bool learn_code();

inline bool has_shared_code() { return __builtin_expect(code_list.generation.load(std::memory_order_acquire) == known_generation, 1) || learn_code(); }

inline bool is_there(void* const* start) { return __atomic_load_n(start, __ATOMIC_ACQUIRE) != nullptr && has_shared_code(); }

#else

inline bool is_there(void* const* start) { return *start != nullptr; }

#endif

}  // namespace ptlite
