// Binary operators on single elements, for those without a useful vector form.
#pragma once

#include <cmath>

#include "dispatch/kernel.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace lanes {

// The least number is its own negative, as everywhere in 64 bits that wrap around.
inline int64_t negative(int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }

// Quotient rounded down.
inline int64_t div_floor(int64_t a, int64_t b) {
  if (b == -1) return negative(a);
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

inline int64_t div_trunc(int64_t a, int64_t b) { return b == -1 ? negative(a) : a / b; }

// Takes the sign of the divisor.
inline int64_t remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t mod = a % b;
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}

// Takes the sign of the dividend.
inline int64_t modulo(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

// Integer power modulo 2^64; negative exponents give 0 but for bases 1 and -1.
inline int64_t power(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, base = static_cast<uint64_t>(a);
  for (; b > 0; b >>= 1, base *= base) {
    if ((b & 1) != 0) result *= base;
  }
  return static_cast<int64_t>(result);
}

inline int64_t gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return static_cast<int64_t>(x);
}

inline int64_t lcm(int64_t a, int64_t b) {
  const int64_t divisor = gcd(a, b);
  if (divisor == 0) return 0;
  const int64_t product = static_cast<int64_t>(static_cast<uint64_t>(a / divisor) * static_cast<uint64_t>(b));
  return product < 0 ? negative(product) : product;
}

template <class T>
inline T xlogy(T a, T b) {
  if (b != b) return b;
  return a == 0 ? T(0) : a * std::log(b);
}

template <class T>
inline T xlog1py(T a, T b) {
  if (b != b) return b;
  return a == 0 ? T(0) : a * std::log1p(b);
}

template <class T>
inline T logaddexp(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  return (a > b ? a : b) + std::log1p(std::exp(-std::fabs(a - b)));
}

template <class T>
inline T logaddexp2(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  return (a > b ? a : b) + std::log1p(std::exp2(-std::fabs(a - b))) * T(M_LOG2E);
}

template <class T>
inline T fmax_ignoring_nan(T a, T b) {
  return a != a ? b : b != b ? a : a > b ? a : b;
}
template <class T>
inline T fmin_ignoring_nan(T a, T b) {
  return a != a ? b : b != b ? a : a < b ? a : b;
}

// The bfloat16 after a on the way to b; both hold bfloat16 values.
inline float nextafter_bf16(float a, float b) {
  if (a != a || b != b) return a + b;
  if (a == b) return b;
  int32_t bits;
  memcpy(&bits, &a, 4);
  if (a == 0) {
    bits = b > 0 ? 0x00010000 : static_cast<int32_t>(0x80010000u);
  } else {
    bits += (a < b) == (a > 0) ? 0x10000 : -0x10000;
  }
  memcpy(&a, &bits, 4);
  return a;
}

// The same of float16.
inline float nextafter_f16(float a, float b) {
  if (a != a || b != b) return a + b;
  if (a == b) return b;
  // numbers below this are equally far apart, and those right above it, too
  constexpr float least_normal = 0x1p-14f, largest = 65504;
  if (std::fabs(a) <= least_normal) {
    const float next = a + (a < b ? 0x1p-24f : -0x1p-24f);
    return next == 0 ? std::copysign(next, a) : next;
  }
  if (std::fabs(a) > largest) return std::copysign(largest, a);
  int32_t bits;
  memcpy(&bits, &a, 4);
  bits += (a < b) == (a > 0) ? 0x2000 : -0x2000;
  memcpy(&a, &bits, 4);
  return a;
}

}  // namespace lanes
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
