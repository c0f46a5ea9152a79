#include "os/wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace ptlite {

bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  const timespec time = {static_cast<time_t>(most / 1000000000), static_cast<long>(most % 1000000000)};
  const timespec* const limit = most < 0 ? nullptr : &time;
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

void wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace ptlite
