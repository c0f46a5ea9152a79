#include "os/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/lock.h"

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

// glibc has the first for programs that its own pthread_atfork was linked into, musl the second alone.
extern "C" int __register_atfork(void (*)(), void (*)(), void (*child)(), void* library) __attribute__((weak));
extern "C" int pthread_atfork(void (*)(), void (*)(), void (*child)()) noexcept __attribute__((weak));
extern "C" char __dso_handle __attribute__((visibility("hidden")));

void after_forks(void (*task)()) {
  if (__register_atfork != nullptr) __register_atfork(nullptr, nullptr, task, &__dso_handle);
  else if (pthread_atfork != nullptr) pthread_atfork(nullptr, nullptr, task);
}

bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

void yield() { sched_yield(); }

bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  const timespec time = {static_cast<time_t>(most / 1000000000), static_cast<long>(most % 1000000000)};
  const timespec* const limit = most < 0 ? nullptr : &time;
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

void wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace ptlite

#if defined(__GLIBC__)
// as in oldest_glibc.h
#if defined(__x86_64__)
#define PTLITE_TAKE(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#else
#define PTLITE_TAKE(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#endif
PTLITE_TAKE(pthread_getspecific);
PTLITE_TAKE(pthread_key_create);
PTLITE_TAKE(pthread_setspecific);
#endif

namespace {

/// What is to be destroyed when a thread ends, the last one first.
struct Ending {
  void (*destroy)(void*);
  void* object;
  Ending* next;
};

pthread_key_t endings;
ptlite::Once endings_made;

void end_thread(void* first) {
  for (auto* ending = static_cast<Ending*>(first); ending != nullptr;) {
    ending->destroy(ending->object);
    Ending* const done = ending;
    ending = done->next;
    free(done);
  }
}

/// Without a C library that does it. Where there is no memory, what the object holds stays.
int at_end_of_thread(void (*destroy)(void*), void* object) {
  endings_made.run([] { pthread_key_create(&endings, end_thread); });
  auto* const ending = static_cast<Ending*>(malloc(sizeof(Ending)));
  if (ending == nullptr) return -1;
  *ending = {destroy, object, static_cast<Ending*>(pthread_getspecific(endings))};
  return pthread_setspecific(endings, ending);
}

}  // namespace

extern "C" {

// What thread_local destructors are registered with. libstdc++'s own does the same and brings its exception handling along. musl has none.
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library) __attribute__((weak));
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  if (__cxa_thread_atexit_impl != nullptr) return __cxa_thread_atexit_impl(destroy, object, library);
  return at_end_of_thread(destroy, object);
}

}  // extern "C"
