// A table of 256 bytes. With vectors it is sixteen rows of sixteen bytes: shuffles look up the low four bits in each row, and the high four
// choose among the rows.
#pragma once

#include <string.h>

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

#if defined(CPU_CAPABILITY_AVX512)

class Table {
 public:
  static constexpr int64_t kBytes = 64;

  explicit Table(const uint8_t* bytes) {
    for (int i = 0; i < 16; i++) rows_[i] = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + i));
  }

  void look_up(const uint8_t* in, uint8_t* out) const { _mm512_storeu_si512(out, of(_mm512_loadu_si512(in))); }

  void look_up(const uint8_t* in, uint8_t* out, int64_t count) const {
    const __mmask64 some = (1ull << count) - 1;
    _mm512_mask_storeu_epi8(out, some, of(_mm512_maskz_loadu_epi8(some, in)));
  }

 private:
  PTLITE_INLINE __m512i of(__m512i x) const {
    const __m512i low = _mm512_and_si512(x, _mm512_set1_epi8(15));
    const __mmask64 bit4 = _mm512_movepi8_mask(_mm512_slli_epi16(x, 3)), bit5 = _mm512_movepi8_mask(_mm512_slli_epi16(x, 2)),
                    bit6 = _mm512_movepi8_mask(_mm512_slli_epi16(x, 1)), bit7 = _mm512_movepi8_mask(x);
    const auto pair = [&](int i) { return _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(rows_[i], low), bit4, rows_[i + 1], low); };
    const auto four = [&](int i) { return _mm512_mask_mov_epi8(pair(i), bit5, pair(i + 2)); };
    const auto eight = [&](int i) { return _mm512_mask_mov_epi8(four(i), bit6, four(i + 4)); };
    return _mm512_mask_mov_epi8(eight(0), bit7, eight(8));
  }

  __m512i rows_[16];
};

#elif defined(CPU_CAPABILITY_AVX2)

class Table {
 public:
  static constexpr int64_t kBytes = 32;

  explicit Table(const uint8_t* bytes) {
    for (int i = 0; i < 16; i++) rows_[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + i));
  }

  void look_up(const uint8_t* in, uint8_t* out) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), of(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in))));
  }

  void look_up(const uint8_t* in, uint8_t* out, int64_t count) const {
    alignas(kBytes) uint8_t some[kBytes] = {};
    memcpy(some, in, static_cast<size_t>(count));
    look_up(some, some);
    memcpy(out, some, static_cast<size_t>(count));
  }

 private:
  PTLITE_INLINE __m256i of(__m256i x) const {
    const __m256i low = _mm256_and_si256(x, _mm256_set1_epi8(15));
    // selections go by the highest bit of each byte
    const __m256i bit4 = _mm256_slli_epi16(x, 3), bit5 = _mm256_slli_epi16(x, 2), bit6 = _mm256_slli_epi16(x, 1);
    const auto one = [&](int i) { return _mm256_shuffle_epi8(rows_[i], low); };
    const auto pair = [&](int i) { return _mm256_blendv_epi8(one(i), one(i + 1), bit4); };
    const auto four = [&](int i) { return _mm256_blendv_epi8(pair(i), pair(i + 2), bit5); };
    const auto eight = [&](int i) { return _mm256_blendv_epi8(four(i), four(i + 4), bit6); };
    return _mm256_blendv_epi8(eight(0), eight(8), x);
  }

  __m256i rows_[16];
};

#endif

}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#if !defined(CPU_CAPABILITY_AVX2) && !defined(CPU_CAPABILITY_AVX512)
#include "arch/generic/primitives/byte_table.h"
#endif
