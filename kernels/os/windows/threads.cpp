#include "os/threads.h"

#include <stdlib.h>

#include "os/lock.h"
#include "os/windows/system.h"

namespace ptlite {
namespace {

Once pinned;

DWORD WINAPI enter(void* run) {
  reinterpret_cast<void* (*)(void*)>(run)(nullptr);
  return 0;
}

bool process_ends() {
  using InProgress = BYTE WINAPI();
  static InProgress* const in_progress = function_of<InProgress>(L"ntdll.dll", "RtlDllShutdownInProgress");
  return in_progress != nullptr && in_progress() != 0;
}

}  // namespace

void stay_loaded() {
  pinned.run([] {
    HMODULE library;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, reinterpret_cast<const wchar_t*>(&pinned), &library);
  });
}

int start_threads(int count, size_t stack_bytes, void* (*run)(void*), void (*counted)(), void (*refused)()) {
  stay_loaded();
  for (int started = 0; started < count; started++) {
    counted();
    HANDLE const thread = CreateThread(nullptr, stack_bytes, enter, reinterpret_cast<void*>(run), STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
    if (thread == nullptr) {
      refused();
      return started;
    }
    CloseHandle(thread);
  }
  return count;
}

// There are no forks.
void after_forks(void (*)()) {}

// Windows does not say which one came first. Those that ask want to know whether all ends with them.
bool is_main_thread() { return process_ends(); }

void yield() { SwitchToThread(); }

bool sleep_while(std::atomic<uint32_t>& word, uint32_t expected, int64_t most) {
  const int64_t milliseconds = (most + 999999) / 1000000;
  const DWORD limit = most < 0 ? INFINITE : milliseconds < INFINITE ? static_cast<DWORD>(milliseconds) : INFINITE - 1;
  return WaitOnAddress(&word, &expected, sizeof(expected), limit) || GetLastError() != ERROR_TIMEOUT;
}

void wake(std::atomic<uint32_t>& word, int count) {
  if (count == 1) WakeByAddressSingle(&word);
  else WakeByAddressAll(&word);
}

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

namespace {

/// What is to be destroyed when a thread ends, the last one first.
struct Ending {
  void (*destroy)(void*);
  void* object;
  Ending* next;
};

DWORD endings = FLS_OUT_OF_INDEXES;
ptlite::Once endings_made;

/// Not at the end of the process: its other threads were stopped wherever they were, with locks in their hands.
void WINAPI end_thread(void* first) {
  if (ptlite::process_ends()) return;
  for (auto* ending = static_cast<Ending*>(first); ending != nullptr;) {
    ending->destroy(ending->object);
    Ending* const done = ending;
    ending = done->next;
    free(done);
  }
}

}  // namespace

// What thread_local destructors are registered with. libstdc++'s own brings its exception handling along. Where there is no memory, what the object
// holds stays.
extern "C" int __cxa_thread_atexit(void (*destroy)(void*), void* object, void*) {
  ptlite::stay_loaded();
  endings_made.run([] { endings = FlsAlloc(end_thread); });
  if (endings == FLS_OUT_OF_INDEXES) return -1;
  auto* const ending = static_cast<Ending*>(malloc(sizeof(Ending)));
  if (ending == nullptr) return -1;
  *ending = {destroy, object, static_cast<Ending*>(FlsGetValue(endings))};
  return FlsSetValue(endings, ending) ? 0 : -1;
}
