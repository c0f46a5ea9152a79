// Which registers generated code may take. What a caller uses is escaped; the rest is handed out and given back.
#pragma once

#include <stdint.h>

namespace ptlite {
namespace jit {

enum class RegisterKind { general, vector, mask };

class RegisterSet {
 public:
  // The first `count` registers, all free.
  explicit RegisterSet(int count) : all_(count >= 32 ? ~uint32_t{0} : (uint32_t{1} << count) - 1), free_(all_) {}

  void take(int index) { free_ &= ~(uint32_t{1} << index); }
  void give(int index) { free_ |= (uint32_t{1} << index) & all_; }
  void give_all() { free_ = all_; }
  // Never handed out from here on.
  void reserve(int index) {
    all_ &= ~(uint32_t{1} << index);
    free_ &= all_;
  }
  bool is_free(int index) const { return ((free_ >> index) & 1) != 0; }
  int free_count() const { return __builtin_popcount(free_); }

  // A free register, now taken; -1 where there is none.
  int acquire() {
    if (free_ == 0) return -1;
    const int index = __builtin_ctz(free_);
    take(index);
    return index;
  }

 private:
  uint32_t all_;
  uint32_t free_;
};

}  // namespace jit
}  // namespace ptlite
