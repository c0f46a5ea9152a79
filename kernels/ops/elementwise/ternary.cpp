#include "frames/elementwise.h"
#include "ops/elementwise/elementwise.h"

namespace {

using namespace ptlite;

#define PTLITE_OP(Name, expression)                                                \
  struct Name {                                                                    \
    template <class V>                                                             \
    PTLITE_INLINE V operator()(V a, V b, V c, const typename V::Scalar* p) const { \
      using T = typename V::Scalar;                                                \
      (void)sizeof(T);                                                             \
      (void)p;                                                                     \
      return expression;                                                           \
    }                                                                              \
  };

// from the nearer end, so that weight 1 gives the end itself
template <class V>
PTLITE_INLINE V lerp(V a, V b, V weight) {
  using T = typename V::Scalar;
  const V half(static_cast<T>(0.5));
  return select(weight < half, a + weight * (b - a), b - (b - a) * (V(T(1)) - weight));
}

PTLITE_OP(Where, select(a != V::zero(), b, c))
PTLITE_OP(Lerp, lerp(a, b, c))
PTLITE_OP(Addcmul, a + V(p[0]) * b * c)
PTLITE_OP(Addcdiv, a + V(p[0]) * b / c)
PTLITE_OP(Clamp, minimum(maximum(a, b), c))

#define PTLITE_CASE(name, Name) PTLITE_HELD_CASE(TernaryOp_##name, nullptr) return run_ternary<C, Name>;

template <class C>
Run<C> choose(int32_t op) {
  switch (op) {
    PTLITE_CASE(where, Where)
    PTLITE_CASE(addcmul, Addcmul)
    PTLITE_CASE(clamp, Clamp)
  }
  if constexpr (is_real<C>) {
    switch (op) {
      PTLITE_CASE(lerp, Lerp)
      PTLITE_CASE(addcdiv, Addcdiv)
    }
  }
  return nullptr;
}

int32_t ternary(ternary_frame* f) {
  return with_compute(f->compute, [&](auto tag) {
    using C = decltype(tag);
    const C p[] = {parameter<C>(f->value)};
    const Walk<C, 3> w = {
        f->ndim,
        f->n,
        f->sizes,
        {f->out, f->a, f->b, f->c},
        {f->out_dtype, f->a_dtype, f->b_dtype, f->c_dtype},
        {f->out_strides, f->a_strides, f->b_strides, f->c_strides},
        {C(0), scalar_operand<C>(f->b_scalar, f->b_low, f->b_high), scalar_operand<C>(f->c_scalar, f->c_low, f->c_high)}};
    return walk(w, choose<C>(f->op), p);
  });
}

}  // namespace

PTLITE_KERNEL(ternary, ternary)
