// Elementary functions on vectors; those of codegen/functions.yaml are generated.
// float32: at most 2 ULP. float64: exp and log 2 ULP, the others libm lane by lane. NaN gives NaN; infinities, signed zeros and denormals are as in libm.
#pragma once

#include <math.h>

#include "primitives/math.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

using F32 = Vec<float>;
using F64 = Vec<double>;

namespace detail {

// a 2^n for |n| <= 252, where n is an integer kept as a floating-point number: in two steps, so that denormal results come out right
PTLITE_INLINE F32 scale_by_power(F32 a, F32 n) {
#if defined(PTLITE_VEC_SCALES)
  return arch::scaled_by_power(a, n);
#else
  const Vec<int32_t> k = convert<int32_t>(n);
  const Vec<int32_t> half = k >> 1;
  const Vec<int32_t> bias(127);
  return a * bit_cast<float>((half + bias) << 23) * bit_cast<float>((k - half + bias) << 23);
#endif
}
PTLITE_INLINE F64 scale_by_power(F64 a, F64 n) {
#if defined(PTLITE_VEC_SCALES)
  return arch::scaled_by_power(a, n);
#else
  const Vec<int64_t> k = convert<int64_t>(n);
  const Vec<int64_t> half = k >> 1;
  const Vec<int64_t> bias(1023);
  return a * bit_cast<double>((half + bias) << 52) * bit_cast<double>((k - half + bias) << 52);
#endif
}

// a b + c with one rounding where the level has the instruction, also where c is a product, which the compiler could fuse
// in place of a b: generated code has to have the same bits.
PTLITE_INLINE F32 multiply_add(F32 a, F32 b, F32 c) { return arch::multiply_add(a, b, c); }
PTLITE_INLINE F64 multiply_add(F64 a, F64 b, F64 c) { return fma(a, b, c); }

// a, rounded, whatever it is added to
PTLITE_INLINE F32 rounded(F32 a) {
  PTLITE_KEEP_ROUNDED(a.v);
  return a;
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

// c[0] + x c[1] + x^2 c[2] + ...
template <class V, int n>
PTLITE_INLINE V polynomial(V x, const typename V::Scalar (&c)[n]) {
  V r(c[n - 1]);
  for (int i = n - 2; i >= 0; i--) r = multiply_add(r, x, V(c[i]));
  return r;
}

// e^r - 1 on |r| <= ln(2)/2
PTLITE_INLINE F64 exp_reduced(F64 r) {
  static constexpr double c[] = {0.50000000000000011, 0.16666666666666669, 0.04166666666662068, 0.0083333333333297961,
                                 0.0013888888918918907, 0.00019841269864364933, 2.4801518672268355e-05, 2.7557266442353424e-06,
                                 2.7621324269313687e-07, 2.5101335854788522e-08};
  return fma(polynomial(r, c), r * r, r);
}

// x = n ln(2) + r
PTLITE_INLINE F64 split_ln2(F64 x, F64& n) {
  n = rint(x * F64(1.4426950408889634));
  const F64 r = x - n * F64(0x1.62e42fefa2000p-1);
  return r - n * F64(0x1.9ef35793c7673p-41);
}

// Applies a function of double vectors to the lanes of a float vector.
template <class F>
PTLITE_INLINE F32 through_double(F32 a, F f) {
  alignas(PTLITE_VEC_BYTES) float lanes[F32::size];
  a.store(lanes);
  for (int i = 0; i < F32::size; i += F64::size) f(F64::load_from(lanes + i)).store_to(lanes + i);
  return F32::load(lanes);
}
template <class F>
PTLITE_INLINE F32 through_double(F32 a, F32 b, F f) {
  alignas(PTLITE_VEC_BYTES) float x[F32::size];
  alignas(PTLITE_VEC_BYTES) float y[F32::size];
  a.store(x);
  b.store(y);
  for (int i = 0; i < F32::size; i += F64::size) f(F64::load_from(x + i), F64::load_from(y + i)).store_to(x + i);
  return F32::load(x);
}

}  // namespace detail

#include "vec/generated/functions.h"

PTLITE_INLINE F64 exp(F64 x) {
  F64 n;
  const F64 r = detail::split_ln2(at_least(at_most(x, F64(710.0)), F64(-746.0)), n);
  return detail::scale_by_power(detail::exp_reduced(r) + F64(1.0), n);
}

PTLITE_INLINE F64 log(F64 x) {
  const auto tiny = x < F64(2.2250738585072014e-308);
  const F64 normal = select(tiny, x * F64(0x1p54), x);
  const Vec<int64_t> bits = bit_cast<int64_t>(normal);
  const Vec<int64_t> shifted = bits - Vec<int64_t>(0x3fe6a09e667f3bcd);
  const Vec<int64_t> k = shifted >> 52;
  const F64 m = bit_cast<double>(bits - (k << 52));
  const F64 n = convert<double>(k) - select(tiny, F64(54.0), F64::zero());
  const F64 f = m - F64(1.0);
  // log(1 + f) = 2 atanh(s) with s = f / (2 + f), written so that f - f^2/2 carries the leading part
  static constexpr double c[] = {0.66666666666665986, 0.40000000000198949, 0.28571428573755453, 0.22222214704059182,
                                 0.18182901771642374, 0.15319522468210664, 0.15116588338424911, -0.062199034516188967};
  const F64 s = f / (F64(2.0) + f);
  const F64 z = s * s;
  const F64 half_square = f * f * F64(0.5);
  const F64 tail = fma(s, half_square + z * detail::polynomial(z, c), n * F64(0x1.9ef35793c7673p-41));
  const F64 result = fma(n, F64(0x1.62e42fefa2000p-1), f - (half_square - tail));
  const F64 special = select(x == F64::zero(), F64(-__builtin_inf()), select(x < F64::zero(), F64(__builtin_nan("")), x));
  return select((x > F64::zero()) & (x < F64(__builtin_inf())), result, special);
}

PTLITE_INLINE F32 log2(F32 x) {
  return detail::through_double(x, [](F64 a) { return log(a) * F64(1.4426950408889634); });
}
PTLITE_INLINE F32 log10(F32 x) {
  return detail::through_double(x, [](F64 a) { return log(a) * F64(0.43429448190325183); });
}
PTLITE_INLINE F32 exp2(F32 x) {
  return detail::through_double(x, [](F64 a) { return exp(a * F64(0.6931471805599453)); });
}

PTLITE_INLINE F32 sigmoid(F32 x) { return F32(1.f) / (F32(1.f) + exp(-x)); }
PTLITE_INLINE F64 sigmoid(F64 x) { return F64(1.0) / (F64(1.0) + exp(-x)); }

namespace detail {

// sin(x + quarter * pi/2) for |x| < 1e5
PTLITE_INLINE F64 sin_reduced(F64 x, int64_t quarter) {
  const F64 n = rint(x * F64(0.63661977236758134));
  const F64 r = ((x - n * F64(0x1.921fb54400000p+0)) - n * F64(0x1.0b4611a600000p-34)) - n * F64(0x1.3198a2e037073p-69);
  static constexpr double sine[] = {-0.16666666666666943,   0.0083333333334070642,   -0.00019841269897959458,
                                    2.7557337794785854e-06, -2.5054643427866488e-08, 1.613013262559538e-10};
  static constexpr double cosine[] = {0.041666666666666984,    -0.0013888888888951537, 2.4801587335422107e-05,
                                      -2.7557326537264263e-07, 2.0877191043131369e-09, -1.1424222004281298e-11};
  const F64 z = r * r;
  const F64 s = fma(polynomial(z, sine) * z, r, r);
  const F64 c = fma(polynomial(z, cosine), z * z, fma(z, F64(-0.5), F64(1.0)));
  const Vec<int64_t> q = convert<int64_t>(n) + Vec<int64_t>(quarter);
  const F64 value = select((q & Vec<int64_t>(1)) == Vec<int64_t>::zero(), s, c);
  return select((q & Vec<int64_t>(2)) == Vec<int64_t>::zero(), value, -value);
}

}  // namespace detail

PTLITE_INLINE F32 sin(F32 x) {
  if (any(abs(x) > F32(1e5f)) || any(is_nan(x))) return map_lanes(x, [](float a) { return ::sinf(a); });
  const F32 result = detail::through_double(x, [](F64 a) { return detail::sin_reduced(a, 0); });
  return select(x == F32::zero(), x, result);
}
PTLITE_INLINE F32 cos(F32 x) {
  if (any(abs(x) > F32(1e5f)) || any(is_nan(x))) return map_lanes(x, [](float a) { return ::cosf(a); });
  return detail::through_double(x, [](F64 a) { return detail::sin_reduced(a, 1); });
}

PTLITE_INLINE F32 pow(F32 x, F32 y) {
  const F32 inf(__builtin_inff());
  if (any(~((x > F32::zero()) & (x < inf) & (abs(y) < inf)))) return map_lanes(x, y, [](float a, float b) { return ::powf(a, b); });
  return detail::through_double(x, y, [](F64 a, F64 b) { return exp(log(a) * b); });
}

#define PTLITE_LANES_F32(name, fn) \
  PTLITE_INLINE F32 name(F32 x) { return map_lanes(x, [](float a) { return ::fn(a); }); }
#define PTLITE_LANES_F64(name, fn) \
  PTLITE_INLINE F64 name(F64 x) { return map_lanes(x, [](double a) { return ::fn(a); }); }
#define PTLITE_LANES(name)       \
  PTLITE_LANES_F32(name, name##f) \
  PTLITE_LANES_F64(name, name)
PTLITE_LANES(erfc)
PTLITE_LANES(tan)
PTLITE_LANES(asin)
PTLITE_LANES(acos)
PTLITE_LANES(atan)
PTLITE_LANES(sinh)
PTLITE_LANES(cosh)
PTLITE_LANES(asinh)
PTLITE_LANES(acosh)
PTLITE_LANES(atanh)
PTLITE_LANES(lgamma)
PTLITE_LANES_F64(expm1, expm1)
PTLITE_LANES_F64(log1p, log1p)
PTLITE_LANES_F64(log2, log2)
PTLITE_LANES_F64(log10, log10)
PTLITE_LANES_F64(exp2, exp2)
PTLITE_LANES_F64(tanh, tanh)
PTLITE_LANES_F64(erf, erf)
PTLITE_LANES_F64(sin, sin)
PTLITE_LANES_F64(cos, cos)
#undef PTLITE_LANES
#undef PTLITE_LANES_F32
#undef PTLITE_LANES_F64

PTLITE_INLINE F64 pow(F64 x, F64 y) {
  return map_lanes(x, y, [](double a, double b) { return ::pow(a, b); });
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
