#include "os/lock.h"

#include "os/wait.h"

namespace ptlite {
namespace {

constexpr uint32_t kFree = 0, kHeld = 1, kAwaited = 2;

}  // namespace

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
