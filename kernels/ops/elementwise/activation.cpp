#include "frames/elementwise.h"
#include "ops/elementwise/activation_functions.h"
#include "ops/elementwise/elementwise.h"

namespace {

using namespace ptlite;

#define PTLITE_OP(Name, expression)                                      \
  struct Name {                                                          \
    template <class V>                                                   \
    PTLITE_INLINE V operator()(V a, const typename V::Scalar* p) const { \
      using T = typename V::Scalar;                                      \
      (void)sizeof(T);                                                   \
      (void)p;                                                           \
      return expression;                                                 \
    }                                                                    \
  };

template <class V>
PTLITE_INLINE V elu_of(V a, const typename V::Scalar* p) {
  if constexpr (std::is_same_v<V, F32>) {
    if (p[1] == 1 && p[2] == 1) return elu(a, p[0]);
  }
  return select(a <= V::zero(), expm1(a * V(p[2])) * V(p[0]), a * V(p[1]));
}

PTLITE_OP(Relu, at_least(a, V::zero()))
PTLITE_OP(Clamp, at_most(at_least(a, V(p[0])), V(p[1])))
PTLITE_OP(ClampMin, at_least(a, V(p[0])))
PTLITE_OP(ClampMax, at_most(a, V(p[0])))
PTLITE_OP(Gelu, gelu(a))
PTLITE_OP(GeluTanh, gelu_tanh(a))
PTLITE_OP(Silu, silu(a))
PTLITE_OP(Mish, mish(a))
PTLITE_OP(HardSwish, hardswish(a))
PTLITE_OP(HardSigmoid, hardsigmoid(a))
PTLITE_OP(Softplus, select(a* V(p[0]) > V(p[1]), a, log1p(exp(a * V(p[0]))) / V(p[0])))
PTLITE_OP(Elu, elu_of(a, p))
PTLITE_OP(LeakyRelu, select(a > V::zero(), a, a* V(p[0])))
PTLITE_OP(Softshrink, select(a > V(p[0]), a - V(p[0]), select(a < V(-p[0]), a + V(p[0]), V::zero())))
PTLITE_OP(Hardshrink, select((a >= V(-p[0])) & (a <= V(p[0])), V::zero(), a))
PTLITE_OP(LogSigmoid, at_most(a, V::zero()) - log1p(exp(-abs(a))))
PTLITE_OP(Threshold, select(a <= V(p[0]), V(p[1]), a))

#define PTLITE_CASE(name, Name) PTLITE_HELD_CASE(ActivationOp_##name, nullptr) return run_unary<C, Name>;

template <class C>
Run<C> choose(int32_t op) {
  switch (op) {
    PTLITE_CASE(relu, Relu)
    PTLITE_CASE(clamp, Clamp)
    PTLITE_CASE(clamp_min, ClampMin)
    PTLITE_CASE(clamp_max, ClampMax)
    PTLITE_CASE(threshold, Threshold)
  }
  if constexpr (is_real<C>) {
    switch (op) {
      PTLITE_CASE(gelu, Gelu)
      PTLITE_CASE(gelu_tanh, GeluTanh)
      PTLITE_CASE(silu, Silu)
      PTLITE_CASE(mish, Mish)
      PTLITE_CASE(hardswish, HardSwish)
      PTLITE_CASE(hardsigmoid, HardSigmoid)
      PTLITE_CASE(softplus, Softplus)
      PTLITE_CASE(elu, Elu)
      PTLITE_CASE(leaky_relu, LeakyRelu)
      PTLITE_CASE(softshrink, Softshrink)
      PTLITE_CASE(hardshrink, Hardshrink)
      PTLITE_CASE(log_sigmoid, LogSigmoid)
    }
  }
  return nullptr;
}

int32_t activation(activation_frame* f) {
  return with_compute(f->compute, [&](auto tag) {
    using C = decltype(tag);
    const C p[] = {parameter<C>(f->p0), parameter<C>(f->p1), parameter<C>(f->p2)};
    const Walk<C, 1> w = {f->ndim, f->n, f->sizes, {f->out, f->in}, {f->out_dtype, f->in_dtype}, {f->out_strides, f->in_strides}, {}};
    return walk(w, choose<C>(f->op), p);
  });
}

}  // namespace

PTLITE_KERNEL(activation, activation)
