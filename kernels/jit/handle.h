// What a handle of generated code points to, for code that runs it and knows nothing of how it is made and kept.
#pragma once

namespace ptlite {
namespace jit {

struct Handle {
  void* start = nullptr;
};

}  // namespace jit
}  // namespace ptlite
