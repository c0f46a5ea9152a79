#include "os/lock.h"

#include "os/windows/system.h"

namespace ptlite {

static_assert(sizeof(SRWLOCK) == sizeof(void*) && sizeof(INIT_ONCE) == sizeof(void*), "each is a word that starts at 0");

void Mutex::lock() { AcquireSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&state_)); }

void Mutex::unlock() { ReleaseSRWLockExclusive(reinterpret_cast<SRWLOCK*>(&state_)); }

void Once::run(void (*task)()) {
  const auto call = [](INIT_ONCE*, void* given, void**) -> BOOL {
    reinterpret_cast<void (*)()>(given)();
    return TRUE;
  };
  InitOnceExecuteOnce(reinterpret_cast<INIT_ONCE*>(&state_), call, reinterpret_cast<void*>(task), nullptr);
}

}  // namespace ptlite
