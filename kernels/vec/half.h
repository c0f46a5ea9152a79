// float16 and bfloat16 to float32 and back: round to nearest even, NaN stays NaN, infinities and denormals kept.
#pragma once

#include "support/bfloat16_bits.h"
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

PTLITE_INLINE float to_float(bfloat16 x) { return bfloat16_to_float(x.bits); }
PTLITE_INLINE bfloat16 to_bfloat16(float x) { return {float_to_bfloat16_bits(x)}; }

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

namespace detail {
// A vector of floats in 16 bits each, as they lie in memory.
using HalfBits = Raw<uint16_t, Vec<float>::size>::type;

PTLITE_INLINE HalfBits load_halves(const void* p) {
  HalfBits bits;
  memcpy(&bits, p, sizeof(bits));
  return bits;
}
PTLITE_INLINE HalfBits load_halves(const void* p, int64_t count) {
#if defined(CPU_CAPABILITY_AVX512)
  return (HalfBits)_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), p);
#else
  HalfBits bits{};
  memcpy(&bits, p, static_cast<size_t>(count) * 2);
  return bits;
#endif
}
PTLITE_INLINE void store_halves(void* p, HalfBits bits) { memcpy(p, &bits, sizeof(bits)); }
PTLITE_INLINE void store_halves(void* p, HalfBits bits, int64_t count) {
#if defined(CPU_CAPABILITY_AVX512)
  _mm256_mask_storeu_epi16(p, static_cast<__mmask16>((1u << count) - 1), (__m256i)bits);
#else
  memcpy(p, &bits, static_cast<size_t>(count) * 2);
#endif
}

PTLITE_INLINE Vec<float> widen(HalfBits bits, bfloat16) {
  return bit_cast<float>(Vec<int32_t>(__builtin_convertvector(bits, Vec<int32_t>::Raw)) << 16);
}

PTLITE_INLINE HalfBits narrow(Vec<float> a, bfloat16) {
#if defined(CPU_CAPABILITY_AVX512_BF16)
  // the instruction takes denormals for zero and keeps what a NaN carries: such lanes go the common way
  constexpr int quiet_nan = 0x01, denormal = 0x20, signaling_nan = 0x80;
  if (__builtin_expect(_mm512_fpclass_ps_mask((__m512)a.v, quiet_nan | denormal | signaling_nan) == 0, 1)) {
    return (HalfBits)_mm512_cvtneps_pbh((__m512)a.v);
  }
#endif
  const Vec<int32_t> bits = bit_cast<int32_t>(a);
  const Vec<int32_t> odd = (bits >> 16) & Vec<int32_t>(1);
  const Vec<int32_t> rounded = (bits + odd + Vec<int32_t>(0x7fff)) >> 16;
  return __builtin_convertvector(select(is_nan(a), Vec<int32_t>(0x7fc0), rounded).v, HalfBits);
}

PTLITE_INLINE Vec<float> widen(HalfBits bits, float16) {
#if defined(CPU_CAPABILITY_AVX512)
  return Vec<float>((Vec<float>::Raw)_mm512_cvtph_ps((__m256i)bits));
#elif defined(CPU_CAPABILITY_AVX2)
  return Vec<float>((Vec<float>::Raw)_mm256_cvtph_ps((__m128i)bits));
#else
  Vec<float> r;
  for (int i = 0; i < Vec<float>::size; i++) r.v[i] = to_float(float16{bits[i]});
  return r;
#endif
}

PTLITE_INLINE HalfBits narrow(Vec<float> a, float16) {
#if defined(CPU_CAPABILITY_AVX512)
  return (HalfBits)_mm512_cvtps_ph((__m512)a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(CPU_CAPABILITY_AVX2)
  return (HalfBits)_mm256_cvtps_ph((__m256)a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  HalfBits r;
  for (int i = 0; i < Vec<float>::size; i++) r[i] = to_float16(a.v[i]).bits;
  return r;
#endif
}
}  // namespace detail

// A vector of float32 from and to memory of either type. Those with a count touch `count` elements only; lanes beyond it
// read as zero.
PTLITE_INLINE Vec<float> load_float(const float* p) { return Vec<float>::load(p); }
PTLITE_INLINE Vec<float> load_float(const float* p, int64_t count) { return Vec<float>::load(p, count); }
PTLITE_INLINE void store_float(float* p, Vec<float> a) { a.store(p); }
PTLITE_INLINE void store_float(float* p, Vec<float> a, int64_t count) { a.store(p, count); }

template <class Half>
PTLITE_INLINE Vec<float> load_float(const Half* p) {
  return detail::widen(detail::load_halves(p), Half{});
}
template <class Half>
PTLITE_INLINE Vec<float> load_float(const Half* p, int64_t count) {
  return count >= Vec<float>::size ? load_float(p) : detail::widen(detail::load_halves(p, count), Half{});
}
template <class Half>
PTLITE_INLINE void store_float(Half* p, Vec<float> a) {
  detail::store_halves(p, detail::narrow(a, Half{}));
}
template <class Half>
PTLITE_INLINE void store_float(Half* p, Vec<float> a, int64_t count) {
  if (count >= Vec<float>::size) return store_float(p, a);
  detail::store_halves(p, detail::narrow(a, Half{}), count);
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
