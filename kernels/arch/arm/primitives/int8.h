// Registers of 8-bit, 16-bit and 32-bit integers for quantized products, and the dot products of bytes that a level of 64-bit Arm has:
//   I8MM       usmmla, smmla: two rows by two columns, eight steps at a time; usdot where a lane is a channel
//   DOTPROD    sdot, on activations that are shifted into signed bytes
//   DEFAULT    smull and smull2 on operands widened to int16
#pragma once

#include "vec/vec.h"

#if defined(CPU_CAPABILITY_DOTPROD)
#define PTLITE_INT8_DOT
#endif
#if defined(CPU_CAPABILITY_I8MM)
#define PTLITE_INT8_MATRIX
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

// Whichever integers: the functions say which.
using Reg = int32x4_t;
using Floats = float32x4_t;

PTLITE_INLINE Reg load(const void* p) { return vreinterpretq_s32_u8(vld1q_u8(static_cast<const uint8_t*>(p))); }
PTLITE_INLINE void store(void* p, Reg r) { vst1q_u8(static_cast<uint8_t*>(p), vreinterpretq_u8_s32(r)); }
PTLITE_INLINE Reg broadcast(int32_t x) { return vdupq_n_s32(x); }
PTLITE_INLINE Reg none() { return vdupq_n_s32(0); }
PTLITE_INLINE Reg add(Reg a, Reg b) { return vaddq_s32(a, b); }
PTLITE_INLINE Reg both(Reg a, Reg b) { return vandq_s32(a, b); }

// Sums of the products of two int16.
PTLITE_INLINE Reg multiply_pairs(Reg a, Reg b) {
  const int16x8_t x = vreinterpretq_s16_s32(a), y = vreinterpretq_s16_s32(b);
  return vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
}
// The bytes of int16 as int16.
PTLITE_INLINE Reg low_bytes(Reg w) { return vreinterpretq_s32_s16(vshrq_n_s16(vshlq_n_s16(vreinterpretq_s16_s32(w), 8), 8)); }
PTLITE_INLINE Reg high_bytes(Reg w) { return vreinterpretq_s32_s16(vshrq_n_s16(vreinterpretq_s16_s32(w), 8)); }
PTLITE_INLINE Reg high_bytes_unsigned(Reg a) { return vreinterpretq_s32_u16(vshrq_n_u16(vreinterpretq_u16_s32(a), 8)); }

PTLITE_INLINE Floats load_floats(const float* p) { return vld1q_f32(p); }
PTLITE_INLINE void store_floats(float* p, Floats x) { vst1q_f32(p, x); }
PTLITE_INLINE Floats broadcast(float x) { return vdupq_n_f32(x); }

// The integer nearest to sum * scale, which int32 holds.
PTLITE_INLINE Reg scaled(Reg sum, Floats scale) { return vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(sum), scale)); }
// The same, but at most `high`; the lowest int32 where it is below all others, or no number.
PTLITE_INLINE Reg scaled(Reg sum, Floats scale, Floats high) {
  const Floats x = vmulq_f32(vcvtq_f32_s32(sum), scale);
  const Reg nearest = vcvtnq_s32_f32(vbslq_f32(vcltq_f32(high, x), high, x));
  return vbslq_s32(vceqq_f32(x, x), nearest, vdupq_n_s32(INT32_MIN));
}

PTLITE_INLINE Reg subtract(Reg a, Reg b) { return vsubq_s32(a, b); }
PTLITE_INLINE Reg flip(Reg a, Reg b) { return veorq_s32(a, b); }
PTLITE_INLINE Reg words(int32_t x) { return vreinterpretq_s32_s16(vdupq_n_s16(static_cast<int16_t>(x))); }
PTLITE_INLINE Reg bytes(int32_t x) { return vreinterpretq_s32_u8(vdupq_n_u8(static_cast<uint8_t>(x))); }

