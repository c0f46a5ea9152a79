// Memory that a thread keeps for what it computes next.
#pragma once

#include <stddef.h>

#include "guard.h"
#include "os/heap.h"

namespace ptlite {

/// One buffer that grows, 64-byte aligned. With guard pages it is a new one each time, of just the size that was asked for.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { give_back(); }

  /// nullptr where the system has no memory. What was given before is gone.
  void* at_least(size_t bytes) {
    if (bytes <= size_ && memory_ != nullptr) return memory_;
    // nothing at all is a place, too: null says that there is no memory
    return grow(bytes == 0 ? 1 : bytes);
  }

 private:
  __attribute__((noinline)) void* grow(size_t bytes) {
    give_back();
    if (guarded()) {
      // vectors are loaded from it as from any that is aligned
      memory_ = take_guarded(bytes, 64);
      guarded_size_ = bytes;
      return memory_;
    }
    const size_t size = (bytes + bytes / 2 + 4095) & ~size_t{4095};
    memory_ = allocate_aligned(64, size);
    size_ = memory_ == nullptr ? 0 : size;
    return memory_;
  }

  void give_back() {
    if (memory_ != nullptr && guarded())
      return_guarded(memory_, guarded_size_);
    else
      free_aligned(memory_);
    memory_ = nullptr;
    size_ = 0;
  }

  void* memory_ = nullptr;
  size_t size_ = 0;
  size_t guarded_size_ = 0;
};

}  // namespace ptlite
