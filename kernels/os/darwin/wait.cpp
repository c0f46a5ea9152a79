#include "os/wait.h"

#include <errno.h>

// Of the system's library, which C++'s own waits are made of on each version of it.
extern "C" int __ulock_wait(uint32_t operation, void* address, uint64_t value, uint32_t microseconds);
extern "C" int __ulock_wake(uint32_t operation, void* address, uint64_t value);

namespace ptlite {
namespace {

constexpr uint32_t kCompareAndWait = 1, kWakeAll = 0x100, kErrorInResult = 0x1000000;

}  // namespace

bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  // 0 is for ever; what is longer than an hour ends early, as if it had been woken
  constexpr int64_t kLongest = 3600000000;
  const int64_t microseconds = most < 0 ? 0 : most < 1000 ? 1 : most / 1000;
  const bool cut = microseconds > kLongest;
  const int result = __ulock_wait(kCompareAndWait | kErrorInResult, &word, expected, static_cast<uint32_t>(cut ? kLongest : microseconds));
  return cut || result != -ETIMEDOUT;
}

void wake(std::atomic<uint32_t>& word, int count) { __ulock_wake(kCompareAndWait | kErrorInResult | (count > 1 ? kWakeAll : 0), &word, 0); }

}  // namespace ptlite
