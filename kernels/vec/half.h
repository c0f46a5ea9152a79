// float16 and bfloat16 to float32 and back: round to nearest even, NaN stays NaN, infinities and denormals kept.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// 16-bit floats as they lie in memory.
struct float16 {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};

PTLITE_INLINE float bits_to_float(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
PTLITE_INLINE uint32_t float_to_bits(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

PTLITE_INLINE float to_float(bfloat16 x) { return bits_to_float(uint32_t{x.bits} << 16); }

PTLITE_INLINE bfloat16 to_bfloat16(float x) {
  const uint32_t bits = float_to_bits(x);
  if (x != x) return {0x7fc0};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

PTLITE_INLINE float to_float(float16 x) {
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
  return _cvtsh_ss(x.bits);
#else
  const uint32_t sign = uint32_t{x.bits & 0x8000u} << 16;
  const uint32_t magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00) return bits_to_float(sign | 0x7f800000 | (magnitude << 13));
  // the exponent is rebased by a multiplication, which also normalises denormals
  return bits_to_float(sign | float_to_bits(bits_to_float(magnitude << 13) * 0x1p112f));
#endif
}

PTLITE_INLINE float16 to_float16(float x) {
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
  return {static_cast<uint16_t>(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT))};
#else
  const uint32_t bits = float_to_bits(x);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  uint32_t result;
  if (magnitude >= 0x47800000) {  // 65536 and above, infinity, NaN
    result = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
  } else if (magnitude < 0x38800000) {  // denormal: adding 0.5 leaves the rounded result in the low bits
    result = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000;
  } else {
    result = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  }
  return {static_cast<uint16_t>(sign | result)};
#endif
}

PTLITE_INLINE Vec<float> load_float(const float* p) { return Vec<float>::load(p); }
PTLITE_INLINE void store_float(float* p, Vec<float> a) { a.store(p); }

PTLITE_INLINE Vec<float> load_float(const bfloat16* p) {
  return bit_cast<float>(Vec<int32_t>::load_from(reinterpret_cast<const uint16_t*>(p)) << 16);
}

PTLITE_INLINE void store_float(bfloat16* p, Vec<float> a) {
#if defined(CPU_CAPABILITY_AVX512_BF16)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh((__m512)a.v));
#else
  const Vec<int32_t> bits = bit_cast<int32_t>(a);
  const Vec<int32_t> odd = (bits >> 16) & Vec<int32_t>(1);
  const Vec<int32_t> rounded = (bits + odd + Vec<int32_t>(0x7fff)) >> 16;
  select(is_nan(a), Vec<int32_t>(0x7fc0), rounded).store_to(reinterpret_cast<uint16_t*>(p));
#endif
}

PTLITE_INLINE Vec<float> load_float(const float16* p) {
#if defined(CPU_CAPABILITY_AVX512)
  return Vec<float>((Vec<float>::Raw)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
#elif defined(CPU_CAPABILITY_AVX2)
  return Vec<float>((Vec<float>::Raw)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#else
  Vec<float> r;
  for (int i = 0; i < Vec<float>::size; i++) r.v[i] = to_float(p[i]);
  return r;
#endif
}

PTLITE_INLINE void store_float(float16* p, Vec<float> a) {
#if defined(CPU_CAPABILITY_AVX512)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph((__m512)a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(CPU_CAPABILITY_AVX2)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
  for (int i = 0; i < Vec<float>::size; i++) p[i] = to_float16(a.v[i]);
#endif
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
