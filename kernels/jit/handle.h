// What a handle of generated code points to, for code that runs it and knows nothing of how it is made and kept.
#pragma once

#include <stdint.h>

namespace ptlite {
namespace jit {

struct Handle {
  // null while the code is still being compiled, and may change between two calls
  void* start = nullptr;
};

// Whether there is code to run; compiled kernels do the work as long as there is none.
inline bool is_ready(const Handle* handle) { return handle != nullptr && handle->start != nullptr; }
inline bool is_ready(int64_t handle) { return is_ready(reinterpret_cast<const Handle*>(handle)); }

}  // namespace jit
}  // namespace ptlite
