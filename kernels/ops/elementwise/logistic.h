// gelu and sigmoid on float vectors.
#pragma once

#include "support/gelu_pieces.h"
#include "vec/generated/coefficients.h"
#include "vec/math.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

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
