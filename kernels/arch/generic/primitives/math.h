// Arithmetic on float vectors for any processor. Included by vec/math.h.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// a * b + c with one rounding where there is an instruction for it, whatever c is made of.
PTLITE_INLINE Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
#if PTLITE_VEC_FUSED
  for (int i = 0; i < Vec<float>::size; i++) a.v[i] = __builtin_fmaf(a.v[i], b.v[i], c.v[i]);
  return a;
#else
  return a * b + c;
#endif
}

// To the nearest integer, ties to even. |x| < 2^31.
PTLITE_INLINE Vec<int32_t> nearest_int(Vec<float> x) { return convert<int32_t>(rint(x)); }

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
