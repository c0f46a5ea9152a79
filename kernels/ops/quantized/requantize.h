// The way back from int32 sums to 8-bit integers, shared by the quantized products and the depthwise convolution.
#pragma once

#include "primitives/math.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// To the nearest integer, ties to even. |x| < 2^31.
PTLITE_INLINE Vec<int32_t> nearest_int(Vec<float> x) { return arch::nearest_int(x); }

struct OutputRange {
  int32_t zero, min, max;
};

// out = clamp(round_half_even((sums + offsets) * scales) + zero, min, max); a scale that is no number gives min.
template <class T>
PTLITE_INLINE void requantize(const int32_t* sums, const int32_t* offsets, const float* scales, T* out, int64_t n, OutputRange range) {
  using F = Vec<float>;
  using I = Vec<int32_t>;
  // clamping before the rounding gives the same: the bounds are integers
  const F low(static_cast<float>(range.min - range.zero)), high(static_cast<float>(range.max - range.zero));
  const I zero(range.zero);
  const auto one = [&](I sum, F scale) { return nearest_int(fast_min(fast_max(convert<float>(sum) * scale, low), high)) + zero; };
  int64_t i = 0;
  for (; i + I::size <= n; i += I::size) one(I::load(sums + i) + I::load(offsets + i), F::load(scales + i)).store_to(out + i);
  if (i < n) {
    T last[I::size];
    one(I::load(sums + i, n - i) + I::load(offsets + i, n - i), F::load(scales + i, n - i)).store_to(last);
    memcpy(out + i, last, static_cast<size_t>(n - i) * sizeof(T));
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
