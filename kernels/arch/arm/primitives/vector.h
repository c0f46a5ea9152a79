// What the vector class (vec/vec.h) leaves to the instructions of 64-bit Arm, on the compiler's own vectors.
#pragma once

#include "primitives/portable.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

using portable::load_first;
using portable::shuffled;
using portable::store_first;

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

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
