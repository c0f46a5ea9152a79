// Registers of 8-bit, 16-bit and 32-bit integers for quantized products, in the compiler's own vectors of 16 bytes. Dot products of bytes
// take two products of pairs of operands widened to int16.
#pragma once

#include "primitives/math.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

using I32 = Vec<int32_t>::Raw;
using I16 = Vec<int16_t>::Raw;
using U16 = Vec<uint16_t>::Raw;
using U8 = Vec<uint8_t>::Raw;
using I8 = Vec<int8_t>::Raw;

// Whichever integers: the functions say which.
using Reg = I32;
using Floats = Vec<float>::Raw;

PTLITE_INLINE Reg load(const void* p) {
  Reg r;
  memcpy(&r, p, sizeof(r));
  return r;
}
PTLITE_INLINE void store(void* p, Reg r) { memcpy(p, &r, sizeof(r)); }
PTLITE_INLINE Reg broadcast(int32_t x) { return Vec<int32_t>(x).v; }
PTLITE_INLINE Reg none() { return Reg{}; }
PTLITE_INLINE Reg add(Reg a, Reg b) { return a + b; }
PTLITE_INLINE Reg both(Reg a, Reg b) { return a & b; }

// Lane i of f is f(a[i], b[i]) of lanes of another width.
template <class To, class From, class F>
PTLITE_INLINE Reg lane_by_lane(Reg a, Reg b, F f) {
  const From x = (From)a, y = (From)b;
  To r;
  for (int i = 0; i < static_cast<int>(sizeof(To) / sizeof(r[0])); i++) r[i] = f(x, y, i);
  return (Reg)r;
}
template <class T>
PTLITE_INLINE T between(int32_t x, int32_t low, int32_t high) {
  return static_cast<T>(x < low ? low : x > high ? high : x);
}

// Sums of the products of two int16.
PTLITE_INLINE Reg multiply_pairs(Reg a, Reg b) {
  return lane_by_lane<I32, I16>(a, b, [](I16 x, I16 y, int i) { return x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1]; });
}
// The bytes of int16 as int16.
PTLITE_INLINE Reg low_bytes(Reg w) { return (Reg)((I16)((U16)w << 8) >> 8); }
PTLITE_INLINE Reg high_bytes(Reg w) { return (Reg)((I16)w >> 8); }
PTLITE_INLINE Reg high_bytes_unsigned(Reg a) { return (Reg)((U16)a >> 8); }

PTLITE_INLINE Floats load_floats(const float* p) { return Vec<float>::load(p).v; }
PTLITE_INLINE void store_floats(float* p, Floats x) { Vec<float>(x).store(p); }
PTLITE_INLINE Floats broadcast(float x) { return Vec<float>(x).v; }

// The integer nearest to sum * scale; the lowest int32 where that is none.
PTLITE_INLINE Reg nearest(Vec<float> x) {
  const Vec<int32_t> lowest(INT32_MIN);
  const auto fits = (x >= Vec<float>(-2147483648.f)) & (x < Vec<float>(2147483648.f));
  return select(fits, arch::nearest_int(select(fits, x, Vec<float>::zero())), lowest).v;
}
PTLITE_INLINE Reg scaled(Reg sum, Floats scale) { return nearest(convert<float>(Vec<int32_t>(sum)) * Vec<float>(scale)); }
// The same, but at most `high`.
PTLITE_INLINE Reg scaled(Reg sum, Floats scale, Floats high) {
  return nearest(fast_min(Vec<float>(high), convert<float>(Vec<int32_t>(sum)) * Vec<float>(scale)));
}

PTLITE_INLINE Reg subtract(Reg a, Reg b) { return a - b; }
PTLITE_INLINE Reg flip(Reg a, Reg b) { return a ^ b; }
PTLITE_INLINE Reg words(int32_t x) { return (Reg)Vec<int16_t>(static_cast<int16_t>(x)).v; }
PTLITE_INLINE Reg bytes(int32_t x) { return (Reg)Vec<uint8_t>(static_cast<uint8_t>(x)).v; }

// The lanes of a, then those of b, in half their width, saturated.
PTLITE_INLINE Reg narrow_to_words(Reg a, Reg b) {
  return lane_by_lane<I16, I32>(a, b, [](I32 x, I32 y, int i) { return between<int16_t>(i < 4 ? x[i & 3] : y[i & 3], -32768, 32767); });
}
PTLITE_INLINE Reg narrow_to_bytes(Reg a, Reg b) {
  return lane_by_lane<U8, I16>(a, b, [](I16 x, I16 y, int i) { return between<uint8_t>(i < 8 ? x[i & 7] : y[i & 7], 0, 255); });
}
PTLITE_INLINE Reg add_words(Reg a, Reg b) {
  return lane_by_lane<I16, I16>(a, b, [](I16 x, I16 y, int i) { return between<int16_t>(x[i] + y[i], -32768, 32767); });
}
PTLITE_INLINE Reg max_bytes(Reg a, Reg b) { return (Reg)((U8)a > (U8)b ? (U8)a : (U8)b); }
PTLITE_INLINE Reg min_bytes(Reg a, Reg b) { return (Reg)((U8)a < (U8)b ? (U8)a : (U8)b); }

// Lanes of a and b in turn, of their lower and their upper halves.
PTLITE_INLINE Reg low_of_bytes(Reg a, Reg b) {
  return lane_by_lane<U8, U8>(a, b, [](U8 x, U8 y, int i) { return (i & 1) != 0 ? y[i / 2] : x[i / 2]; });
}
PTLITE_INLINE Reg high_of_bytes(Reg a, Reg b) {
  return lane_by_lane<U8, U8>(a, b, [](U8 x, U8 y, int i) { return (i & 1) != 0 ? y[8 + i / 2] : x[8 + i / 2]; });
}
PTLITE_INLINE Reg low_of_words(Reg a, Reg b) {
  return lane_by_lane<I16, I16>(a, b, [](I16 x, I16 y, int i) { return (i & 1) != 0 ? y[i / 2] : x[i / 2]; });
}
PTLITE_INLINE Reg high_of_words(Reg a, Reg b) {
  return lane_by_lane<I16, I16>(a, b, [](I16 x, I16 y, int i) { return (i & 1) != 0 ? y[4 + i / 2] : x[4 + i / 2]; });
}
// Narrowing keeps to parts of 16 bytes: the order in which the parts of 4 bytes of wider registers follow each other then.
PTLITE_INLINE Reg transposed(Reg a) { return a; }

// A block has as many rows as registers are left for.
constexpr int kRows = 4;

// Activations are signed where dot_bytes takes them so.
constexpr bool kSignedActivations = false;

}  // namespace int8

// Bytes as 32-bit integers: as many as a vector has lanes.
PTLITE_INLINE Vec<int32_t> widen(const int8_t* bytes) { return Vec<int32_t>::load_from(bytes); }
PTLITE_INLINE Vec<int32_t> widen(const uint8_t* bytes) { return Vec<int32_t>::load_from(bytes); }
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
