// Floats of 8 bits from and to float32: "FP8 Formats for Deep Learning" (Micikevicius et al., 2022), and the forms without infinities and negative
// zero (fnuz). Rounded to nearest even; beyond the greatest number e4m3fn keeps that, e5m2 becomes infinity, the others NaN.
#pragma once

#include <cstdint>
#include <cstring>

namespace {

template <int Fraction, int Bias, uint32_t Greatest, uint32_t Beyond, bool Fnuz>
struct float8 {
  uint8_t bits;

  operator float() const {
    const uint32_t magnitude = bits & 0x7fu;
    if (Fnuz ? bits == 0x80u : magnitude > Greatest && magnitude != kInfinity) return bit_cast(0x7fc00000u);
    if (magnitude == kInfinity) return bit_cast(bits & 0x80u ? 0xff800000u : 0x7f800000u);
    const uint32_t exponent = magnitude >> Fraction, rest = magnitude & ((1u << Fraction) - 1);
    const float value = exponent == 0 ? static_cast<float>(rest) * bit_cast(static_cast<uint32_t>(128 - Bias - Fraction) << 23)
                                      : bit_cast(((exponent + 127 - Bias) << 23) | (rest << (23 - Fraction)));
    return bits & 0x80u ? -value : value;
  }

  static float8 from(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    const uint32_t sign = (word >> 24) & 0x80u, magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {uint8_t(Fnuz ? 0x80u : sign | 0x7fu)};
    uint32_t code;
    if (magnitude < static_cast<uint32_t>(128 - Bias) << 23) {
      // below the least normal number: adding a power of two leaves whole units in the low bits, rounded as float32 is
      const uint32_t unit = static_cast<uint32_t>(128 - Bias - Fraction + 23) << 23;
      const float sum = bit_cast(magnitude) + bit_cast(unit);
      memcpy(&code, &sum, sizeof(code));
      code -= unit;
    } else {
      const uint32_t odd = (magnitude >> (23 - Fraction)) & 1u;
      code = ((magnitude + odd + (1u << (22 - Fraction)) - 1u) >> (23 - Fraction)) - (static_cast<uint32_t>(127 - Bias) << Fraction);
    }
    if (code > Greatest) return {uint8_t(Fnuz ? Beyond : sign | Beyond)};
    return {uint8_t(Fnuz && code == 0 ? 0u : sign | code)};
  }

 private:
  // no code of a format without one
  static constexpr uint32_t kInfinity = Beyond == 0x7cu ? Beyond : 0x100u;

  static float bit_cast(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof(value));
    return value;
  }
};

using float8_e4m3fn = float8<3, 7, 0x7e, 0x7e, false>;
using float8_e5m2 = float8<2, 15, 0x7b, 0x7c, false>;
using float8_e4m3fnuz = float8<3, 8, 0x7f, 0x80, true>;
using float8_e5m2fnuz = float8<2, 16, 0x7f, 0x80, true>;

}  // namespace
