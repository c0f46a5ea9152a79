// What the vector class (vec/vec.h) leaves to the instructions of x86, on the compiler's own vectors.
#pragma once

#include "primitives/portable.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

using portable::shuffled;

#if defined(CPU_CAPABILITY_AVX2)
// All bits of the first `count` lanes of 4 or 8 bytes.
template <int bytes>
PTLITE_INLINE __m256i first_lanes(int64_t count) {
  if constexpr (bytes == 4) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  } else {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
}
#endif

// The first `count` lanes, fewer than there are, of `bytes` each; the others are zero.
template <class Raw, int bytes>
PTLITE_INLINE Raw load_first(const void* p, int64_t count) {
#if defined(CPU_CAPABILITY_AVX512)
  if constexpr (bytes == 1) return (Raw)_mm512_maskz_loadu_epi8((1ull << count) - 1, p);
  if constexpr (bytes == 2) return (Raw)_mm512_maskz_loadu_epi16((1u << count) - 1, p);
  if constexpr (bytes == 4) return (Raw)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), p);
  if constexpr (bytes == 8) return (Raw)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1), p);
#elif defined(CPU_CAPABILITY_AVX2)
  if constexpr (bytes == 4) return (Raw)_mm256_maskload_epi32(static_cast<const int*>(p), first_lanes<4>(count));
  if constexpr (bytes == 8) return (Raw)_mm256_maskload_epi64(static_cast<const long long*>(p), first_lanes<8>(count));
#endif
  return portable::load_first<Raw, bytes>(p, count);
}

// To memory; what lies behind it is not touched.
template <class Raw, int bytes>
PTLITE_INLINE void store_first(void* p, Raw v, int64_t count) {
#if defined(CPU_CAPABILITY_AVX512)
  if constexpr (bytes == 1) return _mm512_mask_storeu_epi8(p, (1ull << count) - 1, (__m512i)v);
  if constexpr (bytes == 2) return _mm512_mask_storeu_epi16(p, (1u << count) - 1, (__m512i)v);
  if constexpr (bytes == 4) return _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << count) - 1), (__m512i)v);
  if constexpr (bytes == 8) return _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << count) - 1), (__m512i)v);
#elif defined(CPU_CAPABILITY_AVX2)
  if constexpr (bytes == 4) return _mm256_maskstore_epi32(static_cast<int*>(p), first_lanes<4>(count), (__m256i)v);
  if constexpr (bytes == 8) return _mm256_maskstore_epi64(static_cast<long long*>(p), first_lanes<8>(count), (__m256i)v);
#endif
  portable::store_first<Raw, bytes>(p, v, count);
}

// Whether any bit of a vector of int64 is set.
template <class Raw>
PTLITE_INLINE bool any_bit(Raw v) {
#if defined(CPU_CAPABILITY_AVX512)
  return _mm512_test_epi64_mask((__m512i)v, (__m512i)v) != 0;
#elif defined(CPU_CAPABILITY_AVX2)
  return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
  return (v[0] | v[1]) != 0;
#endif
}

// What the instructions take.
using Floats = decltype(PTLITE_MM(setzero_ps)());
using Doubles = decltype(PTLITE_MM(setzero_pd)());

// Of float lanes; b where either operand is NaN.
template <class Raw>
PTLITE_INLINE Raw lesser(Raw a, Raw b) {
  return (Raw)PTLITE_MM(min_ps)((Floats)a, (Floats)b);
}
template <class Raw>
PTLITE_INLINE Raw greater(Raw a, Raw b) {
  return (Raw)PTLITE_MM(max_ps)((Floats)a, (Floats)b);
}

// Lanes of float or double to integers of the same type, `mode` as the instructions take it; at DEFAULT lane by lane, by `one`.
enum Rounding { kDown = _MM_FROUND_TO_NEG_INF, kUp = _MM_FROUND_TO_POS_INF, kToZero = _MM_FROUND_TO_ZERO, kToEven = _MM_FROUND_TO_NEAREST_INT };
template <int mode, class T, class Raw, class F>
PTLITE_INLINE Raw rounded(Raw a, [[maybe_unused]] F one) {
#if defined(CPU_CAPABILITY_AVX512)
  if constexpr (sizeof(T) == 4) return (Raw)_mm512_roundscale_ps((__m512)a, mode | _MM_FROUND_NO_EXC);
  else return (Raw)_mm512_roundscale_pd((__m512d)a, mode | _MM_FROUND_NO_EXC);
#elif defined(CPU_CAPABILITY_AVX2)
  if constexpr (sizeof(T) == 4) return (Raw)_mm256_round_ps((__m256)a, mode | _MM_FROUND_NO_EXC);
  else return (Raw)_mm256_round_pd((__m256d)a, mode | _MM_FROUND_NO_EXC);
#else
  constexpr int count = sizeof(Raw) / sizeof(T);
  alignas(PTLITE_VEC_BYTES) T lanes[count];
  memcpy(lanes, &a, sizeof(Raw));
  for (int i = 0; i < count; i++) lanes[i] = one(lanes[i]);
  Raw r;
  memcpy(&r, lanes, sizeof(Raw));
  return r;
#endif
}

// The square roots of lanes of float or double.
template <class T, class Raw>
PTLITE_INLINE Raw root(Raw a) {
  if constexpr (sizeof(T) == 4) return (Raw)PTLITE_MM(sqrt_ps)((Floats)a);
  else return (Raw)PTLITE_MM(sqrt_pd)((Doubles)a);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
