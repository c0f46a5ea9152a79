// Sigmoid, and activation functions with one in them, on float vectors: the same operations in the same order as in jit/algorithms.cpp,
// where they are explained, so that generated and compiled code give the same bits. At most 4 ULP over the whole range.
#pragma once

#include "support/gelu_pieces.h"
#include "vec/math.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace detail {

// a b, rounded, whatever it is added to
PTLITE_INLINE F32 product(F32 a, F32 b) {
  F32 r = a * b;
  PTLITE_KEEP_ROUNDED(r.v);
  return r;
}

// a a - square, where `square` is a a rounded
PTLITE_INLINE F32 square_rest(F32 a, F32 square) {
#if PTLITE_VEC_FUSED
  return multiply_add(a, a, -square);
#else
  // halves of 12 bits, whose products are exact
  const F32 high = bit_cast<float>(bit_cast<int32_t>(a) & Vec<int32_t>(~0xfff));
  const F32 low = a - high;
  return ((high * high - square) + F32(2.f) * high * low) + low * low;
#endif
}

// a 2^n, rounded once
PTLITE_INLINE F32 scaled(F32 a, F32 n) {
#if defined(PTLITE_VEC_SCALES)
  return scale_by_power(a, n);
#else
  const Vec<int32_t> k = convert<int32_t>(n);
  const Vec<int32_t> half = k >> 1;
  const Vec<int32_t> bias(127);
  return product(product(a, bit_cast<float>((half + bias) << 23)), bit_cast<float>((k - half + bias) << 23));
#endif
}

template <int n>
PTLITE_INLINE F32 horner(F32 x, const float (&c)[n], float unit = 1) {
  float factors[n];
  float factor = 1;
  for (int i = 0; i < n; i++, factor *= unit) factors[i] = c[i] * factor;
  F32 r(factors[n - 1]);
  for (int i = n - 2; i >= 0; i--) r = multiply_add(r, x, F32(factors[i]));
  return r;
}

PTLITE_INLINE F32 cut(F32 x, float high) { return at_most(x, F32(high)); }

// e^-((w + low) unit) = result 2^n
PTLITE_INLINE F32 split_exp_minus(F32 w, F32 low, F32& n, float unit = 1) {
  const F32 rounder(coefficients::ROUNDER);
  n = multiply_add(-w, F32(coefficients::LOG2_E * unit), rounder) - rounder;
  w = multiply_add(n, F32(coefficients::LN2 / unit), w);
  w = multiply_add(n, F32(-coefficients::LN2_EXCESS / unit), w) + low;
  return horner(w, coefficients::EXP_MINUS, unit);
}

// factor e^-v / (1 + e^-v) for v = w + low
PTLITE_INLINE F32 logistic_of_minus(F32 w, F32 low, F32 factor) {
  F32 n;
  const F32 power = split_exp_minus(w, low, n);
  return scaled(product(power, factor) / (scaled(power, n) + F32(1.f)), n);
}

// max(x, 0) - s; NaN at -infinity
PTLITE_INLINE F32 positive_part_minus(F32 x, F32 s) {
  const F32 half(0.5f);
  return multiply_add(x, half, product(abs(x), half)) - s;
}

}  // namespace detail

PTLITE_INLINE F32 logistic(F32 x) {
  const F32 s = detail::logistic_of_minus(detail::cut(abs(x), coefficients::VANISHED), F32::zero(), F32(1.f));
  return select(x < F32::zero(), s, F32(1.f) - s);
}

PTLITE_INLINE F64 logistic(F64 x) { return sigmoid(x); }

PTLITE_INLINE F32 silu(F32 x) {
  F32 n;
  const F32 power = detail::split_exp_minus(at_least(detail::cut(x, coefficients::VANISHED), F32(-coefficients::VANISHED)), F32::zero(), n);
  return x / (detail::scaled(power, n) + F32(1.f));
}

