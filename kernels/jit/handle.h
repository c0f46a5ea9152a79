// What a handle of generated code points to, for code that runs it and knows nothing of how it is made and kept.
#pragma once

namespace ptlite {
namespace jit {

/// How generated code is called: by System V's convention on x86, whatever the system's own is.
#if defined(__x86_64__)
#define PTLITE_GENERATED_CALL __attribute__((sysv_abi))
#else
#define PTLITE_GENERATED_CALL
#endif

struct Handle {
  void* start = nullptr;
};

}  // namespace jit
}  // namespace ptlite
