// Generated kernels by their description, counted by their users.
#pragma once

#include <string>

#include "jit/code_memory.h"
#include "jit/handle.h"

namespace ptlite {
namespace jit {

// A generated kernel. Its address is the handle that frames carry.
struct Kernel : Handle {
  std::string key;
  Code code;
  int64_t users = 0;

  template <class Function>
  Function entry() const {
    return reinterpret_cast<Function>(start);
  }
};

// What a generator leaves behind; empty where it cannot generate.
struct Generated {
  std::string code;
};

// The kernel of `key`, which is its whole description: an existing one with one more user, or a new one from `generate`.
// `name` is what a dump is called. nullptr where nothing was generated or memory is refused. Thread-safe.
Kernel* obtain(const std::string& key, const std::string& name, Generated (*generate)(const void* description), const void* description);
void release(Kernel* kernel);

struct Totals {
  int64_t kernels;
  int64_t bytes;
};
Totals totals();

}  // namespace jit
}  // namespace ptlite
