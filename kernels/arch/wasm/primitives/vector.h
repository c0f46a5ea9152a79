// What the vector class (vec/vec.h) leaves to WebAssembly's vectors, on the compiler's own.
#pragma once

#include <wasm_simd128.h>

#include "primitives/portable.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

using portable::shuffled;

// The first `count` lanes, fewer than there are, of `bytes` each; the others are zero.
template <class Raw, int bytes>
PTLITE_INLINE Raw load_first(const void* p, int64_t count) {
  if constexpr (bytes == 4) {
    const auto* const lanes = static_cast<const uint32_t*>(p);
    if (count < 2) return count > 0 ? (Raw)wasm_v128_load32_zero(lanes) : Raw{};
    const v128_t r = wasm_v128_load64_zero(lanes);
    return (Raw)(count > 2 ? wasm_v128_load32_lane(lanes + 2, r, 2) : r);
  } else if constexpr (bytes == 8) {
    return count > 0 ? (Raw)wasm_v128_load64_zero(p) : Raw{};
  } else {
    return portable::load_first<Raw, bytes>(p, count);
  }
}

// To memory; what lies behind it is not touched.
template <class Raw, int bytes>
PTLITE_INLINE void store_first(void* p, Raw v, int64_t count) {
  if constexpr (bytes == 4) {
    auto* const lanes = static_cast<uint32_t*>(p);
    if (count > 1) wasm_v128_store64_lane(lanes, (v128_t)v, 0);
    else if (count > 0) wasm_v128_store32_lane(lanes, (v128_t)v, 0);
    if (count > 2) wasm_v128_store32_lane(lanes + 2, (v128_t)v, 2);
  } else if constexpr (bytes == 8) {
    if (count > 0) wasm_v128_store64_lane(p, (v128_t)v, 0);
  } else {
    portable::store_first<Raw, bytes>(p, v, count);
  }
}

// Whether any bit of a vector of int64 is set.
template <class Raw>
PTLITE_INLINE bool any_bit(Raw v) {
  return wasm_v128_any_true((v128_t)v);
}

// Of float lanes; b where either operand is NaN. "Pseudo-minimum" takes its operands the other way round.
template <class Raw>
PTLITE_INLINE Raw lesser(Raw a, Raw b) {
  return (Raw)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
}
template <class Raw>
PTLITE_INLINE Raw greater(Raw a, Raw b) {
  return (Raw)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
}

// Lanes of float or double to integers of the same type.
enum Rounding { kDown, kUp, kToZero, kToEven };
template <int mode, class T, class Raw, class F>
PTLITE_INLINE Raw rounded(Raw a, F) {
  const auto x = (v128_t)a;
  if constexpr (sizeof(T) == 4) {
    if constexpr (mode == kDown) return (Raw)wasm_f32x4_floor(x);
    if constexpr (mode == kUp) return (Raw)wasm_f32x4_ceil(x);
    if constexpr (mode == kToZero) return (Raw)wasm_f32x4_trunc(x);
    return (Raw)wasm_f32x4_nearest(x);
  } else {
    if constexpr (mode == kDown) return (Raw)wasm_f64x2_floor(x);
    if constexpr (mode == kUp) return (Raw)wasm_f64x2_ceil(x);
    if constexpr (mode == kToZero) return (Raw)wasm_f64x2_trunc(x);
    return (Raw)wasm_f64x2_nearest(x);
  }
}

// The square roots of lanes of float or double.
template <class T, class Raw>
PTLITE_INLINE Raw root(Raw a) {
  if constexpr (sizeof(T) == 4) return (Raw)wasm_f32x4_sqrt((v128_t)a);
  else return (Raw)wasm_f64x2_sqrt((v128_t)a);
}

#if defined(PTLITE_VEC_MULTIPLY_ADDS)
// a * b + c of lanes of float or double; one rounding where the processor has an instruction for it.
template <class T, class Raw>
PTLITE_INLINE Raw multiplied_and_added(Raw a, Raw b, Raw c) {
  if constexpr (sizeof(T) == 4) return (Raw)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
  else return (Raw)wasm_f64x2_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c);
}
#endif

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
