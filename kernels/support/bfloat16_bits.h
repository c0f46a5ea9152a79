// One bfloat16 from and to float32: round to nearest even, NaN gives 0x7fc0, infinities and denormals are kept.
#pragma once

#include <cstdint>
#include <cstring>

// in each file's own namespace, as files are compiled for several levels
namespace {

inline float bits_to_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

inline uint32_t float_to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

inline float bfloat16_to_float(uint16_t bits) { return bits_to_float(uint32_t{bits} << 16); }

inline uint16_t float_to_bfloat16_bits(float value) {
  const uint32_t bits = float_to_bits(value);
  return value != value ? 0x7fc0 : static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace
