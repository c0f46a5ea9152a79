// Threads of the process, and how they sleep until a word changes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace ptlite {

/// Starts up to `count` threads that nobody waits for; how many were started. `counted` is called before each, `refused` where the system
/// does not give one.
int start_threads(int count, size_t stack_bytes, void* (*run)(void*), void (*counted)(), void (*refused)());

/// Calls `task` in the child of each later fork, which has only the thread that forked.
void after_forks(void (*task)());

bool is_main_thread();

/// Lets another thread run.
void yield();

/// Returns when woken, or at once where the word is not `expected`; spurious returns happen. False when `most` nanoseconds have passed, where
/// that is not negative.
bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most = -1);

/// Wakes as many as `count` threads that sleep on the word.
void wake(std::atomic<uint32_t>& word, int count);

}  // namespace ptlite
