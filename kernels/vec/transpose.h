// Transposition of matrices in registers.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// Row i of a square of L x L elements becomes its column i: at each step, blocks of `step` lanes change places between
// rows that are `step` apart.
template <class T, int step = 1>
PTLITE_INLINE void transpose_square(Vec<T>* rows) {
  constexpr int L = Vec<T>::size;
  if constexpr (step < L) {
    using Index = typename Vec<T>::Mask::Raw;
    Index low{}, high{};
    for (int j = 0; j < L; j++) {
      low[j] = (j & step) != 0 ? L + j - step : j;
      high[j] = (j & step) != 0 ? L + j : j + step;
    }
#pragma GCC unroll 16
    for (int i = 0; i < L; i++) {
      if ((i & step) != 0) continue;
      const auto x = rows[i].v, y = rows[i + step].v;
      rows[i] = Vec<T>(__builtin_shuffle(x, y, low));
      rows[i + step] = Vec<T>(__builtin_shuffle(x, y, high));
    }
    transpose_square<T, step * 2>(rows);
  }
}

#if defined(__AVX2__)
// to[i * to_stride + j] = from[j * from_stride + i] for i, j < 8
PTLITE_INLINE void transpose_8x8(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; i++) r[i] = _mm256_loadu_ps(from + i * from_stride);
  for (int i = 0; i < 4; i++) {
    t[2 * i] = _mm256_unpacklo_ps(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i], r[2 * i + 1]);
  }
  for (int half = 0; half < 2; half++) {
    const __m256* p = t + 4 * half;
    __m256* q = r + 4 * half;
    q[0] = _mm256_shuffle_ps(p[0], p[2], 0x44);
    q[1] = _mm256_shuffle_ps(p[0], p[2], 0xee);
    q[2] = _mm256_shuffle_ps(p[1], p[3], 0x44);
    q[3] = _mm256_shuffle_ps(p[1], p[3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}
#endif

// panel[i * rows + j] = from[j * stride + i] for i < n and j < filled; 0 for filled <= j < rows.
inline void transpose_panel(const float* from, int64_t stride, int filled, int rows, int64_t n, float* panel) {
  int j = 0;
#if defined(__AVX2__)
  const int64_t whole = n / 8 * 8;
  for (; j + 8 <= filled; j += 8) {
    for (int64_t i = 0; i < whole; i += 8) transpose_8x8(from + j * stride + i, stride, panel + i * rows + j, rows);
    for (int64_t i = whole; i < n; i++) {
      for (int k = j; k < j + 8; k++) panel[i * rows + k] = from[k * stride + i];
    }
  }
#endif
  for (; j < rows; j++) {
    for (int64_t i = 0; i < n; i++) panel[i * rows + j] = j < filled ? from[j * stride + i] : 0.f;
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
