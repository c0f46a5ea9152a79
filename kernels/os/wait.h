// Sleeping until a word changes.
#pragma once

#include <stdint.h>

#include <atomic>

namespace ptlite {

/// Returns when woken, or at once where the word is not `expected`; spurious returns happen. False when `most` nanoseconds have passed, where
/// that is not negative.
bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most = -1);

/// Wakes as many as `count` threads that sleep on the word.
void wake(std::atomic<uint32_t>& word, int count);

}  // namespace ptlite
