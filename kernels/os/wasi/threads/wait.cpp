#include "os/wait.h"

#include "os/wasi/threads/thread.h"

namespace ptlite {

// The thread of a page must not sleep, nor can a thread of memory that is not shared: these return at once, and whoever waits looks again.
bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  if (!this_thread.may_sleep) return most < 0 || word.load(std::memory_order_relaxed) != expected;
  constexpr int kTimedOut = 2;
  return __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(expected), most) != kTimedOut;
}

void wake(std::atomic<uint32_t>& word, int count) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), static_cast<unsigned>(count));
}

}  // namespace ptlite
