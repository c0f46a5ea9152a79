// What a kernel source needs to run outside the library, and repeatable random numbers.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <vector>

#include "dispatch/kernel.h"
#include "pool/pool.h"

// The source is called directly, not through the table of kernels.
#undef PTLITE_KERNEL
#define PTLITE_KERNEL(name, fn) constexpr auto kernel_##name = fn;

namespace ptlite {
void* ptlite_scratch(size_t bytes) {
  // never given back: a kernel may use several at a time
  void* memory = nullptr;
  // filled with what is no small number, so that reading what was not written shows
  memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
  memset(memory, 0x7f, (bytes + 127) / 64 * 64);
  return memory;
}
// Two ranges one after the other, as two threads would have them.
void* range_scratch(size_t bytes) { return ptlite_scratch(bytes); }
int32_t thread_limit() { return 2; }
// Without a budget.
__thread Guard guard;
void check_budget() {}
void parallel_ranges(int64_t count, int64_t grain, RangeTask task, const void* context) {
  const int64_t half = (count / 2 + grain - 1) / grain * grain;
  task(context, 0, half);
  if (half < count) task(context, half, count);
}
}  // namespace ptlite

inline uint32_t next_random() {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}
inline int32_t random_between(int32_t low, int32_t high) { return low + static_cast<int32_t>(next_random() % static_cast<uint32_t>(high - low + 1)); }

template <class T>
uint64_t address(const std::vector<T>& v) {
  return reinterpret_cast<uint64_t>(v.data());
}
