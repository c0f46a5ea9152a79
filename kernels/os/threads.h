// Threads of the process.
#pragma once

#include <stddef.h>

namespace ptlite {

/// Starts up to `count` threads that nobody waits for; how many were started. `counted` is called before each, `refused` where the system
/// does not give one.
int start_threads(int count, size_t stack_bytes, void* (*run)(void*), void (*counted)(), void (*refused)());

/// Calls `task` in the child of each later fork, which has only the thread that forked.
void after_forks(void (*task)());

bool is_main_thread();

/// Lets another thread run.
void yield();

}  // namespace ptlite
