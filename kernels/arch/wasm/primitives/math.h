// Arithmetic on float vectors. Included by vec/math.h.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// a * b + c with one rounding where there is an instruction for it, whatever c is made of.
PTLITE_INLINE Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
  return fma(a, b, c);
}

// To the nearest integer, ties to even. |x| < 2^31.
PTLITE_INLINE Vec<int32_t> nearest_int(Vec<float> x) {
  const v128_t nearest = wasm_f32x4_nearest((v128_t)x.v);
#if defined(__wasm_relaxed_simd__)
  return Vec<int32_t>((Vec<int32_t>::Raw)wasm_i32x4_relaxed_trunc_f32x4(nearest));
#else
  return Vec<int32_t>((Vec<int32_t>::Raw)wasm_i32x4_trunc_sat_f32x4(nearest));
#endif
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
