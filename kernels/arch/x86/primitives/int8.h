// Registers of 8-bit, 16-bit and 32-bit integers for quantized products, and the dot products of bytes that a level of x86 has:
//   AMX                       tdpbusd on tiles of 16 x 64 bytes
//   AVX512_VNNI, AVX2_VNNI    vpdpbusd
//   AVX512, AVX2              vpmaddubsw and vpmaddwd on bytes of 7 bits, else two vpmaddwd
//   DEFAULT                   two pmaddwd on operands widened to int16
#pragma once

#include "vec/vec.h"

#if defined(CPU_CAPABILITY_AMX)
#define PTLITE_INT8_AMX
#elif defined(CPU_CAPABILITY_AVX512_VNNI) || defined(CPU_CAPABILITY_AVX2_VNNI)
#define PTLITE_INT8_DOT
#elif defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
#define PTLITE_INT8_PAIRS
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

// Whichever integers: the functions say which. "low" and "high" of bytes and words keep to parts of 16 bytes, as narrowing does.
using Reg = decltype(PTLITE_MM_BITS(setzero)());
using Floats = decltype(PTLITE_MM(setzero_ps)());

PTLITE_INLINE Reg load(const void* p) { return PTLITE_MM_BITS(loadu)(static_cast<const Reg*>(p)); }
PTLITE_INLINE void store(void* p, Reg r) { PTLITE_MM_BITS(storeu)(static_cast<Reg*>(p), r); }
PTLITE_INLINE Reg broadcast(int32_t x) { return PTLITE_MM(set1_epi32)(x); }
PTLITE_INLINE Reg none() { return PTLITE_MM_BITS(setzero)(); }
PTLITE_INLINE Reg add(Reg a, Reg b) { return PTLITE_MM(add_epi32)(a, b); }
PTLITE_INLINE Reg both(Reg a, Reg b) { return PTLITE_MM_BITS(and)(a, b); }

// Sums of the products of two int16.
PTLITE_INLINE Reg multiply_pairs(Reg a, Reg b) { return PTLITE_MM(madd_epi16)(a, b); }
// The bytes of int16 as int16.
PTLITE_INLINE Reg low_bytes(Reg w) { return PTLITE_MM(srai_epi16)(PTLITE_MM(slli_epi16)(w, 8), 8); }
PTLITE_INLINE Reg high_bytes(Reg w) { return PTLITE_MM(srai_epi16)(w, 8); }
PTLITE_INLINE Reg high_bytes_unsigned(Reg a) { return PTLITE_MM(srli_epi16)(a, 8); }

PTLITE_INLINE Floats load_floats(const float* p) { return PTLITE_MM(loadu_ps)(p); }
PTLITE_INLINE void store_floats(float* p, Floats x) { PTLITE_MM(storeu_ps)(p, x); }
PTLITE_INLINE Floats broadcast(float x) { return PTLITE_MM(set1_ps)(x); }

// The integer nearest to sum * scale; the lowest int32 where that is none.
PTLITE_INLINE Reg scaled(Reg sum, Floats scale) { return PTLITE_MM(cvtps_epi32)(PTLITE_MM(mul_ps)(PTLITE_MM(cvtepi32_ps)(sum), scale)); }
// The same, but at most `high`. Of two operands of which one is no number, the second is the minimum.
PTLITE_INLINE Reg scaled(Reg sum, Floats scale, Floats high) {
  return PTLITE_MM(cvtps_epi32)(PTLITE_MM(min_ps)(high, PTLITE_MM(mul_ps)(PTLITE_MM(cvtepi32_ps)(sum), scale)));
}

PTLITE_INLINE Reg subtract(Reg a, Reg b) { return PTLITE_MM(sub_epi32)(a, b); }
PTLITE_INLINE Reg flip(Reg a, Reg b) { return PTLITE_MM_BITS(xor)(a, b); }
PTLITE_INLINE Reg words(int32_t x) { return PTLITE_MM(set1_epi16)(static_cast<int16_t>(x)); }
PTLITE_INLINE Reg bytes(int32_t x) { return PTLITE_MM(set1_epi8)(static_cast<char>(x)); }

// The lanes of a, then those of b, in half their width, saturated.
PTLITE_INLINE Reg narrow_to_words(Reg a, Reg b) { return PTLITE_MM(packs_epi32)(a, b); }
PTLITE_INLINE Reg narrow_to_bytes(Reg a, Reg b) { return PTLITE_MM(packus_epi16)(a, b); }
PTLITE_INLINE Reg add_words(Reg a, Reg b) { return PTLITE_MM(adds_epi16)(a, b); }
PTLITE_INLINE Reg max_bytes(Reg a, Reg b) { return PTLITE_MM(max_epu8)(a, b); }
PTLITE_INLINE Reg min_bytes(Reg a, Reg b) { return PTLITE_MM(min_epu8)(a, b); }

