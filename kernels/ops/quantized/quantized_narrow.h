// Four registers of int32 sums to one of 8-bit integers, as `requantize` does it but without a way through memory.
#pragma once

#include "ops/quantized/quantized_tile.h"
#include "ops/quantized/requantize.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

// True where a sum times its factor stays inside int32, whatever the sum is.
inline bool small_scales(const float* scales, int64_t n) {
  bool small = true;
  for (int64_t i = 0; i < n; i++) small &= scales[i] < 0.5f && scales[i] > -0.5f;
  return small;
}

// The range of the output, kept in registers. Signed integers are made as unsigned ones shifted by 128.
class Narrow {
 public:
  Narrow(OutputRange range, bool is_signed)
      : high_(broadcast(static_cast<float>(range.max - range.zero))),
        zero_(words(range.zero + (is_signed ? 128 : 0))),
        min_(bytes(range.min + (is_signed ? 128 : 0))),
        max_(bytes(range.max + (is_signed ? 128 : 0))),
        flip_(bytes(is_signed ? 128 : 0)) {}

  // The integer nearest to sum * factor, but for those above the range; the lowest int32 where that is no number.
  template <bool is_small>
  PTLITE_INLINE Reg scale(Reg sum, Floats factor) const {
    return is_small ? scaled(sum, factor) : scaled(sum, factor, high_);
  }

  // Bytes of what `scale` gave: byte 16 i + 4 j + k is of lane 4 i + k of the j-th operand.
  PTLITE_INLINE Reg narrow(Reg a, Reg b, Reg c, Reg d) const {
    const Reg low = add_words(narrow_to_words(a, b), zero_), high = add_words(narrow_to_words(c, d), zero_);
    return flip(min_bytes(max_bytes(narrow_to_bytes(low, high), min_), max_), flip_);
  }

 private:
  Floats high_;
  Reg zero_, min_, max_, flip_;
};

}  // namespace int8
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
