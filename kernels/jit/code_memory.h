// Executable memory that is never writable and executable at once: code is finished elsewhere, copied into fresh pages, and these
// are then made read-execute.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ptlite {
namespace jit {

struct Code {
  void* entry = nullptr;
  size_t bytes = 0;  // of the mapping
};

// Copies `size` bytes of position-independent code into pages of its own. entry is nullptr where the system refuses.
Code seal(const void* code, size_t size);
void unmap(const Code& code);

// False where PTLITE_JIT is 0 (nothing is generated) or deny (executable memory counts as refused).
bool enabled();
// Whether executable memory can be had; tried once.
bool memory_available();

// Writes the code to PTLITE_JIT_DUMP/<name>.bin where that variable is set.
void dump(const char* name, const void* code, size_t size);

}  // namespace jit
}  // namespace ptlite
