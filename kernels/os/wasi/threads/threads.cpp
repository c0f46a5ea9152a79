#include "os/threads.h"

#include <stdlib.h>

#include "os/lock.h"
#include "os/wasi/imports.h"

namespace ptlite {
namespace {

struct Ending {
  void (*destroy)(void*);
  void* object;
  Ending* next;
};

/// What the kernels know of a thread, which is a worker of JavaScript with an instance of its own on the same memory.
struct Thread {
  bool may_sleep;
  /// The first instance's, which ends with the memory.
  bool is_first;
  /// What is called when the thread ends, the last first.
  Ending* endings;
};
__thread Thread this_thread;

constexpr uint32_t kFree = 0, kHeld = 1, kAwaited = 2;

}  // namespace

// Only JavaScript starts threads, and none before it has its turn: there are those that have come so far.
int start_threads(int, size_t, void* (*)(void*), void (*)(), void (*)()) { return 0; }

void after_forks(void (*)()) {}

bool is_main_thread() { return this_thread.is_first; }

void yield() {}

// The thread of a page must not sleep, nor can a thread of memory that is not shared: these return at once, and whoever waits looks again.
bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  if (!this_thread.may_sleep) return most < 0 || word.load(std::memory_order_relaxed) != expected;
  constexpr int kTimedOut = 2;
  return __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(expected), most) != kTimedOut;
}

void wake(std::atomic<uint32_t>& word, int count) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), static_cast<unsigned>(count));
}

void Mutex::lock() {
  uint32_t found = kFree;
  if (state_.compare_exchange_strong(found, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) return;
  while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) sleep_while(state_, kAwaited);
}

void Mutex::unlock() {
  if (state_.exchange(kFree, std::memory_order_release) == kAwaited) wake(state_, 1);
}

void Once::run(void (*task)()) {
  if (done_.load(std::memory_order_acquire)) return;
  Lock lock(mutex_);
  if (done_.load(std::memory_order_relaxed)) return;
  task();
  done_.store(true, std::memory_order_release);
}

}  // namespace ptlite

extern "C" {

/// The first call of an instance that its stack and its thread_locals have memory for. `may_sleep`: whether its engine lets it wait.
PTLITE_EXPORTED("ptlite_thread_begin") void ptlite_thread_begin(int32_t is_first, int32_t may_sleep) {
  ptlite::this_thread.is_first = is_first != 0;
  ptlite::this_thread.may_sleep = may_sleep != 0;
}

/// The last call of an instance: gives back what its thread_locals hold.
PTLITE_EXPORTED("ptlite_thread_end") void ptlite_thread_end() {
  ptlite::Thread& thread = ptlite::this_thread;
  while (thread.endings != nullptr) {
    ptlite::Ending* const ending = thread.endings;
    thread.endings = ending->next;
    ending->destroy(ending->object);
    free(ending);
  }
}

// Without memory to note it, what the object holds stays. The first thread's stays until its memory goes.
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void*) {
  ptlite::Thread& thread = ptlite::this_thread;
  if (thread.is_first) return 0;
  auto* const ending = static_cast<ptlite::Ending*>(malloc(sizeof(ptlite::Ending)));
  if (ending == nullptr) return -1;
  *ending = {destroy, object, thread.endings};
  thread.endings = ending;
  return 0;
}

}  // extern "C"