namespace detail {

// s of gelu_tanh and gelu: gelu(x) = max(x, 0) - s(|x|)
PTLITE_INLINE F32 gelu_tanh_rest(F32 x) {
  constexpr double linear = coefficients::GELU_TANH_LINEAR, cubic = coefficients::GELU_TANH_CUBIC;
  constexpr float linear_high = static_cast<float>(linear), cubic_high = static_cast<float>(cubic);
  constexpr float linear_low = static_cast<float>(linear - linear_high), cubic_low = static_cast<float>(cubic - cubic_high);
  const F32 size = cut(abs(x), coefficients::GELU_TANH_END);
  const F32 square = product(size, size);
  F32 rest = product(square_rest(size, square), F32(cubic_high));
  rest = multiply_add(square, F32(cubic_low), rest);
  const F32 part = product(square, F32(cubic_high));
  rest = rest + multiply_add(square, F32(cubic_high), -part);
  const F32 factor = part + F32(linear_high);
  const F32 lost = factor - part;
  rest = rest + (part - (factor - lost));
  rest = rest + (F32(linear_high) - lost);
  rest = rest + F32(linear_low);
  const F32 w = product(size, factor);
  const F32 low = multiply_add(rest, size, multiply_add(size, factor, -w));
  return logistic_of_minus(w, low, size);
}

PTLITE_INLINE F32 gelu_erf_rest(F32 x) {
  const F32 size = cut(abs(x), coefficients::GELU_ERF_END);
  const F32 square = product(size, size);
  const F32 q = size / (size + F32(coefficients::GELU_ERF_POLE));
  F32 n;
  const F32 power = product(split_exp_minus(square, square_rest(size, square), n, 0.5f), q);
  const F32 g = horner(multiply_add(q, F32(2.f), F32(-1.f)), coefficients::GELU_ERF);
  return scaled(product(power, g), n);
}

#if defined(PTLITE_VEC_LOOKS_UP_32)
template <class Rest>
PTLITE_INLINE F32 gelu_of(F32 x, const GeluPieces& pieces, Rest rest) {
  const F32 rounder(coefficients::ROUNDER);
  const F32 t = arch::lesser_magnitude(x, pieces.end());
  const F32 k = multiply_add(t, F32(1 / pieces.width), rounder);
  const F32 d = multiply_add(F32(-pieces.width), k - rounder, t);
  const auto coefficient = [&](int j) { return arch::look_up_32(pieces.coefficients[j], bit_cast<int32_t>(k)); };
  F32 s = coefficient(GeluPieces::kDegree);
#pragma GCC unroll 8
  for (int j = GeluPieces::kDegree - 1; j >= 0; j--) s = multiply_add(s, d, coefficient(j));
  arch::replace_below(s, x, -pieces.end(), [&] { return rest(x) + (x - x); });
  return select(x < F32::zero(), F32::zero(), x) - s;
}
#else
template <class Rest>
PTLITE_INLINE F32 gelu_of(F32 x, const GeluPieces&, Rest rest) {
  return positive_part_minus(x, rest(x));
}
#endif

}  // namespace detail

PTLITE_INLINE F32 gelu_tanh(F32 x) {
  return detail::gelu_of(x, kGeluTanhPieces, [](F32 v) { return detail::gelu_tanh_rest(v); });
}

PTLITE_INLINE F32 gelu(F32 x) {
  return detail::gelu_of(x, kGeluErfPieces, [](F32 v) { return detail::gelu_erf_rest(v); });
}

// x p / (p + 2) with p = e^x (e^x + 2)
PTLITE_INLINE F32 mish(F32 x) {
  F32 n;
  // beyond 20 the factor is 1
  const F32 bounded = detail::cut(x, coefficients::MISH_END), lowest(coefficients::EXP_LOWEST);
  const F32 r = detail::split_ln2(select(bounded < lowest, lowest, bounded), n);
  F32 mantissa = detail::exp_reduced(r) + F32(1.f);
  F32 power = detail::scaled(mantissa, n);
  const F32 sum = power + F32(2.f);
  mantissa = detail::product(mantissa, sum) / (detail::product(power, sum) + F32(2.f));
  mantissa = detail::scaled(detail::product(mantissa, select(x < F32(coefficients::MISH_LOW), F32(coefficients::MISH_LOW), x)), n);
  return select(x < F32::zero(), mantissa - (x - x), mantissa);
}

// factor (e^x - 1) below 0
PTLITE_INLINE F32 elu(F32 x, float factor) {
  F32 low = select(x > F32::zero(), F32::zero(), x);
  low = select(low < F32(coefficients::EXPM1_LOW), F32(coefficients::EXPM1_LOW), low);
  F32 n;
  const F32 r = detail::split_ln2(low, n);
  const F32 power = detail::scaled(F32(1.f), n);
  const F32 negative = detail::multiply_add(detail::exp_reduced(r), power, power - F32(1.f)) * F32(factor);
  return select(x > F32::zero(), x, negative);
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
