// Remainders of floating-point divisions, lane by lane exact.
#pragma once

#include <math.h>

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// a less the multiple of b that truncated division gives, with the sign of a (C's fmod).
template <class T>
PTLITE_INLINE Vec<T> modulo(Vec<T> a, Vec<T> b) {
  const auto one = [](T x, T y) { return static_cast<T>(sizeof(T) == 4 ? ::fmodf(static_cast<float>(x), static_cast<float>(y)) : ::fmod(x, y)); };
#if PTLITE_VEC_FUSED
  // An integer quotient of fewer bits than the mantissa is right or, where the division was rounded up to it, one too large;
  // either way the fused product leaves the exact rest.
  using V = Vec<T>;
  constexpr T most = sizeof(T) == 4 ? T(1 << 22) : T(1ll << 50);
  const V quotient = trunc(a / b);
  const auto exact = (abs(quotient) < V(most)) & (abs(b) < V(static_cast<T>(HUGE_VAL)));
  if (any(~exact)) return map_lanes(a, b, one);
  const V rest = fma(-quotient, b, a);
  const V toward = copysign(b, a);
  const auto beyond = (rest != V::zero()) & ((rest < V::zero()) != (a < V::zero()));
  return copysign(select(beyond, rest + toward, rest), a);
#else
  return map_lanes(a, b, one);
#endif
}

// Where the rest of a division has not the sign of the divisor.
template <class T>
PTLITE_INLINE typename Vec<T>::Mask crosses_zero(Vec<T> rest, Vec<T> b) {
  return (rest != Vec<T>::zero()) & ((b < Vec<T>::zero()) != (rest < Vec<T>::zero()));
}

// The same with the sign of b (Python's %).
template <class T>
PTLITE_INLINE Vec<T> remainder(Vec<T> a, Vec<T> b) {
  const Vec<T> rest = modulo(a, b);
  return select(crosses_zero(rest, b), rest + b, rest);
}

// The quotient rounded down (Python's //): consistent with the sign and exactness of `remainder`.
template <class T>
PTLITE_INLINE Vec<T> div_floor(Vec<T> a, Vec<T> b) {
  using V = Vec<T>;
  const V rest = modulo(a, b), plain = a / b;
  V quotient = (a - rest) / b;
  quotient = select(crosses_zero(rest, b), quotient - V(T(1)), quotient);
  const V down = floor(quotient);
  const V nearest = select(quotient - down > V(T(0.5)), down + V(T(1)), down);
  const V whole = select(quotient == V::zero(), copysign(V::zero(), plain), nearest);
  return select(b == V::zero(), plain, whole);
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
