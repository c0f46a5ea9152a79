// Threads inside one kernel call. A kernel cuts its outputs into ranges, never its sums, so that any number of threads
// gives the same bits. Several callers at a time are fine: one gets the helpers, the others work alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "budget.h"

namespace ptlite {

/// The most threads that one call may use, the caller included; 1 at the start.
int32_t thread_limit();

/// Helpers are started when they are needed, and end after some seconds without work; beyond the limit they sleep.
void set_thread_limit(int32_t count);

/// Most threads that can be asked for.
constexpr int32_t kMaxThreads = 256;

using RangeTask = void (*)(const void* context, int64_t begin, int64_t end);

/// Calls task(context, begin, end) for ranges that together are [0, count), on the calling thread and on helpers. All but the
/// last range are multiples of `grain`; no range is smaller than that unless it is the last. Returns when all are done.
/// A call from inside a task runs on the thread it comes from. Where the calling thread has a budget, ranges are short, and it is looked at
/// between them.
void parallel_ranges(int64_t count, int64_t grain, RangeTask task, const void* context);

/// parallel_ranges for a function object f(begin, end).
template <class F>
inline void parallel_for(int64_t count, int64_t grain, const F& f) {
  if ((count <= grain || thread_limit() == 1) && !limited()) {
    if (count > 0) f(int64_t{0}, count);
    return;
  }
  parallel_ranges(count, grain, [](const void* context, int64_t begin, int64_t end) { (*static_cast<const F*>(context))(begin, end); }, &f);
}

/// Steps that are worth handing to another thread.
constexpr int64_t kWorthwhile = 1 << 15;

/// Units of `work` steps each that make a range worth handing to another thread.
inline int64_t grain_for(int64_t work) {
  return work >= kWorthwhile ? 1 : kWorthwhile / (work < 1 ? 1 : work);
}

/// Memory for the duration of one range, beside what ptlite_scratch gives to the kernel: one growing buffer per thread,
/// 64-byte aligned. nullptr where the system has none.
void* range_scratch(size_t bytes);

}  // namespace ptlite
