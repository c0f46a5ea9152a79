#include "os/threads.h"

namespace ptlite {

// There is one thread, and no other can be started.
int start_threads(int, size_t, void* (*)(void*), void (*)(), void (*)()) { return 0; }

void after_forks(void (*)()) {}

bool is_main_thread() { return true; }

void yield() {}

}  // namespace ptlite

// of memory that threads leave behind: the one thread ends with the module
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }
