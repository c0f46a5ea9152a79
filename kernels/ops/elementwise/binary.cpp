#include "frames/elementwise.h"
#include "ops/elementwise/binary_scalar.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/special.h"
#include "vec/arctangent.h"
#include "vec/modulo.h"

namespace {

using namespace ptlite;

#define PTLITE_OP(Name, expression)                                           \
  struct Name {                                                               \
    template <class V>                                                        \
    PTLITE_INLINE V operator()(V a, V b, const typename V::Scalar* p) const { \
      using T = typename V::Scalar;                                           \
      (void)sizeof(T);                                                        \
      (void)p;                                                                \
      return expression;                                                      \
    }                                                                         \
  };
#define PTLITE_LANE_OP(Name, expression)                \
  struct Name {                                         \
    template <class T>                                  \
    PTLITE_INLINE T operator()(T a, T b, const T*) const { \
      return expression;                                \
    }                                                   \
  };

template <class V>
PTLITE_INLINE typename V::Mask is_set(V a) {
  return a != V::zero();
}

PTLITE_OP(Add, a + b)
PTLITE_OP(Sub, a - b)
PTLITE_OP(AddScaled, a + V(p[0]) * b)
PTLITE_OP(SubScaled, a - V(p[0]) * b)
PTLITE_OP(Mul, a* b)
PTLITE_OP(Div, a / b)
PTLITE_OP(DivTrunc, trunc(a / b))
PTLITE_OP(DivFloor, div_floor(a, b))
PTLITE_OP(Remainder, remainder(a, b))
PTLITE_OP(Fmod, modulo(a, b))
PTLITE_OP(Pow, pow(a, b))
PTLITE_OP(Atan2, arctangent2(a, b))
PTLITE_OP(Copysign, copysign(a, b))
PTLITE_OP(Minimum, minimum(a, b))
PTLITE_OP(Maximum, maximum(a, b))
PTLITE_OP(Eq, truth<T>(a == b))
PTLITE_OP(Ne, truth<T>(a != b))
PTLITE_OP(Lt, truth<T>(a < b))
PTLITE_OP(Le, truth<T>(a <= b))
PTLITE_OP(Gt, truth<T>(a > b))
PTLITE_OP(Ge, truth<T>(a >= b))
PTLITE_OP(LogicalAnd, truth<T>(is_set(a) & is_set(b)))
PTLITE_OP(LogicalOr, truth<T>(is_set(a) | is_set(b)))
PTLITE_OP(LogicalXor, truth<T>(is_set(a) ^ is_set(b)))
PTLITE_OP(BitwiseAnd, a& b)
PTLITE_OP(BitwiseOr, a | b)
PTLITE_OP(BitwiseXor, a ^ b)
PTLITE_OP(Prelu, select(a > V::zero(), a, a* b))
PTLITE_OP(Heaviside, select(a == V::zero(), b, truth<T>(a > V::zero())))

PTLITE_LANE_OP(DivFloorInt, lanes::div_floor(a, b))
PTLITE_LANE_OP(DivTruncInt, lanes::div_trunc(a, b))
PTLITE_LANE_OP(RemainderInt, lanes::remainder(a, b))
PTLITE_LANE_OP(FmodInt, lanes::modulo(a, b))
PTLITE_LANE_OP(PowInt, lanes::power(a, b))
PTLITE_LANE_OP(Hypot, static_cast<T>(std::hypot(a, b)))
PTLITE_LANE_OP(Fmin, lanes::fmin_ignoring_nan(a, b))
PTLITE_LANE_OP(Fmax, lanes::fmax_ignoring_nan(a, b))
// p[0] is the width of the type's shifts less one
struct ShiftLeft {
  int64_t operator()(int64_t a, int64_t b, const int64_t* p) const { return static_cast<int64_t>(static_cast<uint64_t>(a) << (b & p[0])); }
};
struct ShiftRight {
  int64_t operator()(int64_t a, int64_t b, const int64_t* p) const { return a >> (b & p[0]); }
};
PTLITE_LANE_OP(Xlogy, lanes::xlogy(a, b))
PTLITE_LANE_OP(Xlog1py, lanes::xlog1py(a, b))
PTLITE_LANE_OP(Logaddexp, lanes::logaddexp(a, b))
PTLITE_LANE_OP(Logaddexp2, lanes::logaddexp2(a, b))
PTLITE_LANE_OP(NextafterBf16, static_cast<T>(lanes::nextafter_bf16(static_cast<float>(a), static_cast<float>(b))))
PTLITE_LANE_OP(NextafterF16, static_cast<T>(lanes::nextafter_f16(static_cast<float>(a), static_cast<float>(b))))
PTLITE_LANE_OP(Gcd, lanes::gcd(a, b))
PTLITE_LANE_OP(Lcm, lanes::lcm(a, b))
PTLITE_LANE_OP(Zeta, static_cast<T>(special::zeta(a, b)))

struct Nextafter {
  float operator()(float a, float b, const float*) const { return ::nextafterf(a, b); }
  double operator()(double a, double b, const double*) const { return ::nextafter(a, b); }
};

// Integer division and remainders: a zero divisor is an error.
template <class F>
int32_t run_division(int64_t* out, const int64_t* const* in, int64_t n, const int64_t* p) {
  for (int64_t i = 0; i < n; i++) {
    if (in[1][i] == 0) return PTLITE_ZERO_DIVISION;
  }
  return run_binary_lanes<int64_t, F>(out, in, n, p);
}

#define PTLITE_CASE(name, Name) PTLITE_HELD_CASE(BinaryOp_##name, nullptr) return run_binary<C, Name>;
#define PTLITE_LANE_CASE(name, Name) PTLITE_HELD_CASE(BinaryOp_##name, nullptr) return run_binary_lanes<C, Name>;

template <class C>
Run<C> choose_real(int32_t op) {
  switch (op) {
    PTLITE_CASE(div, Div)
    PTLITE_CASE(div_trunc, DivTrunc)
    PTLITE_CASE(pow, Pow)
    PTLITE_CASE(copysign, Copysign)
    PTLITE_CASE(prelu, Prelu)
    PTLITE_CASE(div_floor, DivFloor)
    PTLITE_CASE(remainder, Remainder)
    PTLITE_CASE(fmod, Fmod)
    PTLITE_CASE(atan2, Atan2)
    PTLITE_LANE_CASE(hypot, Hypot)
    PTLITE_LANE_CASE(xlogy, Xlogy)
    PTLITE_LANE_CASE(xlog1py, Xlog1py)
    PTLITE_LANE_CASE(logaddexp, Logaddexp)
    PTLITE_LANE_CASE(logaddexp2, Logaddexp2)
    PTLITE_LANE_CASE(nextafter, Nextafter)
    PTLITE_LANE_CASE(nextafter_bf16, NextafterBf16)
    PTLITE_LANE_CASE(nextafter_f16, NextafterF16)
    PTLITE_LANE_CASE(zeta, Zeta)
    default:
      return nullptr;
  }
}

Run<int64_t> choose_integer(int32_t op) {
  using C = int64_t;
  switch (op) {
    PTLITE_CASE(bitwise_and, BitwiseAnd)
    PTLITE_CASE(bitwise_or, BitwiseOr)
    PTLITE_CASE(bitwise_xor, BitwiseXor)
    PTLITE_LANE_CASE(pow, PowInt)
    PTLITE_LANE_CASE(shift_left, ShiftLeft)
    PTLITE_LANE_CASE(shift_right, ShiftRight)
    PTLITE_LANE_CASE(gcd, Gcd)
    PTLITE_LANE_CASE(lcm, Lcm)
    PTLITE_HELD_CASE(BinaryOp_div_floor, nullptr) return run_division<DivFloorInt>;
    PTLITE_HELD_CASE(BinaryOp_div_trunc, nullptr) return run_division<DivTruncInt>;
    PTLITE_HELD_CASE(BinaryOp_remainder, nullptr) return run_division<RemainderInt>;
    PTLITE_HELD_CASE(BinaryOp_fmod, nullptr) return run_division<FmodInt>;
    default:
      return nullptr;
  }
}

template <class C>
Run<C> choose(int32_t op, bool scaled) {
  switch (op) {
    PTLITE_HELD_CASE(BinaryOp_add, nullptr) return scaled ? run_binary<C, AddScaled> : run_binary<C, Add>;
    PTLITE_HELD_CASE(BinaryOp_sub, nullptr) return scaled ? run_binary<C, SubScaled> : run_binary<C, Sub>;
      PTLITE_CASE(mul, Mul)
      PTLITE_CASE(minimum, Minimum)
      PTLITE_CASE(maximum, Maximum)
      PTLITE_CASE(eq, Eq)
      PTLITE_CASE(ne, Ne)
      PTLITE_CASE(lt, Lt)
      PTLITE_CASE(le, Le)
      PTLITE_CASE(gt, Gt)
      PTLITE_CASE(ge, Ge)
      PTLITE_CASE(logical_and, LogicalAnd)
      PTLITE_CASE(logical_or, LogicalOr)
      PTLITE_CASE(logical_xor, LogicalXor)
      PTLITE_CASE(heaviside, Heaviside)
      PTLITE_LANE_CASE(fmin, Fmin)
      PTLITE_LANE_CASE(fmax, Fmax)
  }
  if constexpr (is_real<C>) {
    return choose_real<C>(op);
  } else {
    return choose_integer(op);
  }
}

int32_t binary(binary_frame* f) {
  return with_compute(f->compute, [&](auto tag) {
    using C = decltype(tag);
    const C p[] = {parameter<C>(f->alpha)};
    const C scalar = scalar_operand<C>(f->scalar, f->low, f->high);
    const Walk<C, 2> w = {f->ndim,
                          f->n,
                          f->sizes,
                          {f->out, f->a, f->b},
                          {f->out_dtype, f->a_dtype, f->b_dtype},
                          {f->out_strides, f->a_strides, f->b_strides},
                          {scalar, scalar}};
    return walk(w, choose<C>(f->op, f->alpha != 1.0), p);
  });
}

}  // namespace

PTLITE_KERNEL(binary, binary)
