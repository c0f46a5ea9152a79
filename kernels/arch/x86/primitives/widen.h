// Bytes to vectors of 32-bit integers, by the instructions of x86 that widen as they load.
#pragma once

#include "vec/vec.h"

#if !defined(CPU_CAPABILITY_AVX2) && !defined(CPU_CAPABILITY_AVX512)
#include "arch/generic/primitives/widen.h"
#else

namespace ptlite {
inline namespace CPU_CAPABILITY {

// As many bytes as a vector has lanes.
PTLITE_INLINE __m128i load_bytes(const void* bytes) {
  if constexpr (PTLITE_VEC_BYTES == 64) return _mm_loadu_si128(static_cast<const __m128i*>(bytes));
  else return _mm_loadl_epi64(static_cast<const __m128i*>(bytes));
}

PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) { return Vec<int32_t>((Vec<int32_t>::Raw)PTLITE_MM(cvtepi8_epi32)(load_bytes(bytes))); }
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) { return Vec<int32_t>((Vec<int32_t>::Raw)PTLITE_MM(cvtepu8_epi32)(load_bytes(bytes))); }

}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#endif
