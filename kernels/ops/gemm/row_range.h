// What all numbers of a row are rounded by, in the arithmetic of the operators that say so: torchao::choose_qparams_affine and quantize_affine, and
// quantized_decomposed::choose_qparams_per_token_asymmetric and quantize_per_token. Rows of bfloat16 numbers are rounded as on tensors of that dtype.
#pragma once

#include <math.h>

#include <algorithm>

#include "ops/gemm/packed_weight.h"
#include "vec/half.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace packed {

// Products alone: no compiler makes one operation of them and the sums that they go into.
__attribute__((noinline)) inline void multiply_wide(const float* x, double by, double* out) {
  for (int i = 0; i < kBlock; i++) out[i] = static_cast<double>(x[i]) * by;
}

struct RowRange {
  using F = Vec<float>;
  using Frame = packed_linear_frame;

  // NaN where a number of the row, or the scale, is not finite.
  float scale;
  int32_t zero = 0;

  // Whether there are zero points.
  static constexpr bool shifts(int32_t bytes) { return bytes == RowBytes_affine || bytes == RowBytes_tokens || bytes == RowBytes_affine_bfloat16; }

  RowRange(const Frame& f, const float* x)
      : least(static_cast<float>(127 - f.range)), wide(f.bytes == RowBytes_tokens), halves(f.bytes == RowBytes_affine_bfloat16 || f.bytes == RowBytes_symmetric_bfloat16) {
    F low = F::zero(), high = F::zero(), none = F::zero();
    for (int64_t i = 0; i < f.k; i += F::size) {
      const F value = F::load(x + i, f.k - i);
      low = fast_min(low, value);
      high = fast_max(high, value);
      none += value * F::zero();  // NaN where a number is not finite
    }
    choose(f, reduce_min(low), reduce_max(high));
    if (!(reduce_add(none) == 0) || !isfinite(scale)) scale = NAN;
    inverse = halves ? nearest(1 / scale) : 1 / scale;
  }

  // A block, whose vector at number i is `load(i / F::size)`, as integers.
  template <class Load>
  PTLITE_INLINE void round(const Load& load, int32_t* q) const {
    if (wide) return round_wide(load, q);
    for (int i = 0; i < kBlock / F::size; i++) {
      F quotient = load(i) * F(inverse);
      // sums with zero points are exact up to 256, and bounded beyond
      if (halves) quotient = nearest(quotient);
      put(rint(quotient) + F(static_cast<float>(zero)), q + i * F::size);
    }
  }

 private:
  static constexpr float kMost = 127;
  float least, inverse;
  bool wide, halves;

  static float nearest(float x) { return to_float(to_bfloat16(x)); }
  static PTLITE_INLINE F nearest(F x) {
    bfloat16 rounded[F::size];
    store_float(rounded, x);
    return load_float(rounded);
  }

  void choose(const Frame& f, float low, float high) {
    const float eps = static_cast<float>(f.eps);
    if (f.bytes == RowBytes_affine_bfloat16) return choose_bfloat16(low, high, eps);
    if (!shifts(f.bytes)) {
      const float range = std::max(-low, high) / ((kMost - least) / 2);
      scale = std::max(f.bytes == RowBytes_symmetric ? range : nearest(range), eps);
      return;
    }
    scale = std::max((high - low) / (kMost - least), eps);
    const float from_low = low / scale, from_high = high / scale;
    float point = least - rintf(from_low);
    if (wide) point = (from_low + least) + (from_high + kMost) > 0 ? least - from_low : kMost - from_high;
    // NaN where the scale has overflowed
    point = point > least ? std::min(point, kMost) : least;
    zero = static_cast<int32_t>(rintf(point));
  }

  // The same with a rounding to bfloat16 behind each operation; integers have none.
  void choose_bfloat16(float low, float high, float eps) {
    scale = std::max(nearest(nearest(high - low) / (kMost - least)), eps);
    const float point = least - rintf(nearest(low / scale));
    // NaN where the scale has overflowed
    zero = static_cast<int32_t>(point > least ? std::min(point, kMost) : least);
  }

  PTLITE_INLINE void put(F rounded, int32_t* q) const {
    // NaN, of rows that become NaN, is any byte
    convert<int32_t>(fast_min(fast_max(select(is_nan(rounded), F::zero(), rounded), F(least)), F(kMost))).store(q);
  }

  // In double, where the zero point is added before numbers are rounded.
  template <class Load>
  void round_wide(const Load& load, int32_t* q) const {
    alignas(64) float x[kBlock];
    alignas(64) double scaled[kBlock];
    for (int i = 0; i < kBlock / F::size; i++) load(i).store(x + i * F::size);
    multiply_wide(x, 1 / static_cast<double>(scale), scaled);
    for (int i = 0; i < kBlock; i++) x[i] = static_cast<float>(::rint(scaled[i] + zero));
    for (int i = 0; i < kBlock; i += F::size) put(F::load(x + i), q + i);
  }
};

}  // namespace packed
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
