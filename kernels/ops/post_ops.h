// The element-wise algorithms of generated kernels, compiled: what runs where no code can be generated.
#pragma once

#include "frames/jit.h"
#include "vec/math.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

struct PostOpNumbers {
  float alpha, beta, scale;
};

PTLITE_INLINE F32 gate6(F32 x) { return fast_min(fast_max(x + F32(3.f), F32::zero()), F32(6.f)); }

// f(x) for the algorithms from floats to floats; x for others.
inline F32 post_op(int32_t algorithm, F32 x, PostOpNumbers p) {
  const auto where_positive = [&](F32 other) { return select(x > F32::zero(), x, other); };
  switch (algorithm) {
    case JitAlgorithm_exp: return exp(x);
    case JitAlgorithm_tanh: return tanh(x);
    case JitAlgorithm_gelu_tanh:
      return x * F32(0.5f) * (F32(1.f) + tanh(x * F32(0.79788456f) * fma(x * x, F32(0.044715f), F32(1.f))));
    case JitAlgorithm_gelu_erf: return x * F32(0.5f) * (F32(1.f) + erf(x * F32(0.70710678f)));
    case JitAlgorithm_relu: return where_positive(x * F32(p.alpha));
    case JitAlgorithm_linear: return fma(x, F32(p.alpha), F32(p.beta));
    case JitAlgorithm_sigmoid: return sigmoid(x);
    case JitAlgorithm_silu: return x * sigmoid(x);
    case JitAlgorithm_hardswish: return x * gate6(x) / F32(6.f);
    case JitAlgorithm_hardsigmoid: return gate6(x) / F32(6.f);
    case JitAlgorithm_clamp: return minimum(maximum(x, F32(p.alpha)), F32(p.beta));
    case JitAlgorithm_elu: return where_positive(expm1(x) * F32(p.alpha));
    case JitAlgorithm_softplus: return select(x * F32(p.alpha) > F32(p.beta), x, log1p(exp(x * F32(p.alpha))) / F32(p.alpha));
    case JitAlgorithm_mish: return x * tanh(log1p(exp(x)));
    case JitAlgorithm_abs: return abs(x);
    case JitAlgorithm_neg: return -x;
    case JitAlgorithm_sqrt: return sqrt(x);
    case JitAlgorithm_reciprocal: return F32(1.f) / x;
    case JitAlgorithm_log: return log(x);
    case JitAlgorithm_square: return x * x;
    default: return x;
  }
}

inline bool is_binary_post_op(int32_t algorithm) { return algorithm >= JitAlgorithm_add && algorithm <= JitAlgorithm_min; }

inline F32 binary_post_op(int32_t algorithm, F32 x, F32 y) {
  switch (algorithm) {
    case JitAlgorithm_add: return x + y;
    case JitAlgorithm_sub: return x - y;
    case JitAlgorithm_mul: return x * y;
    case JitAlgorithm_div: return x / y;
    case JitAlgorithm_max: return maximum(x, y);
    default: return minimum(x, y);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
