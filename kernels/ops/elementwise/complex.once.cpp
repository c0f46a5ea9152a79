// Functions of complex numbers, one at a time by the C++ library.
#include <cmath>
#include <complex>

#include "frames/complex.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"

namespace {

template <class T>
using Complex = std::complex<T>;

template <class T, class F>
void each(const complex_unary_frame* f, F op) {
  const auto* in = reinterpret_cast<const Complex<T>*>(f->in);
  auto* out = reinterpret_cast<Complex<T>*>(f->out);
  const int64_t n = f->n;
  for (int64_t i = 0; i < n; i++) out[i] = op(in[i]);
}

/** exp(z) - 1 without cancellation where z is small: cos y - 1 is -2 sin(y / 2)^2. */
template <class T>
Complex<T> expm1(Complex<T> z) {
  const T half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, std::exp(z.real()) * std::sin(z.imag())};
}

/** log(1 + z) without cancellation where z is small: |1 + z|^2 - 1 is x (2 + x) + y^2. */
template <class T>
Complex<T> log1p(Complex<T> z) {
  const T x = z.real();
  const T y = z.imag();
  const T angle = std::atan2(y, 1 + x);
  if (std::abs(x) < T(0.5) && std::abs(y) < T(0.5)) return {std::log1p(x * (2 + x) + y * y) / 2, angle};
  return {std::log(std::hypot(1 + x, y)), angle};
}

/** sin(pi z) / (pi z), 1 where z is 0. */
template <class T>
Complex<T> sinc(Complex<T> z) {
  if (z == Complex<T>(0)) return 1;
  const Complex<T> turned = z * static_cast<T>(3.141592653589793238462643383279502884);
  return std::sin(turned) / turned;
}

template <class T>
int32_t run(const complex_unary_frame* f) {
  using C = Complex<T>;
  const T one = 1;
  const T ln2 = static_cast<T>(0.693147180559945309417232121458176568);
  switch (f->op) {
    case ComplexOp_acos: each<T>(f, [](C z) { return std::acos(z); }); break;
    case ComplexOp_acosh: each<T>(f, [](C z) { return std::acosh(z); }); break;
    case ComplexOp_asin: each<T>(f, [](C z) { return std::asin(z); }); break;
    case ComplexOp_asinh: each<T>(f, [](C z) { return std::asinh(z); }); break;
    case ComplexOp_atan: each<T>(f, [](C z) { return std::atan(z); }); break;
    case ComplexOp_atanh: each<T>(f, [](C z) { return std::atanh(z); }); break;
    case ComplexOp_cos: each<T>(f, [](C z) { return std::cos(z); }); break;
    case ComplexOp_cosh: each<T>(f, [](C z) { return std::cosh(z); }); break;
    case ComplexOp_sin: each<T>(f, [](C z) { return std::sin(z); }); break;
    case ComplexOp_sinh: each<T>(f, [](C z) { return std::sinh(z); }); break;
    case ComplexOp_tan: each<T>(f, [](C z) { return std::tan(z); }); break;
    case ComplexOp_tanh: each<T>(f, [](C z) { return std::tanh(z); }); break;
    case ComplexOp_exp: each<T>(f, [](C z) { return std::exp(z); }); break;
    case ComplexOp_exp2: each<T>(f, [=](C z) { return std::exp(z * ln2); }); break;
    case ComplexOp_expm1: each<T>(f, [](C z) { return expm1(z); }); break;
    case ComplexOp_log: each<T>(f, [](C z) { return std::log(z); }); break;
    case ComplexOp_log2: each<T>(f, [=](C z) { return std::log(z) / ln2; }); break;
    case ComplexOp_log10: each<T>(f, [](C z) { return std::log10(z); }); break;
    case ComplexOp_log1p: each<T>(f, [](C z) { return log1p(z); }); break;
    case ComplexOp_sqrt: each<T>(f, [](C z) { return std::sqrt(z); }); break;
    case ComplexOp_rsqrt: each<T>(f, [=](C z) { return one / std::sqrt(z); }); break;
    case ComplexOp_reciprocal: each<T>(f, [=](C z) { return one / z; }); break;
    case ComplexOp_sigmoid: each<T>(f, [=](C z) { return one / (one + std::exp(-z)); }); break;
    case ComplexOp_cube: each<T>(f, [](C z) { return z * z * z; }); break;
    case ComplexOp_silu: each<T>(f, [=](C z) { return z / (one + std::exp(-z)); }); break;
    case ComplexOp_sinc: each<T>(f, [](C z) { return sinc(z); }); break;
    default: each<T>(f, [](C z) { return z * z; }); break;
  }
  return PTLITE_OK;
}

