// Activations in panels for block-sparse products: [k][stride] per panel of rows.
#pragma once

#include <string.h>

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// A vector of four-float parts, each a row's next four channels; four of them transposed are a vector per channel.
#if defined(__AVX512F__)
constexpr int kPartRows = 16;
using PartVector = __m512;
PTLITE_INLINE PartVector load_parts(const float* const* row) {
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(row[0]));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(row[4]), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(row[8]), 2);
  return _mm512_insertf32x4(v, _mm_loadu_ps(row[12]), 3);
}
PTLITE_INLINE void store_part(float* to, PartVector v) { _mm512_store_ps(to, v); }
#elif defined(__AVX2__)
constexpr int kPartRows = 8;
using PartVector = __m256;
PTLITE_INLINE PartVector load_parts(const float* const* row) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row[0])), _mm_loadu_ps(row[4]), 1);
}
PTLITE_INLINE void store_part(float* to, PartVector v) { _mm256_store_ps(to, v); }
#else
constexpr int kPartRows = 4;
using PartVector = __m128;
PTLITE_INLINE PartVector load_parts(const float* const* row) { return _mm_loadu_ps(row[0]); }
PTLITE_INLINE void store_part(float* to, PartVector v) { _mm_store_ps(to, v); }
#endif

// to[i * stride + j] = row j's channel i for j < kPartRows, i < channels.
inline __attribute__((noinline)) void transpose_rows(const float* const* rows, int64_t channels, float* to, int stride) {
  const float* row[kPartRows];
  for (int j = 0; j < kPartRows; j++) row[j] = rows[j];
  int64_t i = 0;
  for (; i + 4 <= channels; i += 4, to += 4 * stride) {
    PartVector a[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) a[j] = load_parts(row + j);
#if defined(__AVX512F__)
    const PartVector b[4] = {_mm512_unpacklo_ps(a[0], a[1]), _mm512_unpackhi_ps(a[0], a[1]), _mm512_unpacklo_ps(a[2], a[3]),
                             _mm512_unpackhi_ps(a[2], a[3])};
    const auto low = [](PartVector x, PartVector y) { return _mm512_shuffle_ps(x, y, 0x44); };
    const auto high = [](PartVector x, PartVector y) { return _mm512_shuffle_ps(x, y, 0xee); };
#elif defined(__AVX2__)
    const PartVector b[4] = {_mm256_unpacklo_ps(a[0], a[1]), _mm256_unpackhi_ps(a[0], a[1]), _mm256_unpacklo_ps(a[2], a[3]),
                             _mm256_unpackhi_ps(a[2], a[3])};
    const auto low = [](PartVector x, PartVector y) { return _mm256_shuffle_ps(x, y, 0x44); };
    const auto high = [](PartVector x, PartVector y) { return _mm256_shuffle_ps(x, y, 0xee); };
#else
    const PartVector b[4] = {_mm_unpacklo_ps(a[0], a[1]), _mm_unpackhi_ps(a[0], a[1]), _mm_unpacklo_ps(a[2], a[3]), _mm_unpackhi_ps(a[2], a[3])};
    const auto low = [](PartVector x, PartVector y) { return _mm_movelh_ps(x, y); };
    const auto high = [](PartVector x, PartVector y) { return _mm_movehl_ps(y, x); };
#endif
    store_part(to, low(b[0], b[2]));
    store_part(to + stride, high(b[0], b[2]));
    store_part(to + 2 * stride, low(b[1], b[3]));
    store_part(to + 3 * stride, high(b[1], b[3]));
    for (int j = 0; j < kPartRows; j++) row[j] += 4;
  }
  for (; i < channels; i++, to += stride) {
    for (int j = 0; j < kPartRows; j++) to[j] = *row[j]++;
  }
}

// A panel of `filled` rows of x that are x_stride apart. Rows up to the stride repeat the last one, whose sums nobody stores.
inline void pack_rows(const float* x, int64_t x_stride, int filled, int64_t channels, float* panel, int stride) {
  const auto row = [&](int j) { return x + (j < filled ? j : filled - 1) * x_stride; };
  int j = 0;
  for (; j + kPartRows <= stride; j += kPartRows) {
    if (j >= filled) continue;
    const float* rows[kPartRows];
    for (int i = 0; i < kPartRows; i++) rows[i] = row(j + i);
    transpose_rows(rows, channels, panel + j, stride);
  }
  for (; j < stride; j++) {
    const float* from = row(j);
    for (int64_t i = 0; i < channels; i++) panel[i * stride + j] = from[i];
  }
}

// The same for channel-major x: channels are x_stride apart, and what lies behind `filled` is zero.
inline void pack_channels(const float* x, int64_t x_stride, int filled, int64_t channels, float* panel, int stride) {
  for (int64_t i = 0; i < channels; i++, x += x_stride, panel += stride) {
    for (int j = 0; j < stride; j += F32::size) {
      if (j < filled) F32::load(x + j, filled - j).store(panel + j);
      else F32::zero().store(panel + j);
    }
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
