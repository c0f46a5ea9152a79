// Inverse trigonometric functions and the tangent of float32 lanes, computed in double and rounded once.
#pragma once

#include "vec/math.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace detail {

// For x >= 0. Around 0, 1 and infinity the argument is moved into +-tan(pi/8), where the polynomial is within 4e-12.
PTLITE_INLINE F64 atan_positive(F64 x) {
  static constexpr double c[] = {-0.33333333331510234, 0.19999998944893504,  -0.14285614358496312, 0.11107540642048784,
                                 -0.09029491711708097, 0.07137945305448158, -0.04048295933916965};
  const auto middle = x > F64(0.41421356237309503), large = x > F64(2.414213562373095);
  const F64 numerator = select(large, F64(-1.0), select(middle, x - F64(1.0), x));
  const F64 denominator = select(large, x, select(middle, x + F64(1.0), F64(1.0)));
  const F64 base = select(large, F64(1.5707963267948966), select(middle, F64(0.7853981633974483), F64::zero()));
  const F64 r = numerator / denominator;
  const F64 z = r * r;
  return base + fma(polynomial(z, c) * z, r, r);
}

// The angle of (x, y) with the signs and zeros of C's atan2.
PTLITE_INLINE F64 angle_of(F64 y, F64 x) {
  const F64 a = abs(y), b = abs(x);
  // 0 / 0 and infinity / infinity have no quotient
  const F64 slope = select(a == F64::zero(), F64::zero(), select(a == b, F64(1.0), a / b));
  const F64 first = atan_positive(slope);
  const F64 angle = copysign(select(bit_cast<int64_t>(x) < Vec<int64_t>::zero(), F64(3.141592653589793) - first, first), y);
  return select(is_nan(x) | is_nan(y), x + y, angle);
}

}  // namespace detail

PTLITE_INLINE F32 arctangent(F32 x) {
  return detail::through_double(x, [](F64 a) { return copysign(detail::atan_positive(abs(a)), a); });
}
PTLITE_INLINE F32 arctangent2(F32 y, F32 x) {
  return detail::through_double(y, x, [](F64 a, F64 b) { return detail::angle_of(a, b); });
}
PTLITE_INLINE F32 arcsine(F32 x) {
  return detail::through_double(x, [](F64 a) { return detail::angle_of(a, sqrt((F64(1.0) - a) * (F64(1.0) + a))); });
}
PTLITE_INLINE F32 arccosine(F32 x) {
  return detail::through_double(x, [](F64 a) { return detail::angle_of(sqrt((F64(1.0) - a) * (F64(1.0) + a)), a); });
}
PTLITE_INLINE F32 tangent(F32 x) {
  if (any(abs(x) > F32(1e5f)) || any(is_nan(x))) return tan(x);
  const F32 result = detail::through_double(x, [](F64 a) { return detail::sin_reduced(a, 0) / detail::sin_reduced(a, 1); });
  return select(x == F32::zero(), x, result);
}

PTLITE_INLINE F64 arctangent(F64 x) { return atan(x); }
PTLITE_INLINE F64 arctangent2(F64 y, F64 x) {
  return map_lanes(y, x, [](double a, double b) { return ::atan2(a, b); });
}
PTLITE_INLINE F64 arcsine(F64 x) { return asin(x); }
PTLITE_INLINE F64 arccosine(F64 x) { return acos(x); }
PTLITE_INLINE F64 tangent(F64 x) { return tan(x); }

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
