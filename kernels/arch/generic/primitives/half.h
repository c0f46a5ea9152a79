// Conversions of 16-bit floats without instructions for them, a vector at a time. Included by vec/half.h, which has the types and the common ways.
#pragma once

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// float16 from and to its bits, one number.
PTLITE_INLINE float float16_to_float(uint16_t bits) { return float16_bits_to_float(bits); }
PTLITE_INLINE uint16_t float_to_float16(float x) { return float_to_float16_bits(x); }

using detail::load_halves;
using detail::narrow_bfloat16;
using detail::widen_bfloat16;
using detail::store_halves;

// A vector of float16 to float32 and back: as support/float16_bits.h has it of one number.
PTLITE_INLINE Vec<float> widen_float16(HalfBits halves) {
  using I = Vec<int32_t>;
  const I bits(__builtin_convertvector(halves, I::Raw));
  const I sign = (bits & I(0x8000)) << 16, magnitude = bits & I(0x7fff), moved = magnitude << 13;
  const I number = bit_cast<int32_t>(bit_cast<float>(moved) * Vec<float>(0x1p112f));
  return bit_cast<float>(sign | select(magnitude >= I(0x7c00), moved | I(0x7f800000), number));
}
PTLITE_INLINE HalfBits narrow_float16(Vec<float> a) {
  using I = Vec<int32_t>;
  const I bits = bit_cast<int32_t>(a);
  const I sign = (bits >> 16) & I(0x8000), magnitude = bits & I(0x7fffffff);
  const I large = select(magnitude > I(0x7f800000), I(0x7e00), I(0x7c00));
  const I denormal = bit_cast<int32_t>(bit_cast<float>(magnitude) + Vec<float>(0.5f)) - I(0x3f000000);
  const I normal = (magnitude - I(0x38000000) + I(0xfff) + ((magnitude >> 13) & I(1))) >> 13;
  const I half = select(magnitude >= I(0x47800000), large, select(magnitude < I(0x38800000), denormal, normal));
  return __builtin_convertvector((sign | half).v, HalfBits);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
