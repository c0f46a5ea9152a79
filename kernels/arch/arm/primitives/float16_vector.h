// Vectors of 8 float16 and arithmetic on them, where a level of 64-bit Arm has it (PTLITE_FLOAT16_VECTORS). Included by what is compiled for
// such a level.
#pragma once

#include "primitives/registers.h"

#if defined(CPU_CAPABILITY_FP16)
#define PTLITE_FLOAT16_VECTORS

#include "vec/half.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace half {

using Reg = float16x8_t;
constexpr int kLanes = 8;

// Which lanes hold elements where `n` are left: how many.
using Mask = int64_t;
PTLITE_INLINE Mask first(int64_t n) { return n < kLanes ? n : kLanes; }
PTLITE_INLINE Reg load(const float16* p, Mask count) {
  if (__builtin_expect(count == kLanes, 1)) return vreinterpretq_f16_u16(vld1q_u16(&p->bits));
  uint16_t some[kLanes] = {};
  memcpy(some, p, static_cast<size_t>(count) * 2);
  return vreinterpretq_f16_u16(vld1q_u16(some));
}
PTLITE_INLINE void store(float16* p, Mask count, Reg x) {
  if (__builtin_expect(count == kLanes, 1)) return vst1q_u16(&p->bits, vreinterpretq_u16_f16(x));
  memcpy(p, &x, static_cast<size_t>(count) * 2);
}
PTLITE_INLINE Reg broadcast(float16 x) { return vreinterpretq_f16_u16(vdupq_n_u16(x.bits)); }

PTLITE_INLINE Reg add(Reg a, Reg b) { return vaddq_f16(a, b); }
PTLITE_INLINE Reg subtract(Reg a, Reg b) { return vsubq_f16(a, b); }
PTLITE_INLINE Reg multiply(Reg a, Reg b) { return vmulq_f16(a, b); }
PTLITE_INLINE Reg divide(Reg a, Reg b) { return vdivq_f16(a, b); }

// A NaN in either operand gives NaN; of equal numbers the second is the result, as at the other levels.
PTLITE_INLINE Reg minimum(Reg a, Reg b) {
  return vbslq_f16(vorrq_u16(vcltq_f16(a, b), vmvnq_u16(vceqq_f16(a, a))), a, b);
}
PTLITE_INLINE Reg maximum(Reg a, Reg b) {
  return vbslq_f16(vorrq_u16(vcgtq_f16(a, b), vmvnq_u16(vceqq_f16(a, a))), a, b);
}

PTLITE_INLINE Reg negative(Reg a) { return vnegq_f16(a); }
PTLITE_INLINE Reg absolute(Reg a) { return vabsq_f16(a); }
PTLITE_INLINE Reg root(Reg a) { return vsqrtq_f16(a); }

PTLITE_INLINE Reg down(Reg a) { return vrndmq_f16(a); }
PTLITE_INLINE Reg up(Reg a) { return vrndpq_f16(a); }
PTLITE_INLINE Reg to_zero(Reg a) { return vrndq_f16(a); }
PTLITE_INLINE Reg to_even(Reg a) { return vrndnq_f16(a); }

}  // namespace half
}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#endif