// Lanes of a and b in turn, of their lower and their upper halves.
PTLITE_INLINE Reg low_of_bytes(Reg a, Reg b) { return PTLITE_MM(unpacklo_epi8)(a, b); }
PTLITE_INLINE Reg high_of_bytes(Reg a, Reg b) { return PTLITE_MM(unpackhi_epi8)(a, b); }
PTLITE_INLINE Reg low_of_words(Reg a, Reg b) { return PTLITE_MM(unpacklo_epi16)(a, b); }
PTLITE_INLINE Reg high_of_words(Reg a, Reg b) { return PTLITE_MM(unpackhi_epi16)(a, b); }
// The parts of 4 bytes in the order in which they follow each other where a register is narrowed twice.
PTLITE_INLINE Reg transposed(Reg a) {
#if defined(CPU_CAPABILITY_AVX512)
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), a);
#elif defined(CPU_CAPABILITY_AVX2)
  return _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
#else
  return a;
#endif
}

#if defined(CPU_CAPABILITY_AVX512)
#define PTLITE_INT8_BYTE_MASKS
// The first `count` bytes of a register, or all of them.
class FirstBytes {
 public:
  explicit FirstBytes(int64_t count) : mask_(count >= PTLITE_VEC_BYTES ? ~0ull : (1ull << count) - 1) {}
  PTLITE_INLINE Reg load(const uint8_t* p) const { return _mm512_maskz_loadu_epi8(mask_, p); }
  PTLITE_INLINE void store(uint8_t* p, Reg r) const { _mm512_mask_storeu_epi8(p, mask_, r); }

 private:
  __mmask64 mask_;
};
#endif

// A block has as many rows as registers are left for.
#if defined(PTLITE_INT8_AMX)
constexpr int kRows = 32;
#elif defined(CPU_CAPABILITY_AVX512_VNNI)
constexpr int kRows = 14;  // sizes of images are mostly multiples of 7
#elif defined(CPU_CAPABILITY_AVX512)
constexpr int kRows = 12;
#elif defined(CPU_CAPABILITY_AVX2_VNNI)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif

// Activations are signed where dot_bytes takes them so.
constexpr bool kSignedActivations = false;

#if defined(PTLITE_INT8_DOT)
// Sums of the products of four unsigned and four signed bytes.
PTLITE_INLINE Reg dot_bytes(Reg sum, Reg a, Reg w) {
#if defined(CPU_CAPABILITY_AVX512_VNNI)
  return _mm512_dpbusd_epi32(sum, a, w);
#else
  return _mm256_dpbusd_avx_epi32(sum, a, w);
#endif
}
#endif

#if defined(PTLITE_INT8_PAIRS)
// Sums of the products of two unsigned and two signed bytes, saturated to int16.
PTLITE_INLINE Reg multiply_bytes(Reg a, Reg w) { return PTLITE_MM(maddubs_epi16)(a, w); }
#if !defined(CPU_CAPABILITY_AVX512)
#define PTLITE_INT8_SIGNS
// Signed bytes without their signs, and a with the signs of w, 0 where w is: their products are those of a and w.
PTLITE_INLINE Reg magnitudes(Reg w) { return _mm256_abs_epi8(w); }
PTLITE_INLINE Reg with_signs(Reg a, Reg w) { return _mm256_sign_epi8(a, w); }
#endif
#endif

#if defined(PTLITE_INT8_AMX)
// The products of tiles 4 and 5 with 6 and 7 are added to the sums, tiles 0 to 3.
struct TileStep {
  using Element = int32_t;
  static PTLITE_INLINE void upper() {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
  }
  static PTLITE_INLINE void lower() {
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }
};

#endif

}  // namespace int8

// Bytes as 32-bit integers: as many as a vector has lanes.
#if defined(CPU_CAPABILITY_AVX2) || defined(CPU_CAPABILITY_AVX512)
// As many bytes as a vector has lanes.
PTLITE_INLINE __m128i load_bytes(const void* bytes) {
  if constexpr (PTLITE_VEC_BYTES == 64) return _mm_loadu_si128(static_cast<const __m128i*>(bytes));
  else return _mm_loadl_epi64(static_cast<const __m128i*>(bytes));
}

PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) { return Vec<int32_t>((Vec<int32_t>::Raw)PTLITE_MM(cvtepi8_epi32)(load_bytes(bytes))); }
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) { return Vec<int32_t>((Vec<int32_t>::Raw)PTLITE_MM(cvtepu8_epi32)(load_bytes(bytes))); }
#else
PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) { return Vec<int32_t>::load_from(bytes); }
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) { return Vec<int32_t>::load_from(bytes); }
#endif
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
