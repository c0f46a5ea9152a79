// Activation functions on vectors of any floating-point type, shared by the kernels that apply them.
#pragma once

#include <cmath>

#include "ops/elementwise/logistic.h"
#include "vec/math.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

template <class V>
PTLITE_INLINE V number(double x) {
  return V(static_cast<typename V::Scalar>(x));
}

template <class V>
PTLITE_INLINE V gelu(V a) {
  return a * number<V>(0.5) * (number<V>(1) + erf(a * number<V>(M_SQRT1_2)));
}

template <class V>
PTLITE_INLINE V gelu_tanh(V a) {
  const V inner = number<V>(M_SQRT2 * M_2_SQRTPI * 0.5) * (a + number<V>(0.044715) * a * a * a);
  return number<V>(0.5) * a * (number<V>(1) + tanh(inner));
}

template <class V>
PTLITE_INLINE V silu(V a) {
  return a / (number<V>(1) + exp(-a));
}

template <class V>
PTLITE_INLINE V mish(V a) {
  // log(1 + e^a) without overflow
  return a * tanh(select(a > number<V>(30), a, log1p(exp(a))));
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
