// What a handle of generated code points to, for code that runs it and knows nothing of how it is made and kept.
#pragma once

#include <stdint.h>

#include "primitives/shared_code.h"

namespace ptlite {
namespace jit {

/// How generated code is called: by System V's convention on x86, whatever the system's own is.
#if defined(__x86_64__)
#define PTLITE_GENERATED_CALL __attribute__((sysv_abi))
#else
#define PTLITE_GENERATED_CALL
#endif

struct Handle {
  // null while the code is still being compiled, and may change between two calls
  void* start = nullptr;
};

// Whether there is code to run; compiled kernels do the work as long as there is none.
inline bool is_ready(const Handle* handle) { return handle != nullptr && is_there(&handle->start); }
inline bool is_ready(int64_t handle) { return is_ready(reinterpret_cast<const Handle*>(handle)); }

}  // namespace jit
}  // namespace ptlite
