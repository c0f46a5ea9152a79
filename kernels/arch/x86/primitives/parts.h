// Vectors of four-float parts, which transpose four channels of a register's worth of rows at a time. Of each part, "pairs" are the lower or
// upper two floats of a and b in turn, "halves" the lower or upper two of x and then of y.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// A vector of four-float parts, each a row's next four channels; four of them transposed are a vector per channel.
#if PTLITE_VEC_BYTES >= 64
constexpr int kPartRows = 16;
using PartVector = __m512;
PTLITE_INLINE PartVector load_parts(const float* const* row) {
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(row[0]));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(row[4]), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(row[8]), 2);
  return _mm512_insertf32x4(v, _mm_loadu_ps(row[12]), 3);
}
PTLITE_INLINE void store_part(float* to, PartVector v) { _mm512_store_ps(to, v); }
PTLITE_INLINE PartVector low_pairs(PartVector a, PartVector b) { return _mm512_unpacklo_ps(a, b); }
PTLITE_INLINE PartVector high_pairs(PartVector a, PartVector b) { return _mm512_unpackhi_ps(a, b); }
PTLITE_INLINE PartVector low_halves(PartVector x, PartVector y) { return _mm512_shuffle_ps(x, y, 0x44); }
PTLITE_INLINE PartVector high_halves(PartVector x, PartVector y) { return _mm512_shuffle_ps(x, y, 0xee); }
#elif PTLITE_VEC_BYTES >= 32
constexpr int kPartRows = 8;
using PartVector = __m256;
PTLITE_INLINE PartVector load_parts(const float* const* row) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row[0])), _mm_loadu_ps(row[4]), 1);
}
PTLITE_INLINE void store_part(float* to, PartVector v) { _mm256_store_ps(to, v); }
PTLITE_INLINE PartVector low_pairs(PartVector a, PartVector b) { return _mm256_unpacklo_ps(a, b); }
PTLITE_INLINE PartVector high_pairs(PartVector a, PartVector b) { return _mm256_unpackhi_ps(a, b); }
PTLITE_INLINE PartVector low_halves(PartVector x, PartVector y) { return _mm256_shuffle_ps(x, y, 0x44); }
PTLITE_INLINE PartVector high_halves(PartVector x, PartVector y) { return _mm256_shuffle_ps(x, y, 0xee); }
#else
constexpr int kPartRows = 4;
using PartVector = __m128;
PTLITE_INLINE PartVector load_parts(const float* const* row) { return _mm_loadu_ps(row[0]); }
PTLITE_INLINE void store_part(float* to, PartVector v) { _mm_store_ps(to, v); }
PTLITE_INLINE PartVector low_pairs(PartVector a, PartVector b) { return _mm_unpacklo_ps(a, b); }
PTLITE_INLINE PartVector high_pairs(PartVector a, PartVector b) { return _mm_unpackhi_ps(a, b); }
PTLITE_INLINE PartVector low_halves(PartVector x, PartVector y) { return _mm_movelh_ps(x, y); }
PTLITE_INLINE PartVector high_halves(PartVector x, PartVector y) { return _mm_movehl_ps(y, x); }
#endif

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
