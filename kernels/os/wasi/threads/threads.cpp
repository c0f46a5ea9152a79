#include "os/threads.h"

#include <stdlib.h>

#include "os/wasi/imports.h"
#include "os/wasi/threads/thread.h"

namespace ptlite {

struct Ending {
  void (*destroy)(void*);
  void* object;
  Ending* next;
};

__thread Thread this_thread;

// Only JavaScript starts threads, and none before it has its turn: there are those that have come so far.
int start_threads(int, size_t, void* (*)(void*), void (*)(), void (*)()) { return 0; }

void after_forks(void (*)()) {}

bool is_main_thread() { return this_thread.is_first; }

void yield() {}

}  // namespace ptlite

extern "C" {

/// The first call of an instance that its stack and its thread_locals have memory for. `may_sleep`: whether its engine lets it wait.
PTLITE_EXPORTED("ptlite_thread_begin") void ptlite_thread_begin(int32_t is_first, int32_t may_sleep) {
  ptlite::this_thread.is_first = is_first != 0;
  ptlite::this_thread.may_sleep = may_sleep != 0;
}

/// The last call of an instance: gives back what its thread_locals hold.
PTLITE_EXPORTED("ptlite_thread_end") void ptlite_thread_end() {
  ptlite::Thread& thread = ptlite::this_thread;
  while (thread.endings != nullptr) {
    ptlite::Ending* const ending = thread.endings;
    thread.endings = ending->next;
    ending->destroy(ending->object);
    free(ending);
  }
}

// Without memory to note it, what the object holds stays. The first thread's stays until its memory goes.
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void*) {
  ptlite::Thread& thread = ptlite::this_thread;
  if (thread.is_first) return 0;
  auto* const ending = static_cast<ptlite::Ending*>(malloc(sizeof(ptlite::Ending)));
  if (ending == nullptr) return -1;
  *ending = {destroy, object, thread.endings};
  thread.endings = ending;
  return 0;
}

}  // extern "C"
