// What the vector class (vec/vec.h) leaves to the instructions of 64-bit Arm, on the compiler's own vectors.
#pragma once

#include <stdint.h>
#include <string.h>

#include "primitives/registers.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// The first `count` lanes, fewer than there are, of `bytes` each; the others are zero.
template <class Raw, int bytes>
PTLITE_INLINE Raw load_first(const void* p, int64_t count) {
  Raw r{};
  memcpy(&r, p, static_cast<size_t>(count) * bytes);
  return r;
}

// To memory; what lies behind it is not touched.
template <class Raw, int bytes>
PTLITE_INLINE void store_first(void* p, Raw v, int64_t count) {
  memcpy(p, &v, static_cast<size_t>(count) * bytes);
}

// Whether any bit of a vector of int64 is set.
template <class Raw>
PTLITE_INLINE bool any_bit(Raw v) {
  return vmaxvq_u32((uint32x4_t)v) != 0;
}

// Of float lanes; b where either operand is NaN. The instructions for it would give NaN.
template <class Raw>
PTLITE_INLINE Raw lesser(Raw a, Raw b) {
  return (Raw)vbslq_f32(vcltq_f32((float32x4_t)a, (float32x4_t)b), (float32x4_t)a, (float32x4_t)b);
}
template <class Raw>
PTLITE_INLINE Raw greater(Raw a, Raw b) {
  return (Raw)vbslq_f32(vcgtq_f32((float32x4_t)a, (float32x4_t)b), (float32x4_t)a, (float32x4_t)b);
}

// Lanes of float or double to integers of the same type.
enum Rounding { kDown, kUp, kToZero, kToEven };
template <int mode, class T, class Raw, class F>
PTLITE_INLINE Raw rounded(Raw a, F) {
  if constexpr (sizeof(T) == 4) {
    const auto x = (float32x4_t)a;
    if constexpr (mode == kDown) return (Raw)vrndmq_f32(x);
    if constexpr (mode == kUp) return (Raw)vrndpq_f32(x);
    if constexpr (mode == kToZero) return (Raw)vrndq_f32(x);
    return (Raw)vrndnq_f32(x);
  } else {
    const auto x = (float64x2_t)a;
    if constexpr (mode == kDown) return (Raw)vrndmq_f64(x);
    if constexpr (mode == kUp) return (Raw)vrndpq_f64(x);
    if constexpr (mode == kToZero) return (Raw)vrndq_f64(x);
    return (Raw)vrndnq_f64(x);
  }
}

// The square roots of lanes of float or double.
template <class T, class Raw>
PTLITE_INLINE Raw root(Raw a) {
  if constexpr (sizeof(T) == 4) return (Raw)vsqrtq_f32((float32x4_t)a);
  else return (Raw)vsqrtq_f64((float64x2_t)a);
}

// Lane j of the result is lane index[j] of x followed by y.
template <class Raw, class Index>
PTLITE_INLINE Raw shuffled(Raw x, Raw y, Index index) {
#if defined(__clang__)
  constexpr int lanes = static_cast<int>(sizeof(index) / sizeof(index[0]));
  Raw r{};
  for (int j = 0; j < lanes; j++) r[j] = index[j] < lanes ? x[index[j]] : y[index[j] - lanes];
  return r;
#else
  return __builtin_shuffle(x, y, index);
#endif
}
// Lane j of the result is lane index[j] of x.
template <class Raw, class Index>
PTLITE_INLINE Raw shuffled(Raw x, Index index) {
  return shuffled(x, x, index);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
