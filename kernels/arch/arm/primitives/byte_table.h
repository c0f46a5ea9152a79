// A table of 256 bytes in sixteen registers: an instruction looks 16 bytes up in four of them and leaves those alone that lie elsewhere.
#pragma once

#include <string.h>

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

class Table {
 public:
  static constexpr int64_t kBytes = 16;

  explicit Table(const uint8_t* bytes) {
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 4; j++) quarters_[i].val[j] = vld1q_u8(bytes + 64 * i + 16 * j);
    }
  }

  void look_up(const uint8_t* in, uint8_t* out) const { vst1q_u8(out, of(vld1q_u8(in))); }

  void look_up(const uint8_t* in, uint8_t* out, int64_t count) const {
    uint8_t some[kBytes] = {};
    memcpy(some, in, static_cast<size_t>(count));
    look_up(some, some);
    memcpy(out, some, static_cast<size_t>(count));
  }

 private:
  PTLITE_INLINE uint8x16_t of(uint8x16_t x) const {
    const uint8x16_t step = vdupq_n_u8(64);
    uint8x16_t r = vqtbl4q_u8(quarters_[0], x);
    for (int i = 1; i < 4; i++) {
      x = vsubq_u8(x, step);
      r = vqtbx4q_u8(r, quarters_[i], x);
    }
    return r;
  }

  uint8x16x4_t quarters_[4];
};

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
