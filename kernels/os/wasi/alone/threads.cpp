#include "os/threads.h"

namespace ptlite {

// There is one thread, and no other can be started.
int start_threads(int, size_t, void* (*)(void*), void (*)(), void (*)()) { return 0; }

void after_forks(void (*)()) {}

bool is_main_thread() { return true; }

void yield() {}

// There is one thread: nobody could wake it, so that it does not sleep.
bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  return most < 0 || word.load(std::memory_order_relaxed) != expected;
}

void wake(std::atomic<uint32_t>&, int) {}

}  // namespace ptlite

// of memory that threads leave behind: the one thread ends with the module
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }
