#include "os/threads.h"

#include <pthread.h>
#include <sched.h>

namespace ptlite {

int start_threads(int count, size_t stack_bytes, void* (*run)(void*), void (*counted)(), void (*refused)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  // kernels are waited for, so that their threads belong on fast cores
  pthread_attr_set_qos_class_np(&attributes, QOS_CLASS_USER_INITIATED, 0);
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

bool is_main_thread() { return pthread_main_np() != 0; }

void yield() { sched_yield(); }

}  // namespace ptlite

extern "C" {

// The system's own, by which the end of a thread destroys its objects.
void _tlv_atexit(void (*destroy)(void*), void* object);

// What g++ registers them with. libstdc++'s brings its exception handling along.
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void*) {
  _tlv_atexit(destroy, object);
  return 0;
}

}  // extern "C"
