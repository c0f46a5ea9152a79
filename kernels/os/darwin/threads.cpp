#include "os/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

// Of the system's library, which C++'s own waits are made of on each version of it.
extern "C" int __ulock_wait(uint32_t operation, void* address, uint64_t value, uint32_t microseconds);
extern "C" int __ulock_wake(uint32_t operation, void* address, uint64_t value);

namespace ptlite {
namespace {

constexpr uint32_t kCompareAndWait = 1, kWakeAll = 0x100, kErrorInResult = 0x1000000;

}  // namespace

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

bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  // 0 is for ever; what is longer than an hour ends early, as if it had been woken
  constexpr int64_t kLongest = 3600000000;
  const int64_t microseconds = most < 0 ? 0 : most < 1000 ? 1 : most / 1000;
  const bool cut = microseconds > kLongest;
  const int result = __ulock_wait(kCompareAndWait | kErrorInResult, &word, expected, static_cast<uint32_t>(cut ? kLongest : microseconds));
  return cut || result != -ETIMEDOUT;
}

void wake(std::atomic<uint32_t>& word, int count) { __ulock_wake(kCompareAndWait | kErrorInResult | (count > 1 ? kWakeAll : 0), &word, 0); }

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
