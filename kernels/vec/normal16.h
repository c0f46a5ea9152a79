// 16 normal samples from 16 uniform ones by the Box-Muller transform, as PyTorch's vectorised kernel makes them: with
// the single-precision logarithm, sine and cosine of the Cephes library and fused multiply-adds.
#pragma once

#include <math.h>
#include <string.h>

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

namespace cephes {

using F = Vec<float>;
using I = Vec<int32_t>;

// One rounding at every level, since seeded samples are the same everywhere.
PTLITE_INLINE F fused(F a, F b, F c) {
#if PTLITE_VEC_FUSED
  return fma(a, b, c);
#else
  alignas(PTLITE_VEC_BYTES) float x[F::size], y[F::size], z[F::size];
  a.store(x);
  b.store(y);
  c.store(z);
  for (int i = 0; i < F::size; ++i) x[i] = __builtin_fmaf(x[i], y[i], z[i]);
  return F::load(x);
#endif
}

// c[0] x^(n-1) + ... + c[n-1]
template <int n>
PTLITE_INLINE F polynomial(const float (&c)[n], F x) {
  F y(c[0]);
  for (int i = 1; i < n; ++i) y = fused(y, x, F(c[i]));
  return y;
}

// The natural logarithm of a positive number.
PTLITE_INLINE F log(F x) {
  constexpr float kCoefficients[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,  -1.2420140846e-1f, 1.4249322787e-1f,
                                     -1.6668057665e-1f, 2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  const I bits = bit_cast<int32_t>(fast_max(x, bit_cast<float>(I(0x00800000))));
  // x = mantissa 2^exponent, the mantissa around 1
  F exponent = convert<float>((bits >> 23) - I(126));
  F m = bit_cast<float>((bits & I(0x007fffff)) | I(0x3f000000));
  const auto low = m < F(0.707106781186547524f);
  const F again = select(low, m, F::zero());
  exponent -= select(low, F(1.0f), F::zero());
  m = (m - F(1.0f)) + again;
  const F square = m * m;
  F y = (polynomial(kCoefficients, m) * m) * square;
  y = fused(exponent, F(-2.12194440e-4f), y);
  y = fused(-square, F(0.5f), y);
  return fused(exponent, F(0.693359375f), m + y);
}

// Sine and cosine of x >= 0.
PTLITE_INLINE void sincos(F x, F* sine, F* cosine) {
  constexpr float kCosine[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
  constexpr float kSine[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
  // x modulo a quarter turn, in three steps of extended precision
  const I octant = (convert<int32_t>(x * F(1.27323954473516f)) + I(1)) & I(~1);
  const F turns = convert<float>(octant);
  x = fused(turns, F(-0.78515625f), x);
  x = fused(turns, F(-2.4187564849853515625e-4f), x);
  x = fused(turns, F(-3.77489497744594108e-8f), x);
  const F z = x * x;
  const F c = fused(-z, F(0.5f), (polynomial(kCosine, z) * z) * z) + F(1.0f);
  const F s = fused(polynomial(kSine, z) * z, x, x);
  const auto swapped = (octant & I(2)) != I::zero();
  const I sine_sign = (octant & I(4)) << 29;
  const I cosine_sign = (~(octant - I(2)) & I(4)) << 29;
  *sine = bit_cast<float>(bit_cast<int32_t>(select(swapped, c, s)) ^ sine_sign);
  *cosine = bit_cast<float>(bit_cast<int32_t>(select(swapped, s, c)) ^ cosine_sign);
}

}  // namespace cephes

// `blocks` times 16 samples. The first and second 8 of a block are the pairs' uniform samples; the results take their place.
inline void normal16(float* u, int64_t blocks, float mean, float deviation) {
  using F = Vec<float>;
  constexpr int kHalf = 8, kBlocks = 16;
  alignas(PTLITE_VEC_BYTES) float first[kHalf * kBlocks] = {}, second[kHalf * kBlocks] = {};
  const F by(deviation), middle(mean);
  for (int64_t from = 0; from < blocks; from += kBlocks) {
    const int64_t count = blocks - from < kBlocks ? blocks - from : kBlocks;
    float* at = u + from * 2 * kHalf;
    for (int64_t b = 0; b < count; ++b) {
      memcpy(first + b * kHalf, at + b * 2 * kHalf, sizeof(float) * kHalf);
      memcpy(second + b * kHalf, at + b * 2 * kHalf + kHalf, sizeof(float) * kHalf);
    }
    for (int64_t i = 0; i < count * kHalf; i += F::size) {
      const F radius = sqrt(F(-2.0f) * cephes::log(F(1.0f) - F::load(first + i)));
      F sine, cosine;
      cephes::sincos(F(static_cast<float>(2.0 * M_PI)) * F::load(second + i), &sine, &cosine);
      cephes::fused(radius * cosine, by, middle).store(first + i);
      cephes::fused(radius * sine, by, middle).store(second + i);
    }
    for (int64_t b = 0; b < count; ++b) {
      memcpy(at + b * 2 * kHalf, first + b * kHalf, sizeof(float) * kHalf);
      memcpy(at + b * 2 * kHalf + kHalf, second + b * kHalf, sizeof(float) * kHalf);
    }
  }
}

inline void normal16(double* u, int64_t blocks, double mean, double deviation) {
  for (; blocks > 0; --blocks, u += 16) {
    for (int i = 0; i < 8; ++i) {
      const double radius = ::sqrt(-2.0 * ::log(1.0 - u[i]));
      const double theta = 2.0 * M_PI * u[i + 8];
      u[i] = __builtin_fma(radius * ::cos(theta), deviation, mean);
      u[i + 8] = __builtin_fma(radius * ::sin(theta), deviation, mean);
    }
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
