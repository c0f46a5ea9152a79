#include "primitives/shared_code.h"

#include "os/wasi/imports.h"

namespace ptlite {

CodeList code_list;
__thread uint32_t known_generation;

bool learn_code() {
  const uint32_t generation = code_list.generation.load(std::memory_order_acquire);
  if (ptlite_learn() == 0) return false;
  known_generation = generation;
  return true;
}

}  // namespace ptlite

extern "C" {

/// Where JavaScript finds the list.
PTLITE_EXPORTED("ptlite_code_list") ptlite::CodeList* ptlite_code_list() { return &ptlite::code_list; }

}  // extern "C"
