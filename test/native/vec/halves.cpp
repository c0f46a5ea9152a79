// 16-bit floats by vectors against the scalar conversions, and those against their definition.
#include <math.h>
#include <string.h>

#include "check.h"
#include "lanes.h"
#include "vec/half.h"

namespace {

using ptlite::Vec;

// The value that the bits stand for, by the format's definition.
double value_of(uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1), fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
  return sign * ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

template <class Half>
constexpr int exponent_bits = 8;
template <>
constexpr int exponent_bits<ptlite::float16> = 5;

ptlite::bfloat16 rounded(float x, ptlite::bfloat16) { return ptlite::to_bfloat16(x); }
ptlite::float16 rounded(float x, ptlite::float16) { return ptlite::to_float16(x); }

bool same_value(double a, double b) { return (a != a && b != b) || (a == b && signbit(a) == signbit(b)); }

template <class Half>
void widening(const char* type) {
  constexpr int size = Vec<float>::size;
  for (uint32_t bits = 0; bits < 65536; bits += size) {
    Half in[size];
    for (int i = 0; i < size; i++) in[i].bits = static_cast<uint16_t>(bits + i);
    const Vec<float> v = ptlite::load_float(in);
    for (int i = 0; i < size; i++) {
      CHECK(same_value(v[i], value_of(in[i].bits, exponent_bits<Half>)), "%s %04x", type, in[i].bits);
      CHECK(same_value(ptlite::to_float(in[i]), v[i]), "%s %04x scalar", type, in[i].bits);
    }
  }
}

// Nearest, ties to even: no neighbour is nearer, and of two as near the even one is taken.
template <class Half>
void check_rounding(float x, uint16_t bits, const char* type) {
  constexpr int e = exponent_bits<Half>;
  if (x != x) return CHECK(value_of(bits, e) != value_of(bits, e), "%s of NaN is %04x", type, bits);
  CHECK((bits >> 15 != 0) == (signbit(x) != 0), "%s sign of %a", type, double(x));
  const uint16_t magnitude = bits & 0x7fff, infinity = static_cast<uint16_t>(((1 << e) - 1) << (15 - e));
  const double target = fabs(double(x));
  // beyond the largest number the next step counts as if it were one
  const auto at = [&](uint16_t m) { return m < infinity ? value_of(m, e) : m == infinity ? 2 * value_of(m - 1, e) - value_of(m - 2, e) : INFINITY; };
  if (isinf(x)) return CHECK(magnitude == infinity, "%s infinity", type);
  const double off = fabs(at(magnitude) - target);
  const double below = magnitude > 0 ? fabs(at(magnitude - 1) - target) : INFINITY, above = fabs(at(magnitude + 1) - target);
  if (magnitude == infinity) return CHECK(off < below || (off == below && (magnitude & 1) == 0) || target > at(infinity), "%s %a overflows", type, double(x));
  CHECK(off <= below && off <= above && ((off < below && off < above) || (magnitude & 1) == 0), "%s of %a is %04x", type, double(x), bits);
}

template <class Half>
void narrowing(const char* type) {
  constexpr int size = Vec<float>::size;
  uint32_t next = 0;
  for (int round = 0; round < 200000; round++) {
    float in[size];
    Half out[size];
    for (int i = 0; i < size; i++) {
      // all magnitudes in turn; every eighth is a tie between two bfloat16 or float16 numbers
      uint32_t bits = next += 2654435761u;
      if (i % 8 == 0) bits = (bits & 0xffff0000u) | 0x8000;
      if (i % 8 == 1) bits = (bits & 0xffffe000u) | 0x1000;
      if (i % 8 == 2) bits &= 0x807fffffu;
      in[i] = bits_to_float(bits);
    }
    ptlite::store_float(out, Vec<float>::load(in));
    for (int i = 0; i < size; i++) {
      check_rounding<Half>(in[i], out[i].bits, type);
      const uint16_t scalar = rounded(in[i], Half{}).bits;
      CHECK(scalar == out[i].bits || in[i] != in[i], "%s of %a: %04x by vector, %04x alone", type, double(in[i]), out[i].bits, scalar);
    }
  }
}

template <class Half>
void tails(const char* type) {
  constexpr int size = Vec<float>::size;
  for (int count = 0; count <= size + 1; count++) {
    Half in[size + 2], out[size + 2];
    for (int i = 0; i < size + 2; i++) {
      in[i].bits = static_cast<uint16_t>(0x3c00 + i);
      out[i].bits = 0x5a5a;
    }
    const Vec<float> v = ptlite::load_float(in, count);
    for (int i = 0; i < size; i++) CHECK(v[i] == (i < count ? ptlite::to_float(in[i]) : 0.f), "%s load of %d", type, count);
    ptlite::store_float(out, v, count);
    for (int i = 0; i < size + 2; i++) CHECK(out[i].bits == (i < count && i < size ? in[i].bits : 0x5a5a), "%s store of %d", type, count);
  }
}

}  // namespace

void check_halves() {
  widening<ptlite::bfloat16>("bfloat16");
  widening<ptlite::float16>("float16");
  narrowing<ptlite::bfloat16>("bfloat16");
  narrowing<ptlite::float16>("float16");
  tails<ptlite::bfloat16>("bfloat16");
  tails<ptlite::float16>("float16");
}
