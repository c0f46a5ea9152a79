// Conversions of 16-bit floats by the instructions of 64-bit Arm. Included by vec/half.h, which has the types.
#pragma once

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// float16 from and to its bits, one number.
PTLITE_INLINE float float16_to_float(uint16_t bits) {
  return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(bits))), 0);
}
PTLITE_INLINE uint16_t float_to_float16(float x) { return vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(x))), 0); }

using detail::load_halves;
using detail::store_halves;

// A vector of float16 to float32 and back.
PTLITE_INLINE Vec<float> widen_bfloat16(HalfBits bits) {
  return bit_cast<float>(Vec<int32_t>((Vec<int32_t>::Raw)vshll_n_u16((uint16x4_t)bits, 16)));
}
PTLITE_INLINE Vec<float> widen_float16(HalfBits bits) { return Vec<float>((Vec<float>::Raw)vcvt_f32_f16((float16x4_t)bits)); }
PTLITE_INLINE HalfBits narrow_float16(Vec<float> a) { return (HalfBits)vcvt_f16_f32((float32x4_t)a.v); }

// A vector of float32 to bfloat16.
PTLITE_INLINE HalfBits narrow_bfloat16(Vec<float> a) {
#if defined(CPU_CAPABILITY_BF16)
  // the instruction keeps what a NaN carries
  const auto bits = (uint16x4_t)vcvt_bf16_f32((float32x4_t)a.v);
  const uint16x4_t number = vmovn_u32(vceqq_f32((float32x4_t)a.v, (float32x4_t)a.v));
  return (HalfBits)vbsl_u16(number, bits, vdup_n_u16(0x7fc0));
#else
  return detail::narrow_bfloat16(a);
#endif
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
