// Activation functions on vectors of any floating-point type, shared by the kernels that apply them.
#pragma once

#include <cmath>

#include "support/gelu_pieces.h"
#include "vec/generated/coefficients.h"
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

PTLITE_INLINE F64 logistic(F64 x) { return sigmoid(x); }

#if defined(PTLITE_VEC_LOOKS_UP_32)
namespace detail {

// The same operations as in jit/algorithms.cpp, where they are explained.
template <class Rest>
PTLITE_INLINE F32 gelu_by_pieces(F32 x, const GeluPieces& pieces, Rest rest) {
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

}  // namespace detail

PTLITE_INLINE F32 gelu_tanh(F32 x) {
  return detail::gelu_by_pieces(x, kGeluTanhPieces, [](F32 v) { return gelu_tanh_rest(v); });
}
PTLITE_INLINE F32 gelu(F32 x) {
  return detail::gelu_by_pieces(x, kGeluErfPieces, [](F32 v) { return gelu_erf_rest(v); });
}
#else
PTLITE_INLINE F32 gelu_tanh(F32 x) { return gelu_tanh_by_exp(x); }
PTLITE_INLINE F32 gelu(F32 x) { return gelu_erf_by_exp(x); }
#endif

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
