// float32 to 8-bit integers, a vector at a time.
#pragma once

#include <string.h>

#include "ops/quantized/requantize.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

/// saturate(round_half_even(x * inv_scale) + zero_point) for an 8-bit type.
class Quantizer {
 public:
  Quantizer(float inv_scale, int32_t zero_point, bool is_signed)
      : inv_scale_(inv_scale),
        low_(static_cast<float>((is_signed ? -128 : 0) - zero_point)),
        high_(static_cast<float>((is_signed ? 127 : 255) - zero_point)),
        zero_point_(zero_point) {}

  PTLITE_INLINE Vec<int32_t> operator()(Vec<float> x) const {
    const Vec<float> scaled = x * inv_scale_;
    // what no 64-bit integer holds, NaN too, becomes the lowest value, as on x86; the bounds are integers
    const Vec<float> held = select(scaled < Vec<float>(0x1p63f), scaled, low_);
    return nearest_int(fast_min(fast_max(held, low_), high_)) + zero_point_;
  }

  /// Elements [begin, end) of `in`, dense, to the same places of `out`.
  template <class T>
  void run(const float* in, T* out, int64_t begin, int64_t end) const {
    using F = Vec<float>;
    int64_t i = begin;
    for (; i + F::size <= end; i += F::size) (*this)(F::load(in + i)).store_to(out + i);
    if (i < end) {
      T last[F::size];
      (*this)(F::load(in + i, end - i)).store_to(last);
      memcpy(out + i, last, static_cast<size_t>(end - i));
    }
  }

 private:
  Vec<float> inv_scale_, low_, high_;
  Vec<int32_t> zero_point_;
};

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
