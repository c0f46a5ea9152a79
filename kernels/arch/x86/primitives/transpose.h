// Transposition of 8 x 8 floats in eight registers of AVX, which AVX512 has too.
#pragma once

#include <immintrin.h>
#include <stdint.h>

namespace ptlite {
inline namespace CPU_CAPABILITY {

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

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
