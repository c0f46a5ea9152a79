// 16 normal samples from 16 uniform ones by the Box-Muller transform, as PyTorch's vectorised kernel makes them: with
// the single-precision logarithm, sine and cosine of the Cephes library and fused multiply-adds.
#pragma once

#include <math.h>
#include <string.h>

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

namespace cephes {

PTLITE_INLINE uint32_t bits(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof(u));
  return u;
}

PTLITE_INLINE float from_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof(x));
  return x;
}

// c[0] x^(n-1) + ... + c[n-1]
template <int n>
PTLITE_INLINE float polynomial(const float (&c)[n], float x) {
  float y = c[0];
  for (int i = 1; i < n; ++i) y = __builtin_fmaf(y, x, c[i]);
  return y;
}

// The natural logarithm of a positive number.
PTLITE_INLINE float log(float x) {
  constexpr float kCoefficients[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,  -1.2420140846e-1f, 1.4249322787e-1f,
                                     -1.6668057665e-1f, 2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
  const float smallest = from_bits(0x00800000u);
  if (x < smallest) x = smallest;
  // x = mantissa 2^exponent, the mantissa around 1
  float exponent = static_cast<float>(static_cast<int32_t>(bits(x) >> 23) - 126);
  float m = from_bits((bits(x) & 0x807fffffu) | 0x3f000000u);
  const bool low = m < 0.707106781186547524f;
  const float again = low ? m : 0.0f;
  if (low) exponent -= 1.0f;
  m = (m - 1.0f) + again;
  const float square = m * m;
  float y = (polynomial(kCoefficients, m) * m) * square;
  y = __builtin_fmaf(exponent, -2.12194440e-4f, y);
  y = __builtin_fmaf(-square, 0.5f, y);
  return __builtin_fmaf(exponent, 0.693359375f, m + y);
}

// Sine and cosine of x >= 0.
PTLITE_INLINE void sincos(float x, float* sine, float* cosine) {
  constexpr float kCosine[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
  constexpr float kSine[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
  // x modulo a quarter turn, in three steps of extended precision
  const int32_t octant = (static_cast<int32_t>(x * 1.27323954473516f) + 1) & ~1;
  const float turns = static_cast<float>(octant);
  x = __builtin_fmaf(turns, -0.78515625f, x);
  x = __builtin_fmaf(turns, -2.4187564849853515625e-4f, x);
  x = __builtin_fmaf(turns, -3.77489497744594108e-8f, x);
  const float z = x * x;
  const float c = __builtin_fmaf(-z, 0.5f, (polynomial(kCosine, z) * z) * z) + 1.0f;
  const float s = __builtin_fmaf(polynomial(kSine, z) * z, x, x);
  const bool swapped = (octant & 2) != 0;
  const uint32_t sine_sign = static_cast<uint32_t>(octant & 4) << 29;
  const uint32_t cosine_sign = static_cast<uint32_t>(~(octant - 2) & 4) << 29;
  *sine = from_bits(bits(swapped ? c : s) ^ sine_sign);
  *cosine = from_bits(bits(swapped ? s : c) ^ cosine_sign);
}

}  // namespace cephes

// u[0..7] and u[8..15] are the pairs' first and second uniform samples; the results take their place.
inline void normal16(float* u, float mean, float deviation) {
  for (int i = 0; i < 8; ++i) {
    const float radius = ::sqrtf(-2.0f * cephes::log(1.0f - u[i]));
    float sine, cosine;
    cephes::sincos(static_cast<float>(2.0 * M_PI) * u[i + 8], &sine, &cosine);
    u[i] = __builtin_fmaf(radius * cosine, deviation, mean);
    u[i + 8] = __builtin_fmaf(radius * sine, deviation, mean);
  }
}

inline void normal16(double* u, double mean, double deviation) {
  for (int i = 0; i < 8; ++i) {
    const double radius = ::sqrt(-2.0 * ::log(1.0 - u[i]));
    const double theta = 2.0 * M_PI * u[i + 8];
    u[i] = __builtin_fma(radius * ::cos(theta), deviation, mean);
    u[i + 8] = __builtin_fma(radius * ::sin(theta), deviation, mean);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
