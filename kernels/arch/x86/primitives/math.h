// Arithmetic on float and double vectors that x86 has instructions for, beyond what the compiler finds by itself. Included by vec/math.h.
#pragma once

#include "vec/vec.h"

// Defined where a vector looks up 32 floats at once (look_up_32), and where a * 2^n is one instruction and one rounding for any whole n (scaled_by_power).
#if defined(CPU_CAPABILITY_AVX512)
#define PTLITE_VEC_LOOKS_UP_32
#define PTLITE_VEC_SCALES
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

#if defined(PTLITE_VEC_SCALES)
PTLITE_INLINE Vec<float> scaled_by_power(Vec<float> a, Vec<float> n) {
  return Vec<float>((Vec<float>::Raw)_mm512_scalef_ps((__m512)a.v, (__m512)n.v));
}
PTLITE_INLINE Vec<double> scaled_by_power(Vec<double> a, Vec<double> n) {
  return Vec<double>((Vec<double>::Raw)_mm512_scalef_pd((__m512d)a.v, (__m512d)n.v));
}
#endif

// a * b + c with one rounding where the level has the instruction, whatever c is made of.
PTLITE_INLINE Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
#if PTLITE_VEC_FUSED
  return Vec<float>((Vec<float>::Raw)PTLITE_MM(fmadd_ps)((Floats)a.v, (Floats)b.v, (Floats)c.v));
#else
  return a * b + c;
#endif
}

// To the nearest integer, ties to even. |x| < 2^31.
PTLITE_INLINE Vec<int32_t> nearest_int(Vec<float> x) { return Vec<int32_t>((Vec<int32_t>::Raw)PTLITE_MM(cvtps_epi32)((Floats)x.v)); }

#if defined(PTLITE_VEC_LOOKS_UP_32)
// The lesser magnitude of x and b, without its sign.
PTLITE_INLINE Vec<float> lesser_magnitude(Vec<float> x, float b) {
  return Vec<float>((Vec<float>::Raw)_mm512_range_ps((__m512)x.v, _mm512_set1_ps(b), 0b1010));
}

// table[index % 32]
PTLITE_INLINE Vec<float> look_up_32(const float* table, Vec<int32_t> index) {
  return Vec<float>((Vec<float>::Raw)_mm512_permutex2var_ps(_mm512_loadu_ps(table), (__m512i)index.v, _mm512_loadu_ps(table + 16)));
}

// values[index % 16]
PTLITE_INLINE Vec<float> look_up_16(Vec<float> values, Vec<int32_t> index) {
  return Vec<float>((Vec<float>::Raw)_mm512_permutexvar_ps((__m512i)index.v, (__m512)values.v));
}

// Lanes of s become those of other() where x is below `bound`; it is called only if there are any.
template <class F>
PTLITE_INLINE void replace_below(Vec<float>& s, Vec<float> x, float bound, F other) {
  const __mmask16 below = _mm512_cmp_ps_mask((__m512)x.v, _mm512_set1_ps(bound), _CMP_LT_OQ);
  if (__builtin_expect(below != 0, 0)) s = Vec<float>((Vec<float>::Raw)_mm512_mask_blend_ps(below, (__m512)s.v, (__m512)other().v));
}
#endif

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
