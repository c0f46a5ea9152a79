// The element-wise algorithms of generated kernels, compiled: what runs where no code is generated. Same bits as jit/algorithms.cpp.
#pragma once

#include "frames/jit.h"
#include "jit/algorithm_kinds.h"
#include "ops/elementwise/activation_functions.h"
#include "vec/half.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

struct PostOpNumbers {
  float alpha, beta, scale;
};

// Of comparisons and bools: all bits or none.
template <class M>
PTLITE_INLINE F32 bits_of(M holds) {
  return select(holds, bit_cast<float>(Vec<int32_t>(-1)), F32::zero());
}
template <class F>
PTLITE_INLINE F32 on_bits(F32 x, F32 y, F f) {
  return bit_cast<float>(f(bit_cast<int32_t>(x), bit_cast<int32_t>(y)));
}

// Calls g(f) with the function object f of an algorithm from floats to floats, once for all elements; false for others.
template <class G>
PTLITE_INLINE bool with_algorithm(int32_t algorithm, PostOpNumbers p, G g) {
  const auto call = [&](auto f) {
    g(f);
    return true;
  };
  switch (algorithm) {
    case JitAlgorithm_exp: return call([](F32 x) { return exp(x); });
    case JitAlgorithm_tanh: return call([](F32 x) { return tanh(x); });
    case JitAlgorithm_gelu_tanh: return call([](F32 x) { return gelu_tanh(x); });
    case JitAlgorithm_gelu_erf: return call([](F32 x) { return gelu(x); });
    case JitAlgorithm_relu:
      if (p.alpha == 0) return call([](F32 x) { return at_least(x, F32::zero()); });
      return call([=](F32 x) { return select(x > F32::zero(), x, x * F32(p.alpha)); });
    case JitAlgorithm_linear: return call([=](F32 x) { return detail::multiply_add(x, F32(p.alpha), F32(p.beta)); });
    case JitAlgorithm_sigmoid: return call([](F32 x) { return logistic(x); });
    case JitAlgorithm_silu: return call([](F32 x) { return silu(x); });
    case JitAlgorithm_hardswish: return call([](F32 x) { return hardswish(x); });
    case JitAlgorithm_hardsigmoid: return call([](F32 x) { return hardsigmoid(x); });
    case JitAlgorithm_clamp: return call([=](F32 x) { return at_most(at_least(x, F32(p.alpha)), F32(p.beta)); });
    case JitAlgorithm_elu: return call([=](F32 x) { return elu(x, p.alpha); });
    case JitAlgorithm_softplus: return call([=](F32 x) { return softplus(x, p.alpha, p.beta); });
    case JitAlgorithm_mish: return call([](F32 x) { return mish(x); });
    case JitAlgorithm_abs: return call([](F32 x) { return abs(x); });
    case JitAlgorithm_neg: return call([](F32 x) { return -x; });
    case JitAlgorithm_sqrt: return call([](F32 x) { return sqrt(x); });
    case JitAlgorithm_reciprocal: return call([](F32 x) { return F32(1.f) / x; });
    case JitAlgorithm_log: return call([](F32 x) { return log(x); });
    case JitAlgorithm_square: return call([](F32 x) { return x * x; });
    case JitAlgorithm_rsqrt: return call([](F32 x) { return rsqrt(x); });
    case JitAlgorithm_erf: return call([](F32 x) { return erf(x); });
    case JitAlgorithm_sin: return call([](F32 x) { return sin(x); });
    case JitAlgorithm_cos: return call([](F32 x) { return cos(x); });
    case JitAlgorithm_bits_not: return call([](F32 x) { return on_bits(x, x, [](auto a, auto) { return a ^ Vec<int32_t>(-1); }); });
    case JitAlgorithm_round_bfloat16: return call([](F32 x) { return detail::widen(detail::narrow(x, bfloat16{}), bfloat16{}); });
    case JitAlgorithm_round_float16: return call([](F32 x) { return detail::widen(detail::narrow(x, float16{}), float16{}); });
    default: return false;
  }
}

template <class G>
PTLITE_INLINE void with_binary_algorithm(int32_t algorithm, G g) {
  switch (algorithm) {
    case JitAlgorithm_add: return g([](F32 x, F32 y) { return x + y; });
    case JitAlgorithm_sub: return g([](F32 x, F32 y) { return x - y; });
    case JitAlgorithm_mul: return g([](F32 x, F32 y) { return x * y; });
    case JitAlgorithm_div: return g([](F32 x, F32 y) { return x / y; });
    case JitAlgorithm_max: return g([](F32 x, F32 y) { return maximum(x, y); });
    case JitAlgorithm_min: return g([](F32 x, F32 y) { return minimum(x, y); });
    case JitAlgorithm_less: return g([](F32 x, F32 y) { return bits_of(x < y); });
    case JitAlgorithm_less_equal: return g([](F32 x, F32 y) { return bits_of(x <= y); });
    case JitAlgorithm_equal: return g([](F32 x, F32 y) { return bits_of(x == y); });
    case JitAlgorithm_not_equal: return g([](F32 x, F32 y) { return bits_of(x != y); });
    case JitAlgorithm_bits_and: return g([](F32 x, F32 y) { return on_bits(x, y, [](auto a, auto b) { return a & b; }); });
    case JitAlgorithm_bits_or: return g([](F32 x, F32 y) { return on_bits(x, y, [](auto a, auto b) { return a | b; }); });
    default: return g([](F32 x, F32 y) { return on_bits(x, y, [](auto a, auto b) { return a & (b ^ decltype(b)(-1)); }); });
  }
}

// One vector; x for algorithms that are not from floats to floats. In step_program.cpp, which has the functions anyway.
F32 post_op(int32_t algorithm, F32 x, PostOpNumbers p);
F32 binary_post_op(int32_t algorithm, F32 x, F32 y);

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
