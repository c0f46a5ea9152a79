// Registers of 8-bit, 16-bit and 32-bit integers for quantized products, and the dot products of bytes that a level has:
//   RELAXED   i32x4.relaxed_dot_i8x16_i7x16_add_s, the same everywhere for activations of 7 bits: others are taken in halves
//   DEFAULT   two i32x4.dot_i16x8_s on operands widened to int16
#pragma once

#include "primitives/math.h"
#include "vec/vec.h"

#if defined(CPU_CAPABILITY_RELAXED)
#define PTLITE_INT8_HALVES
#endif

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

// Whichever integers: the functions say which.
using Reg = v128_t;
using Floats = v128_t;

PTLITE_INLINE Reg load(const void* p) { return wasm_v128_load(p); }
PTLITE_INLINE void store(void* p, Reg r) { wasm_v128_store(p, r); }
PTLITE_INLINE Reg broadcast(int32_t x) { return wasm_i32x4_splat(x); }
PTLITE_INLINE Reg none() { return wasm_i32x4_const_splat(0); }
PTLITE_INLINE Reg add(Reg a, Reg b) { return wasm_i32x4_add(a, b); }
PTLITE_INLINE Reg both(Reg a, Reg b) { return wasm_v128_and(a, b); }

// Sums of the products of two int16.
PTLITE_INLINE Reg multiply_pairs(Reg a, Reg b) { return wasm_i32x4_dot_i16x8(a, b); }
// The bytes of int16 as int16.
PTLITE_INLINE Reg low_bytes(Reg w) { return wasm_i16x8_shr(wasm_i16x8_shl(w, 8), 8); }
PTLITE_INLINE Reg high_bytes(Reg w) { return wasm_i16x8_shr(w, 8); }
PTLITE_INLINE Reg high_bytes_unsigned(Reg a) { return wasm_u16x8_shr(a, 8); }

#if defined(PTLITE_INT8_HALVES)
// sum and the products of four bytes: a of 7 bits, w signed. No sum of two products is beyond int16.
PTLITE_INLINE Reg dot_seven_bits(Reg sum, Reg a, Reg w) { return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(w, a, sum); }
// The upper 7 bits of bytes, and the last one.
PTLITE_INLINE Reg upper_bits(Reg a) { return wasm_u8x16_shr(a, 1); }
PTLITE_INLINE Reg last_bit(Reg a) { return wasm_v128_and(a, wasm_i8x16_splat(1)); }
#endif

PTLITE_INLINE Floats load_floats(const float* p) { return wasm_v128_load(p); }
PTLITE_INLINE void store_floats(float* p, Floats x) { wasm_v128_store(p, x); }
PTLITE_INLINE Floats broadcast(float x) { return wasm_f32x4_splat(x); }

// As an integer, the lowest int32 below all others; whatever beyond the highest, or where it is no number.
PTLITE_INLINE Reg truncated(Floats x) {
#if defined(CPU_CAPABILITY_RELAXED)
  return wasm_i32x4_relaxed_trunc_f32x4(x);
#else
  return wasm_i32x4_trunc_sat_f32x4(x);
#endif
}

// The integer nearest to sum * scale, which int32 holds.
PTLITE_INLINE Reg scaled(Reg sum, Floats scale) {
  return truncated(wasm_f32x4_nearest(wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum), scale)));
}
// The same, but at most `high`; the lowest int32 where it is below all others, or no number.
PTLITE_INLINE Reg scaled(Reg sum, Floats scale, Floats high) {
  const Floats x = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum), scale);
  // x where it is no number
  const Reg nearest = truncated(wasm_f32x4_nearest(wasm_f32x4_pmin(x, high)));
  return wasm_v128_bitselect(nearest, wasm_i32x4_const_splat(INT32_MIN), wasm_f32x4_eq(x, x));
}

PTLITE_INLINE Reg subtract(Reg a, Reg b) { return wasm_i32x4_sub(a, b); }
PTLITE_INLINE Reg flip(Reg a, Reg b) { return wasm_v128_xor(a, b); }
PTLITE_INLINE Reg words(int32_t x) { return wasm_i16x8_splat(static_cast<int16_t>(x)); }
PTLITE_INLINE Reg bytes(int32_t x) { return wasm_i8x16_splat(static_cast<int8_t>(x)); }

// The lanes of a, then those of b, in half their width, saturated.
PTLITE_INLINE Reg narrow_to_words(Reg a, Reg b) { return wasm_i16x8_narrow_i32x4(a, b); }
PTLITE_INLINE Reg narrow_to_bytes(Reg a, Reg b) { return wasm_u8x16_narrow_i16x8(a, b); }
PTLITE_INLINE Reg add_words(Reg a, Reg b) { return wasm_i16x8_add_sat(a, b); }
PTLITE_INLINE Reg max_bytes(Reg a, Reg b) { return wasm_u8x16_max(a, b); }
PTLITE_INLINE Reg min_bytes(Reg a, Reg b) { return wasm_u8x16_min(a, b); }

// Lanes of a and b in turn, of their lower and their upper halves.
PTLITE_INLINE Reg low_of_bytes(Reg a, Reg b) { return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23); }
PTLITE_INLINE Reg high_of_bytes(Reg a, Reg b) {
  return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
PTLITE_INLINE Reg low_of_words(Reg a, Reg b) { return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
PTLITE_INLINE Reg high_of_words(Reg a, Reg b) { return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
// Narrowing keeps to parts of 16 bytes: a register is one.
PTLITE_INLINE Reg transposed(Reg a) { return a; }

// A block has as many rows as registers are left for.
constexpr int kRows = 4;

// Activations are signed where dot_bytes takes them so.
constexpr bool kSignedActivations = false;

}  // namespace int8

// Bytes as 32-bit integers: as many as a vector has lanes.
PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) {
  return Vec<int32_t>((Vec<int32_t>::Raw)wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(bytes))));
}
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) {
  return Vec<int32_t>((Vec<int32_t>::Raw)wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(bytes))));
}
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
