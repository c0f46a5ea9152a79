// Dot products of bfloat16 pairs that a level of x86 has:
//   AMX                       tdpbf16ps on tiles of 16 x 32 elements
//   AVX512_BF16               vdpbf16ps
#pragma once

#include "vec/vec.h"

#if defined(CPU_CAPABILITY_AMX)
#define PTLITE_BF16_AMX
#elif defined(CPU_CAPABILITY_AVX512_BF16)
#define PTLITE_BF16_DOT
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace bf16 {

// A block has as many rows as registers are left for.
#if defined(PTLITE_BF16_AMX)
constexpr int kRows = 32;
#elif defined(CPU_CAPABILITY_AVX512)
constexpr int kRows = 12;
#else
constexpr int kRows = 4;
#endif

#if defined(PTLITE_BF16_AMX)
// The products of tiles 4 and 5 with 6 and 7 are added to the sums, tiles 0 to 3.
struct TileStep {
  using Element = float;
  static PTLITE_INLINE void upper() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  }
  static PTLITE_INLINE void lower() {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
};
#endif

#if defined(PTLITE_BF16_DOT)
using Sums = __m512;
using Pairs = __m512bh;
PTLITE_INLINE Sums no_sums() { return _mm512_setzero_ps(); }
PTLITE_INLINE Sums add_sums(Sums x, Sums y) { return _mm512_add_ps(x, y); }
PTLITE_INLINE void store_sums(float* p, Sums r) { _mm512_storeu_ps(p, r); }
PTLITE_INLINE Pairs load_pairs(const void* p) { return (Pairs)_mm512_loadu_si512(p); }
PTLITE_INLINE Pairs repeat_pair(int32_t pair) { return (Pairs)_mm512_set1_epi32(pair); }
// Lanes of sums, plus the products of both elements of a pair.
PTLITE_INLINE Sums dot_pairs(Sums sums, Pairs a, Pairs b) { return _mm512_dpbf16_ps(sums, a, b); }
#endif

}  // namespace bf16
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
