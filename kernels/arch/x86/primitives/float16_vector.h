// Vectors of 32 float16 and arithmetic on them, where a level of x86 has it (PTLITE_FLOAT16_VECTORS). Included by what is compiled for such
// a level.
#pragma once

#if defined(CPU_CAPABILITY_AVX512_FP16)
#define PTLITE_FLOAT16_VECTORS

#include "vec/half.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace half {

using Reg = __m512h;
using Mask = __mmask32;
constexpr int kLanes = 32;

// Which lanes hold elements where `n` are left.
PTLITE_INLINE Mask first(int64_t n) { return n >= kLanes ? ~Mask{0} : (Mask{1} << n) - 1; }
PTLITE_INLINE Reg load(const float16* p, Mask mask) { return (Reg)_mm512_maskz_loadu_epi16(mask, p); }
PTLITE_INLINE void store(float16* p, Mask mask, Reg x) { _mm512_mask_storeu_epi16(p, mask, (__m512i)x); }
PTLITE_INLINE Reg broadcast(float16 x) { return (Reg)_mm512_set1_epi16(static_cast<int16_t>(x.bits)); }
PTLITE_INLINE Reg choose(Mask mask, Reg yes, Reg no) { return (Reg)_mm512_mask_blend_epi16(mask, (__m512i)no, (__m512i)yes); }

PTLITE_INLINE Reg add(Reg a, Reg b) { return _mm512_add_ph(a, b); }
PTLITE_INLINE Reg subtract(Reg a, Reg b) { return _mm512_sub_ph(a, b); }
PTLITE_INLINE Reg multiply(Reg a, Reg b) { return _mm512_mul_ph(a, b); }
PTLITE_INLINE Reg divide(Reg a, Reg b) { return _mm512_div_ph(a, b); }

// A NaN in either operand gives NaN.
PTLITE_INLINE Reg minimum(Reg a, Reg b) {
  return choose(_mm512_cmp_ph_mask(a, b, _CMP_LT_OQ) | _mm512_cmp_ph_mask(a, a, _CMP_UNORD_Q), a, b);
}
PTLITE_INLINE Reg maximum(Reg a, Reg b) {
  return choose(_mm512_cmp_ph_mask(a, b, _CMP_GT_OQ) | _mm512_cmp_ph_mask(a, a, _CMP_UNORD_Q), a, b);
}

PTLITE_INLINE Reg negative(Reg a) { return (Reg)_mm512_xor_si512((__m512i)a, _mm512_set1_epi16(INT16_MIN)); }
PTLITE_INLINE Reg absolute(Reg a) { return (Reg)_mm512_and_si512((__m512i)a, _mm512_set1_epi16(INT16_MAX)); }
PTLITE_INLINE Reg root(Reg a) { return _mm512_sqrt_ph(a); }

// To integers, without an exception for an inexact result.
PTLITE_INLINE Reg down(Reg a) { return _mm512_roundscale_ph(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
PTLITE_INLINE Reg up(Reg a) { return _mm512_roundscale_ph(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
PTLITE_INLINE Reg to_zero(Reg a) { return _mm512_roundscale_ph(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
PTLITE_INLINE Reg to_even(Reg a) { return _mm512_roundscale_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

}  // namespace half
}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#endif
