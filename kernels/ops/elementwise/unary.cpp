#include <cmath>

#include "frames/elementwise.h"
#include "ops/elementwise/activation_functions.h"
#include "ops/elementwise/elementwise.h"
#include "vec/arctangent.h"

namespace {

using namespace ptlite;

#define PTLITE_OP(Name, expression)                                  \
  struct Name {                                                      \
    template <class V>                                               \
    PTLITE_INLINE V operator()(V a, const typename V::Scalar*) const { \
      using T = typename V::Scalar;                                  \
      (void)sizeof(T);                                               \
      return expression;                                             \
    }                                                                \
  };
#define PTLITE_OP_WITH_NUMBERS(Name, expression)                     \
  struct Name {                                                      \
    template <class V>                                               \
    PTLITE_INLINE V operator()(V a, const typename V::Scalar* p) const { \
      using T = typename V::Scalar;                                  \
      (void)sizeof(T);                                               \
      return expression;                                             \
    }                                                                \
  };

template <class V>
PTLITE_INLINE V sign_of(V a) {
  using T = typename V::Scalar;
  return select(a > V::zero(), V(T(1)), select(a < V::zero(), V(T(-1)), V::zero()));
}

template <class V>
PTLITE_INLINE V with_sign_bit(V a) {
  using T = typename V::Scalar;
  if constexpr (is_real<T>) {
    using I = typename V::Mask;
    return truth<T>(I((typename I::Raw)a.v) < I::zero());
  } else {
    return truth<T>(a < V::zero());
  }
}

// to `p[0]` units: p[0] is 10^decimals, or 10^-decimals with p[1] set where decimals are negative
template <class V>
PTLITE_INLINE V round_decimals(V a, const typename V::Scalar* p) {
  const V factor(p[0]);
  return p[1] == 0 ? rint(a * factor) / factor : rint(a / factor) * factor;
}

// eps in p[0], none where it is negative
template <class V>
PTLITE_INLINE V logit(V a, const typename V::Scalar* p) {
  using T = typename V::Scalar;
  const V one(T(1));
  if (p[0] >= 0) {
    const V low(p[0]), high(T(1) - p[0]);
    a = select(a < low, low, select(a > high, high, a));
  }
  return log(a / (one - a));
}

template <class V>
PTLITE_INLINE V infinity() {
  return V(static_cast<typename V::Scalar>(__builtin_inf()));
}

template <class V>
PTLITE_INLINE V nan_to_num(V a, const typename V::Scalar* p) {
  const V fixed = select(is_nan(a), V(p[0]), a);
  return select(fixed == infinity<V>(), V(p[1]), select(fixed == -infinity<V>(), V(p[2]), fixed));
}

template <class V>
PTLITE_INLINE V sinc(V a) {
  using T = typename V::Scalar;
  const V x = a * V(static_cast<T>(M_PI));
  return select(a == V::zero(), V(T(1)), sin(x) / x);
}

template <class V>
PTLITE_INLINE V angle(V a) {
  using T = typename V::Scalar;
  return select(is_nan(a), a, select(a < V::zero(), V(static_cast<T>(M_PI)), V::zero()));
}

struct FrexpMantissa {
  template <class T>
  T operator()(T a, const T*) const {
    int exponent;
    return std::frexp(a, &exponent);
  }
};
struct FrexpExponent {
  template <class T>
  T operator()(T a, const T*) const {
    int exponent = 0;
    std::frexp(a, &exponent);
    return std::isfinite(a) ? static_cast<T>(exponent) : T(0);
  }
};

PTLITE_OP(Neg, -a)
PTLITE_OP(Abs, abs(a))
PTLITE_OP(Sign, sign_of(a))
PTLITE_OP(Square, a* a)
PTLITE_OP(Exp, exp(a))
PTLITE_OP(Exp2, exp2(a))
PTLITE_OP(Expm1, expm1(a))
PTLITE_OP(Log, log(a))
PTLITE_OP(Log2, log2(a))
PTLITE_OP(Log10, log10(a))
PTLITE_OP(Log1p, log1p(a))
PTLITE_OP(Sqrt, sqrt(a))
PTLITE_OP(Rsqrt, V(T(1)) / sqrt(a))
PTLITE_OP(Reciprocal, V(T(1)) / a)
PTLITE_OP(Sin, sin(a))
PTLITE_OP(Cos, cos(a))
PTLITE_OP(Tan, tangent(a))
PTLITE_OP(Asin, arcsine(a))
PTLITE_OP(Acos, arccosine(a))
PTLITE_OP(Atan, arctangent(a))
PTLITE_OP(Sinh, sinh(a))
PTLITE_OP(Cosh, cosh(a))
PTLITE_OP(Tanh, tanh(a))
PTLITE_OP(Asinh, asinh(a))
PTLITE_OP(Acosh, acosh(a))
PTLITE_OP(Atanh, atanh(a))
PTLITE_OP(Erf, erf(a))
PTLITE_OP(Erfc, erfc(a))
PTLITE_OP(Floor, floor(a))
PTLITE_OP(Ceil, ceil(a))
PTLITE_OP(Trunc, trunc(a))
PTLITE_OP(Round, rint(a))
PTLITE_OP(Frac, a - trunc(a))
PTLITE_OP(Sigmoid, logistic(a))
PTLITE_OP(IsNan, truth<T>(is_nan(a)))
PTLITE_OP(IsInf, truth<T>(abs(a) == infinity<V>()))
PTLITE_OP(IsPosInf, truth<T>(a == infinity<V>()))
PTLITE_OP(IsNegInf, truth<T>(a == -infinity<V>()))
PTLITE_OP(IsFinite, truth<T>(abs(a) < infinity<V>()))
PTLITE_OP(SignBit, with_sign_bit(a))
PTLITE_OP(LogicalNot, truth<T>(a == V::zero()))
PTLITE_OP(BitwiseNot, ~a)
PTLITE_OP(Sinc, sinc(a))
PTLITE_OP(Identity, a)
PTLITE_OP(Angle, angle(a))
PTLITE_OP_WITH_NUMBERS(Scale, a* V(p[0]))
PTLITE_OP_WITH_NUMBERS(RoundDecimals, round_decimals(a, p))
PTLITE_OP_WITH_NUMBERS(Logit, logit(a, p))
PTLITE_OP_WITH_NUMBERS(NanToNum, nan_to_num(a, p))

#define PTLITE_CASE(name, Name) PTLITE_HELD_CASE(UnaryOp_##name, nullptr) return run_unary<C, Name>;

template <class C>
Run<C> choose(int32_t op) {
  switch (op) {
    PTLITE_CASE(neg, Neg)
    PTLITE_CASE(abs, Abs)
    PTLITE_CASE(sign, Sign)
    PTLITE_CASE(square, Square)
    PTLITE_CASE(signbit, SignBit)
    PTLITE_CASE(logical_not, LogicalNot)
    PTLITE_CASE(identity, Identity)
    PTLITE_CASE(scale, Scale)
  }
  if constexpr (!is_real<C>) {
    switch (op) {
      PTLITE_CASE(bitwise_not, BitwiseNot)
      default:
        return nullptr;
    }
  } else {
    switch (op) {
      PTLITE_CASE(exp, Exp)
      PTLITE_CASE(exp2, Exp2)
      PTLITE_CASE(expm1, Expm1)
      PTLITE_CASE(log, Log)
      PTLITE_CASE(log2, Log2)
      PTLITE_CASE(log10, Log10)
      PTLITE_CASE(log1p, Log1p)
      PTLITE_CASE(sqrt, Sqrt)
      PTLITE_CASE(rsqrt, Rsqrt)
      PTLITE_CASE(reciprocal, Reciprocal)
      PTLITE_CASE(sin, Sin)
      PTLITE_CASE(cos, Cos)
      PTLITE_CASE(tan, Tan)
      PTLITE_CASE(asin, Asin)
      PTLITE_CASE(acos, Acos)
      PTLITE_CASE(atan, Atan)
      PTLITE_CASE(sinh, Sinh)
      PTLITE_CASE(cosh, Cosh)
      PTLITE_CASE(tanh, Tanh)
      PTLITE_CASE(asinh, Asinh)
      PTLITE_CASE(acosh, Acosh)
      PTLITE_CASE(atanh, Atanh)
      PTLITE_CASE(erf, Erf)
      PTLITE_CASE(erfc, Erfc)
      PTLITE_CASE(floor, Floor)
      PTLITE_CASE(ceil, Ceil)
      PTLITE_CASE(trunc, Trunc)
      PTLITE_CASE(round, Round)
      PTLITE_CASE(round_decimals, RoundDecimals)
      PTLITE_CASE(frac, Frac)
      PTLITE_CASE(sigmoid, Sigmoid)
      PTLITE_CASE(logit, Logit)
      PTLITE_CASE(isnan, IsNan)
      PTLITE_CASE(isinf, IsInf)
      PTLITE_CASE(isposinf, IsPosInf)
      PTLITE_CASE(isneginf, IsNegInf)
      PTLITE_CASE(isfinite, IsFinite)
      PTLITE_CASE(nan_to_num, NanToNum)
      PTLITE_CASE(sinc, Sinc)
      PTLITE_CASE(angle, Angle)
      PTLITE_HELD_CASE(UnaryOp_frexp_mantissa, nullptr) return run_unary_lanes<C, FrexpMantissa>;
      PTLITE_HELD_CASE(UnaryOp_frexp_exponent, nullptr) return run_unary_lanes<C, FrexpExponent>;
      default:
        return nullptr;
    }
  }
}

int32_t unary(unary_frame* f) {
  return with_compute(f->compute, [&](auto tag) {
    using C = decltype(tag);
    const C p[] = {parameter<C>(f->p0), parameter<C>(f->p1), parameter<C>(f->p2)};
    const Walk<C, 1> w = {f->ndim, f->n, f->sizes, {f->out, f->in}, {f->out_dtype, f->in_dtype}, {f->out_strides, f->in_strides}, {}};
    return walk(w, choose<C>(f->op), p);
  });
}

}  // namespace

PTLITE_KERNEL(unary, unary)
