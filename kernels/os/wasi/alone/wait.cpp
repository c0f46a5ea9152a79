#include "os/wait.h"

namespace ptlite {

// There is one thread: nobody could wake it, so that it does not sleep.
bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  return most < 0 || word.load(std::memory_order_relaxed) != expected;
}

void wake(std::atomic<uint32_t>&, int) {}

}  // namespace ptlite
