// One float16 from and to float32, by arithmetic on its bits: round to nearest even, NaN stays NaN, infinities and denormals are kept.
#pragma once

#include "support/bfloat16_bits.h"

// in each file's own namespace, as files are compiled for several levels
namespace {

__attribute__((always_inline)) inline float float16_bits_to_float(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00) return bits_to_float(sign | 0x7f800000 | (magnitude << 13));
  // the exponent is rebased by a multiplication, which also normalises denormals
  return bits_to_float(sign | float_to_bits(bits_to_float(magnitude << 13) * 0x1p112f));
}

__attribute__((always_inline)) inline uint16_t float_to_float16_bits(float x) {
  const uint32_t bits = float_to_bits(x);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  uint32_t result;
  if (magnitude >= 0x47800000) {  // 65536 and above, infinity, NaN
    result = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
  } else if (magnitude < 0x38800000) {  // denormal: adding 0.5 leaves the rounded result in the low bits
    result = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000;
  } else {
    result = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  }
  return static_cast<uint16_t>(sign | result);
}

}  // namespace
