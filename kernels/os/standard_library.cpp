// What the C++ standard library calls when it cannot go on. Its own functions throw, and bring the unwinder, names of types and newer symbols of the
// C library along, 100 kB of them; kernels are compiled without exceptions, so all that could follow is the end of the process.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <new>
#include <string>

#include "os/lock.h"
#include "os/threads.h"

namespace {

[[noreturn]] void give_up(const char* what) {
  fprintf(stderr, "ptlite: %s\n", what);
  abort();
}

void* some(size_t bytes) { return malloc(bytes == 0 ? 1 : bytes); }

void* allocated(size_t bytes) {
  void* const block = some(bytes);
  if (block == nullptr) give_up("out of memory");
  return block;
}

}  // namespace

void* operator new(size_t bytes) { return allocated(bytes); }
void* operator new[](size_t bytes) { return allocated(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return some(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return some(bytes); }
void operator delete(void* block) noexcept { free(block); }
void operator delete[](void* block) noexcept { free(block); }
void operator delete(void* block, size_t) noexcept { free(block); }
void operator delete[](void* block, size_t) noexcept { free(block); }

namespace std {

const nothrow_t nothrow{};

#if defined(_LIBCPP_VERSION)

void __libcpp_verbose_abort(const char* format, ...) { give_up(format); }

#else

void __throw_bad_alloc() { give_up("out of memory"); }
void __throw_bad_array_new_length() { give_up("an array is too long"); }
void __throw_bad_function_call() { give_up("an empty function is called"); }
void __throw_length_error(const char* what) { give_up(what); }
void __throw_logic_error(const char* what) { give_up(what); }
void __throw_out_of_range(const char* what) { give_up(what); }
void __throw_out_of_range_fmt(const char* what, ...) { give_up(what); }
void __throw_system_error(int) { give_up("the system refuses something that cannot fail"); }

// the one in the library catches exceptions
template class basic_string<char>;

#endif

}  // namespace std

#if !defined(_LIBCPP_VERSION)

namespace {

/// Of the statics of functions.
ptlite::Mutex statics;

}  // namespace

// The first byte of a guard says that the static is there, which compiled code looks at; the second that a thread makes it.
extern "C" {

int __cxa_guard_acquire(uint8_t* guard) {
  for (;; ptlite::yield()) {
    const ptlite::Lock lock(statics);
    if (guard[0] != 0) return 0;
    if (guard[1] != 0) continue;
    guard[1] = 1;
    return 1;
  }
}

void __cxa_guard_release(uint8_t* guard) {
  const ptlite::Lock lock(statics);
  __atomic_store_n(&guard[0], uint8_t{1}, __ATOMIC_RELEASE);
  guard[1] = 0;
}

}  // extern "C"

#endif
