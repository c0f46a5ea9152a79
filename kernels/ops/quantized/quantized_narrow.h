// Four registers of int32 sums to one of 8-bit integers, as `requantize` does it but without a way through memory.
#pragma once

#include "ops/quantized/quantized_tile.h"
#include "ops/quantized/requantize.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

#if defined(CPU_CAPABILITY_AVX512)
using Floats = __m512;
PTLITE_INLINE Floats load_floats(const float* p) { return _mm512_loadu_ps(p); }
PTLITE_INLINE void store_floats(float* p, Floats x) { _mm512_storeu_ps(p, x); }
PTLITE_INLINE Floats broadcast(float x) { return _mm512_set1_ps(x); }
// Of two operands of which one is no number, the second is the result, here and below.
PTLITE_INLINE Reg scaled(Reg sum, Floats scale, Floats high) {
  return _mm512_cvtps_epi32(_mm512_min_ps(high, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale)));
}
PTLITE_INLINE Reg scaled(Reg sum, Floats scale) { return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale)); }
PTLITE_INLINE Reg subtract(Reg a, Reg b) { return _mm512_sub_epi32(a, b); }
PTLITE_INLINE Reg flip(Reg a, Reg b) { return _mm512_xor_si512(a, b); }
PTLITE_INLINE Reg words(int32_t x) { return _mm512_set1_epi16(static_cast<int16_t>(x)); }
PTLITE_INLINE Reg bytes(int32_t x) { return _mm512_set1_epi8(static_cast<char>(x)); }
PTLITE_INLINE Reg narrow_to_words(Reg a, Reg b) { return _mm512_packs_epi32(a, b); }
PTLITE_INLINE Reg narrow_to_bytes(Reg a, Reg b) { return _mm512_packus_epi16(a, b); }
PTLITE_INLINE Reg add_words(Reg a, Reg b) { return _mm512_adds_epi16(a, b); }
PTLITE_INLINE Reg max_bytes(Reg a, Reg b) { return _mm512_max_epu8(a, b); }
PTLITE_INLINE Reg min_bytes(Reg a, Reg b) { return _mm512_min_epu8(a, b); }
PTLITE_INLINE Reg low_of_bytes(Reg a, Reg b) { return _mm512_unpacklo_epi8(a, b); }
PTLITE_INLINE Reg high_of_bytes(Reg a, Reg b) { return _mm512_unpackhi_epi8(a, b); }
PTLITE_INLINE Reg low_of_words(Reg a, Reg b) { return _mm512_unpacklo_epi16(a, b); }
PTLITE_INLINE Reg high_of_words(Reg a, Reg b) { return _mm512_unpackhi_epi16(a, b); }
PTLITE_INLINE Reg transposed(Reg a) {
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), a);
}
#elif defined(CPU_CAPABILITY_AVX2)
using Floats = __m256;
PTLITE_INLINE Floats load_floats(const float* p) { return _mm256_loadu_ps(p); }
PTLITE_INLINE void store_floats(float* p, Floats x) { _mm256_storeu_ps(p, x); }
PTLITE_INLINE Floats broadcast(float x) { return _mm256_set1_ps(x); }
PTLITE_INLINE Reg scaled(Reg sum, Floats scale, Floats high) {
  return _mm256_cvtps_epi32(_mm256_min_ps(high, _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale)));
}
PTLITE_INLINE Reg scaled(Reg sum, Floats scale) { return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale)); }
PTLITE_INLINE Reg subtract(Reg a, Reg b) { return _mm256_sub_epi32(a, b); }
PTLITE_INLINE Reg flip(Reg a, Reg b) { return _mm256_xor_si256(a, b); }
PTLITE_INLINE Reg words(int32_t x) { return _mm256_set1_epi16(static_cast<int16_t>(x)); }
PTLITE_INLINE Reg bytes(int32_t x) { return _mm256_set1_epi8(static_cast<char>(x)); }
PTLITE_INLINE Reg narrow_to_words(Reg a, Reg b) { return _mm256_packs_epi32(a, b); }
PTLITE_INLINE Reg narrow_to_bytes(Reg a, Reg b) { return _mm256_packus_epi16(a, b); }
PTLITE_INLINE Reg add_words(Reg a, Reg b) { return _mm256_adds_epi16(a, b); }
PTLITE_INLINE Reg max_bytes(Reg a, Reg b) { return _mm256_max_epu8(a, b); }
PTLITE_INLINE Reg min_bytes(Reg a, Reg b) { return _mm256_min_epu8(a, b); }
PTLITE_INLINE Reg low_of_bytes(Reg a, Reg b) { return _mm256_unpacklo_epi8(a, b); }
PTLITE_INLINE Reg high_of_bytes(Reg a, Reg b) { return _mm256_unpackhi_epi8(a, b); }
PTLITE_INLINE Reg low_of_words(Reg a, Reg b) { return _mm256_unpacklo_epi16(a, b); }
PTLITE_INLINE Reg high_of_words(Reg a, Reg b) { return _mm256_unpackhi_epi16(a, b); }
PTLITE_INLINE Reg transposed(Reg a) { return _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)); }
#else
using Floats = __m128;
PTLITE_INLINE Floats load_floats(const float* p) { return _mm_loadu_ps(p); }
PTLITE_INLINE void store_floats(float* p, Floats x) { _mm_storeu_ps(p, x); }
PTLITE_INLINE Floats broadcast(float x) { return _mm_set1_ps(x); }
PTLITE_INLINE Reg scaled(Reg sum, Floats scale, Floats high) {
  return _mm_cvtps_epi32(_mm_min_ps(high, _mm_mul_ps(_mm_cvtepi32_ps(sum), scale)));
}
PTLITE_INLINE Reg scaled(Reg sum, Floats scale) { return _mm_cvtps_epi32(_mm_mul_ps(_mm_cvtepi32_ps(sum), scale)); }
PTLITE_INLINE Reg subtract(Reg a, Reg b) { return _mm_sub_epi32(a, b); }
PTLITE_INLINE Reg flip(Reg a, Reg b) { return _mm_xor_si128(a, b); }
PTLITE_INLINE Reg words(int32_t x) { return _mm_set1_epi16(static_cast<int16_t>(x)); }
PTLITE_INLINE Reg bytes(int32_t x) { return _mm_set1_epi8(static_cast<char>(x)); }
PTLITE_INLINE Reg narrow_to_words(Reg a, Reg b) { return _mm_packs_epi32(a, b); }
PTLITE_INLINE Reg narrow_to_bytes(Reg a, Reg b) { return _mm_packus_epi16(a, b); }
PTLITE_INLINE Reg add_words(Reg a, Reg b) { return _mm_adds_epi16(a, b); }
PTLITE_INLINE Reg max_bytes(Reg a, Reg b) { return _mm_max_epu8(a, b); }
PTLITE_INLINE Reg min_bytes(Reg a, Reg b) { return _mm_min_epu8(a, b); }
PTLITE_INLINE Reg low_of_bytes(Reg a, Reg b) { return _mm_unpacklo_epi8(a, b); }
PTLITE_INLINE Reg high_of_bytes(Reg a, Reg b) { return _mm_unpackhi_epi8(a, b); }
PTLITE_INLINE Reg low_of_words(Reg a, Reg b) { return _mm_unpacklo_epi16(a, b); }
PTLITE_INLINE Reg high_of_words(Reg a, Reg b) { return _mm_unpackhi_epi16(a, b); }
PTLITE_INLINE Reg transposed(Reg a) { return a; }
#endif

