// Sleeping until a word changes (futex(2)).
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace ptlite {

/// Returns when woken, or at once where the word is not `expected`; spurious returns happen. False when `most` has passed, where it is given.
inline bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, const timespec* most = nullptr) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, most, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

inline void wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace ptlite
