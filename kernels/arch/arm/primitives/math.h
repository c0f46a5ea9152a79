// Arithmetic on float vectors that 64-bit Arm has instructions for, beyond what the compiler finds by itself. Included by vec/math.h.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// a * b + c with one rounding, whatever c is made of.
PTLITE_INLINE Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
  return Vec<float>((Vec<float>::Raw)vfmaq_f32((float32x4_t)c.v, (float32x4_t)a.v, (float32x4_t)b.v));
}

// To the nearest integer, ties to even. |x| < 2^31.
PTLITE_INLINE Vec<int32_t> nearest_int(Vec<float> x) {
  return Vec<int32_t>((Vec<int32_t>::Raw)vcvtnq_s32_f32((float32x4_t)x.v));
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
