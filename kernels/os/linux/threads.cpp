#include "os/threads.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptlite {

int start_threads(int count, size_t stack_bytes, void* (*run)(void*), void (*counted)(), void (*refused)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  int started = 0;
  for (; started < count; started++) {
    counted();
    if (pthread_create(&thread, &attributes, run, nullptr) == 0) continue;
    refused();
    break;
  }
  pthread_attr_destroy(&attributes);
  return started;
}

void after_forks(void (*task)()) { pthread_atfork(nullptr, nullptr, task); }

bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

}  // namespace ptlite

extern "C" {

// What thread_local destructors are registered with. libstdc++'s own does the same and brings its exception handling along.
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library);
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  return __cxa_thread_atexit_impl(destroy, object, library);
}

}  // extern "C"
