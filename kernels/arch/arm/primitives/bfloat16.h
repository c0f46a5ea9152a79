// Dot products of bfloat16 pairs that a level of 64-bit Arm has: bfdot at BF16.
#pragma once

#include "vec/vec.h"

#if defined(CPU_CAPABILITY_BF16)
#define PTLITE_BF16_DOT
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace bf16 {

// A block has as many rows as registers are left for.
#if defined(PTLITE_BF16_DOT)
constexpr int kRows = 12;
#else
constexpr int kRows = 9;
#endif

#if defined(PTLITE_BF16_DOT)
using Sums = float32x4_t;
using Pairs = bfloat16x8_t;
PTLITE_INLINE Sums no_sums() { return vdupq_n_f32(0); }
PTLITE_INLINE Sums add_sums(Sums x, Sums y) { return vaddq_f32(x, y); }
PTLITE_INLINE void store_sums(float* p, Sums r) { vst1q_f32(p, r); }
PTLITE_INLINE Pairs load_pairs(const void* p) { return vreinterpretq_bf16_u8(vld1q_u8(static_cast<const uint8_t*>(p))); }
PTLITE_INLINE Pairs repeat_pair(int32_t pair) { return vreinterpretq_bf16_s32(vdupq_n_s32(pair)); }
// Lanes of sums, plus the products of both elements of a pair.
PTLITE_INLINE Sums dot_pairs(Sums sums, Pairs a, Pairs b) { return vbfdotq_f32(sums, a, b); }
#endif

}  // namespace bf16
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
