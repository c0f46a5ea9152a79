// Conversions of 16-bit floats without instructions for them. Included by vec/half.h, which has the types and the common ways.
#pragma once

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// float16 from and to its bits, one number.
PTLITE_INLINE float float16_to_float(uint16_t bits) { return float16_bits_to_float(bits); }
PTLITE_INLINE uint16_t float_to_float16(float x) { return float_to_float16_bits(x); }

// The first `count` of a vector's 16-bit floats, fewer than there are; the others are zero.
PTLITE_INLINE HalfBits load_halves(const void* p, int64_t count) {
  HalfBits bits{};
  memcpy(&bits, p, static_cast<size_t>(count) * 2);
  return bits;
}
PTLITE_INLINE void store_halves(void* p, HalfBits bits, int64_t count) { memcpy(p, &bits, static_cast<size_t>(count) * 2); }

// A vector of float16 to float32 and back.
PTLITE_INLINE Vec<float> widen_float16(HalfBits bits) {
  Vec<float> r;
  for (int i = 0; i < Vec<float>::size; i++) r.v[i] = float16_to_float(bits[i]);
  return r;
}
PTLITE_INLINE HalfBits narrow_float16(Vec<float> a) {
  HalfBits r;
  for (int i = 0; i < Vec<float>::size; i++) r[i] = float_to_float16(a.v[i]);
  return r;
}

// A vector of float32 to bfloat16.
PTLITE_INLINE HalfBits narrow_bfloat16(Vec<float> a) { return detail::narrow_bfloat16(a); }

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