// The lanes of a, then those of b, in half their width, saturated.
PTLITE_INLINE Reg narrow_to_words(Reg a, Reg b) { return vreinterpretq_s32_s16(vqmovn_high_s32(vqmovn_s32(a), b)); }
PTLITE_INLINE Reg narrow_to_bytes(Reg a, Reg b) {
  return vreinterpretq_s32_u8(vqmovun_high_s16(vqmovun_s16(vreinterpretq_s16_s32(a)), vreinterpretq_s16_s32(b)));
}
PTLITE_INLINE Reg add_words(Reg a, Reg b) {
  return vreinterpretq_s32_s16(vqaddq_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
}
PTLITE_INLINE Reg max_bytes(Reg a, Reg b) { return vreinterpretq_s32_u8(vmaxq_u8(vreinterpretq_u8_s32(a), vreinterpretq_u8_s32(b))); }
PTLITE_INLINE Reg min_bytes(Reg a, Reg b) { return vreinterpretq_s32_u8(vminq_u8(vreinterpretq_u8_s32(a), vreinterpretq_u8_s32(b))); }

// Lanes of a and b in turn, of their lower and their upper halves.
PTLITE_INLINE Reg low_of_bytes(Reg a, Reg b) { return vreinterpretq_s32_u8(vzip1q_u8(vreinterpretq_u8_s32(a), vreinterpretq_u8_s32(b))); }
PTLITE_INLINE Reg high_of_bytes(Reg a, Reg b) { return vreinterpretq_s32_u8(vzip2q_u8(vreinterpretq_u8_s32(a), vreinterpretq_u8_s32(b))); }
PTLITE_INLINE Reg low_of_words(Reg a, Reg b) { return vreinterpretq_s32_s16(vzip1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b))); }
PTLITE_INLINE Reg high_of_words(Reg a, Reg b) { return vreinterpretq_s32_s16(vzip2q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b))); }
// Narrowing keeps to parts of 16 bytes: a register is one.
PTLITE_INLINE Reg transposed(Reg a) { return a; }

// A block has as many rows as registers are left for.
#if defined(PTLITE_INT8_DOT)
constexpr int kRows = 8;
#else
constexpr int kRows = 9;
#endif

// Activations are signed where dot_bytes takes them so.
#if defined(CPU_CAPABILITY_DOTPROD) && !defined(CPU_CAPABILITY_I8MM)
constexpr bool kSignedActivations = true;
#else
constexpr bool kSignedActivations = false;
#endif

#if defined(PTLITE_INT8_DOT)
// Sums of the products of four activations and four signed bytes.
PTLITE_INLINE Reg dot_bytes(Reg sum, Reg a, Reg w) {
#if defined(CPU_CAPABILITY_I8MM)
  return vusdotq_s32(sum, vreinterpretq_u8_s32(a), vreinterpretq_s8_s32(w));
#else
  return vdotq_s32(sum, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(w));
#endif
}
#endif

#if defined(PTLITE_INT8_MATRIX)
// sums[2][2], plus the products of rows[2][8] and columns[2][8]
PTLITE_INLINE Reg multiply_matrices(Reg sums, Reg rows, Reg columns) {
  return vusmmlaq_s32(sums, vreinterpretq_u8_s32(rows), vreinterpretq_s8_s32(columns));
}
// The same for rows of signed bytes.
PTLITE_INLINE Reg multiply_signed_matrices(Reg sums, Reg rows, Reg columns) {
  return vmmlaq_s32(sums, vreinterpretq_s8_s32(rows), vreinterpretq_s8_s32(columns));
}
// Lanes of a and b in turn, of their lower and their upper halves.
PTLITE_INLINE Reg low_lanes(Reg a, Reg b) { return vzip1q_s32(a, b); }
PTLITE_INLINE Reg high_lanes(Reg a, Reg b) { return vzip2q_s32(a, b); }
PTLITE_INLINE Reg subtract_bytes(Reg a, Reg b) {
  return vreinterpretq_s32_s8(vsubq_s8(vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b)));
}
// Eight bytes of each of two rows.
PTLITE_INLINE Reg load_rows(const uint8_t* a, const uint8_t* b) { return vreinterpretq_s32_u8(vcombine_u8(vld1_u8(a), vld1_u8(b))); }
// Two integers, for either row.
PTLITE_INLINE Reg load_twice(const int32_t* p) { return vcombine_s32(vld1_s32(p), vld1_s32(p)); }
// The first or second row of two matrices beside each other.
PTLITE_INLINE Reg first_row(Reg a, Reg b) { return vcombine_s32(vget_low_s32(a), vget_low_s32(b)); }
PTLITE_INLINE Reg second_row(Reg a, Reg b) { return vcombine_s32(vget_high_s32(a), vget_high_s32(b)); }
#endif

}  // namespace int8

// Bytes as 32-bit integers: as many as a vector has lanes.
PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) {
  int32_t four;
  memcpy(&four, bytes, sizeof(four));
  return Vec<int32_t>((Vec<int32_t>::Raw)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four))))));
}
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) {
  uint32_t four;
  memcpy(&four, bytes, sizeof(four));
  return Vec<int32_t>((Vec<int32_t>::Raw)vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four))))));
}
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