// True where a sum times its factor stays inside int32, whatever the sum is.
inline bool small_scales(const float* scales, int64_t n) {
  bool small = true;
  for (int64_t i = 0; i < n; i++) small &= scales[i] < 0.5f && scales[i] > -0.5f;
  return small;
}

// The range of the output, kept in registers. Signed integers are made as unsigned ones shifted by 128.
class Narrow {
 public:
  Narrow(OutputRange range, bool is_signed)
      : high_(broadcast(static_cast<float>(range.max - range.zero))),
        zero_(words(range.zero + (is_signed ? 128 : 0))),
        min_(bytes(range.min + (is_signed ? 128 : 0))),
        max_(bytes(range.max + (is_signed ? 128 : 0))),
        flip_(bytes(is_signed ? 128 : 0)) {}

  // The integer nearest to sum * factor, but for those above the range; the lowest int32 where that is no number.
  template <bool is_small>
  PTLITE_INLINE Reg scale(Reg sum, Floats factor) const {
    return is_small ? scaled(sum, factor) : scaled(sum, factor, high_);
  }

  // Bytes of what `scale` gave: byte 16 i + 4 j + k is of lane 4 i + k of the j-th operand.
  PTLITE_INLINE Reg narrow(Reg a, Reg b, Reg c, Reg d) const {
    const Reg low = add_words(narrow_to_words(a, b), zero_), high = add_words(narrow_to_words(c, d), zero_);
    return flip(min_bytes(max_bytes(narrow_to_bytes(low, high), min_), max_), flip_);
  }

 private:
  Floats high_;
  Reg zero_, min_, max_, flip_;
};

}  // namespace int8
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
