// Conversions of 16-bit floats by the instructions of x86, where a level has them. Included by vec/half.h, which has the types and the common ways.
#pragma once

#if !defined(CPU_CAPABILITY_AVX2) && !defined(CPU_CAPABILITY_AVX512)
#include "arch/generic/primitives/half.h"
#else

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// float16 from and to its bits, one number.
PTLITE_INLINE float float16_to_float(uint16_t bits) { return _cvtsh_ss(bits); }
PTLITE_INLINE uint16_t float_to_float16(float x) { return static_cast<uint16_t>(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)); }

#if defined(CPU_CAPABILITY_AVX512)

// The first `count` of a vector's 16-bit floats, fewer than there are; the others are zero.
PTLITE_INLINE HalfBits load_halves(const void* p, int64_t count) {
  return (HalfBits)_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), p);
}
PTLITE_INLINE void store_halves(void* p, HalfBits bits, int64_t count) {
  _mm256_mask_storeu_epi16(p, static_cast<__mmask16>((1u << count) - 1), (__m256i)bits);
}

// A vector of bfloat16 to float32.
PTLITE_INLINE Vec<float> widen_bfloat16(HalfBits bits) {
  return bit_cast<float>(Vec<int32_t>((Vec<int32_t>::Raw)_mm512_cvtepu16_epi32((__m256i)bits)) << 16);
}

// A vector of float16 to float32 and back.
PTLITE_INLINE Vec<float> widen_float16(HalfBits bits) { return Vec<float>((Vec<float>::Raw)_mm512_cvtph_ps((__m256i)bits)); }
PTLITE_INLINE HalfBits narrow_float16(Vec<float> a) {
  return (HalfBits)_mm512_cvtps_ph((__m512)a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#else

using detail::load_halves;
using detail::store_halves;

PTLITE_INLINE Vec<float> widen_bfloat16(HalfBits bits) {
  return bit_cast<float>(Vec<int32_t>((Vec<int32_t>::Raw)_mm256_cvtepu16_epi32((__m128i)bits)) << 16);
}

PTLITE_INLINE Vec<float> widen_float16(HalfBits bits) { return Vec<float>((Vec<float>::Raw)_mm256_cvtph_ps((__m128i)bits)); }
PTLITE_INLINE HalfBits narrow_float16(Vec<float> a) {
  return (HalfBits)_mm256_cvtps_ph((__m256)a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#endif

#if defined(CPU_CAPABILITY_AVX512_BF16)
// A vector of float32 to bfloat16. The instruction takes denormals for zero and keeps what a NaN carries: such lanes go the common way.
PTLITE_INLINE HalfBits narrow_bfloat16(Vec<float> a) {
  constexpr int quiet_nan = 0x01, denormal = 0x20, signaling_nan = 0x80;
  if (__builtin_expect(_mm512_fpclass_ps_mask((__m512)a.v, quiet_nan | denormal | signaling_nan) == 0, 1)) {
    return (HalfBits)_mm512_cvtneps_pbh((__m512)a.v);
  }
  return detail::narrow_bfloat16(a);
}
#else
using detail::narrow_bfloat16;
#endif

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#endif