template <class T>
bool is_nan(Complex<T> z) {
  return std::isnan(z.real()) || std::isnan(z.imag());
}

/** log(exp(a) + exp(b)); the operand with the larger real part is taken out of the sum. */
template <class T>
Complex<T> log_add_exp(Complex<T> a, Complex<T> b) {
  if (is_nan(a) || is_nan(b)) return {T(NAN), T(NAN)};
  const bool in_order = a.real() < b.real();
  const Complex<T> low = in_order ? a : b, high = in_order ? b : a;
  if (std::isinf(high.real()) && low.real() == high.real()) return high.real() < 0 ? low : std::log(std::exp(low) + std::exp(high));
  return log1p(std::exp(low - high)) + high;
}

template <class T>
int32_t run_binary(const complex_binary_frame* f) {
  const auto* a = reinterpret_cast<const Complex<T>*>(f->a);
  const auto* b = reinterpret_cast<const Complex<T>*>(f->b);
  auto* out = reinterpret_cast<Complex<T>*>(f->out);
  const int64_t n = f->n;
  if (f->op == ComplexBinaryOp_pow) {
    for (int64_t i = 0; i < n; i++) out[i] = std::pow(a[i], b[i]);
  } else {
    for (int64_t i = 0; i < n; i++) out[i] = log_add_exp(a[i], b[i]);
  }
  return PTLITE_OK;
}

template <class T, class F>
void fold(const complex_fold_frame* f, bool running, Complex<double> start, F op) {
  const auto* in = reinterpret_cast<const Complex<T>*>(f->in);
  auto* out = reinterpret_cast<Complex<T>*>(f->out);
  ptlite::Pace pace;
  for (int64_t r = 0; r < f->rows; r++) {
    Complex<double> sum = start;
    for (int64_t i = 0; i < f->count; i++) {
      pace.after(8);
      const Complex<double> x(*in++);
      // the first one as it is: products with 1 lose the signs of zeros and infinities
      sum = i == 0 ? x : op(sum, x);
      if (running) *out++ = Complex<T>(sum);
    }
    if (!running) *out++ = Complex<T>(sum);
  }
}

template <class T>
int32_t run_fold(const complex_fold_frame* f) {
  using C = Complex<double>;
  if (f->op == ComplexFold_logcumsumexp) fold<T>(f, true, C(0), [](C a, C b) { return log_add_exp(a, b); });
  else fold<T>(f, f->op == ComplexFold_cumprod, C(1), [](C a, C b) { return a * b; });
  return PTLITE_OK;
}

int32_t complex_unary(complex_unary_frame* f) { return f->wide ? run<double>(f) : run<float>(f); }
int32_t complex_binary(complex_binary_frame* f) { return f->wide ? run_binary<double>(f) : run_binary<float>(f); }
int32_t complex_fold(complex_fold_frame* f) { return f->wide ? run_fold<double>(f) : run_fold<float>(f); }

}  // namespace

PTLITE_KERNEL(complex_unary, complex_unary)
PTLITE_KERNEL(complex_binary, complex_binary)
PTLITE_KERNEL(complex_fold, complex_fold)
