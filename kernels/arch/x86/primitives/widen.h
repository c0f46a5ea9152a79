// Bytes to vectors of 32-bit integers, by the instructions of x86 that widen as they load.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) {
#if defined(CPU_CAPABILITY_AVX512)
  return Vec<int32_t>((Vec<int32_t>::Raw)_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))));
#elif defined(CPU_CAPABILITY_AVX2)
  return Vec<int32_t>((Vec<int32_t>::Raw)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes))));
#else
  return Vec<int32_t>::load_from(bytes);
#endif
}

PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) {
#if defined(CPU_CAPABILITY_AVX512)
  return Vec<int32_t>((Vec<int32_t>::Raw)_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))));
#elif defined(CPU_CAPABILITY_AVX2)
  return Vec<int32_t>((Vec<int32_t>::Raw)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes))));
#else
  return Vec<int32_t>::load_from(bytes);
#endif
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
