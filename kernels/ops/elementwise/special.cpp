#include "frames/elementwise.h"
#include "ops/elementwise/special.h"

#include <cmath>

#include "ops/elementwise/elementwise.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace special {

// B(2k) / (2k)!
static constexpr double kBernoulli[] = {1.0 / 12,
                                        -1.0 / 720,
                                        1.0 / 30240,
                                        -1.0 / 1209600,
                                        1.0 / 47900160,
                                        -691.0 / 1307674368000,
                                        1.0 / 74724249600,
                                        -3617.0 / 10670622842880000,
                                        43867.0 / 5109094217170944000};

/// Above, the sum is taken term by term.
constexpr double kFewTerms = -64;

double zeta(double x, double q) {
  if (x == 1) return INFINITY;
  if (x < 1) return NAN;
  if (q <= 0) {
    if (q == std::floor(q)) return INFINITY;
    if (x != std::floor(x)) return NAN;
    // the terms below 0 are those of two other sums, which need not be walked through one by one
    if (q < kFewTerms) {
      const double fraction = q - std::floor(q), below = zeta(x, 1 - fraction) - zeta(x, 1 - q);
      return zeta(x, fraction) + (std::fmod(x, 2) == 0 ? below : -below);
    }
  }
  if (x != x || q != q || std::isinf(q)) return NAN;
  constexpr int terms = 12;
  double sum = 0;
  double at = q;
  for (int k = 0; k < terms || at <= 9; k++) {
    const double term = std::pow(at, -x);
    sum += term;
    at += 1;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) return sum;
  }
  sum += std::pow(at, 1 - x) / (x - 1) + 0.5 * std::pow(at, -x);
  double factor = x * std::pow(at, -x - 1);
  for (int k = 0; k < 9; k++) {
    const double term = kBernoulli[k] * factor;
    sum += term;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (at * at);
  }
  return sum;
}

double digamma(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (x < 0) {
    if (x == std::floor(x)) return NAN;
    double whole;
    const double fraction = std::modf(x, &whole);
    return digamma(1 - x) - M_PI / std::tan(M_PI * fraction);
  }
  double result = 0;
  for (; x < 12; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  // B(2k) / 2k
  constexpr double c[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  double series = 0;
  for (int k = 6; k >= 0; k--) series = (series + c[k]) * z;
  return result + std::log(x) - 0.5 / x - series;
}

double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  const double sign = n % 2 == 0 ? -1.0 : 1.0;
  return sign * std::exp(std::lgamma(static_cast<double>(n) + 1)) * zeta(static_cast<double>(n) + 1, x);
}

double erfinv(double y) {
  const double t = std::fabs(y);
  if (!(t <= 1)) return NAN;
  if (t == 1) return std::copysign(INFINITY, y);
  if (t == 0) return y;
  const double rest = 1 - t;
  // Winitzki's closed form is within 1 %; Halley's step then triples the digits
  const double l = std::log(rest * (1 + t));
  const double a = 2 / (M_PI * 0.147) + l / 2;
  double x = std::sqrt(std::sqrt(a * a - l / 0.147) - a);
  for (int i = 0; i < 3; i++) {
    const double error = t < 0.5 ? std::erf(x) - t : rest - std::erfc(x);
    const double slope = M_2_SQRTPI * std::exp(-x * x);
    if (slope == 0) break;
    const double step = error / slope;
    x -= step / (1 + x * step);
  }
  return std::copysign(x, y);
}

double erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double z = 1 / (2 * x * x);
  return (1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z)))) / (x * std::sqrt(M_PI));
}

double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x * M_SQRT1_2) / 2) - x * x / 2;
  return std::log1p(-std::erfc(x * M_SQRT1_2) / 2);
}

double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0) return -INFINITY;
  if (p == 1) return INFINITY;
  if (p > 0.25 && p < 0.75) return M_SQRT2 * erfinv(2 * p - 1);
  if (p >= 0.75) return -ndtri(1 - p);
  // lower tail: Newton on std::log(ndtr), which is nearly a parabola there
  double x = -std::sqrt(-2 * std::log(p));
  const double target = std::log(p);
  for (int i = 0; i < 60; i++) {
    const double value = log_ndtr(x);
    const double slope = std::exp(-x * x / 2 - value) * (M_2_SQRTPI * M_SQRT1_2 / 2);
    const double step = (value - target) / slope;
    x -= step;
    if (std::fabs(step) < 1e-15 * std::fabs(x)) break;
  }
  return x;
}

double bessel_i_scaled(int order, double x) {
  const double t = std::fabs(x);
  double value;
  if (t != t) return x;
  if (t <= 30) {
    const double z = t * t / 4;
    double term = order == 0 ? 1 : t / 2;
    double sum = term;
    for (int k = 1; k < 200; k++) {
      term *= z / (k * static_cast<double>(k + order));
      sum += term;
      if (term < 1e-17 * sum) break;
    }
    value = sum * std::exp(-t);
  } else {
    const double mu = 4.0 * order * order;
    double term = 1, sum = 1;
    for (int k = 1; k < 60; k++) {
      const double odd = 2 * k - 1;
      const double next = -term * (mu - odd * odd) / (k * 8 * t);
      if (std::fabs(next) > std::fabs(term)) break;
      term = next;
      sum += term;
      if (std::fabs(term) < 1e-17 * std::fabs(sum)) break;
    }
    value = std::isinf(t) ? 0 : sum / std::sqrt(2 * M_PI * t);
  }
  return order == 1 && x < 0 ? -value : value;
}

double bessel_k_scaled(int order, double x) {
  if (x == 0) return INFINITY;
  if (!(x > 0)) return NAN;
  if (x > 30) {
    const double mu = 4.0 * order * order;
    double term = 1, sum = 1;
    for (int k = 1; k < 60; k++) {
      const double odd = 2 * k - 1;
      const double next = term * (mu - odd * odd) / (k * 8 * x);
      if (std::fabs(next) > std::fabs(term)) break;
      term = next;
      sum += term;
      if (std::fabs(term) < 1e-17 * std::fabs(sum)) break;
    }
    return std::isinf(x) ? 0 : sum * std::sqrt(M_PI / (2 * x));
  }
  // integral of exp(x - x cosh t) cosh(order t) over t >= 0; the trapezoidal rule converges geometrically
  const double step = 1.0 / 32;
  double sum = 0.5;
  for (int i = 1; i < 32 * 720; i++) {
    const double t = i * step;
    const double half = std::sinh(t / 2);
    const double term = std::exp(-2 * x * half * half) * (order == 0 ? 1 : std::cosh(t));
    sum += term;
    if (term < 1e-18 * sum) break;
  }
  return sum * step;
}

}  // namespace special
}  // namespace CPU_CAPABILITY
}  // namespace ptlite

namespace {

using namespace ptlite;

#define PTLITE_SPECIAL(Name, expression)              \
  struct Name {                                       \
    template <class T>                                \
    T operator()(T a, const T* p) const {             \
      const double x = static_cast<double>(a);        \
      (void)p;                                        \
      return static_cast<T>(expression);              \
    }                                                 \
  };

double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0;
  if (std::fabs(x) < 0.5) return 1 - x * x / 6 * (1 - x * x / 20 * (1 - x * x / 42 * (1 - x * x / 72 * (1 - x * x / 110))));
  return ::sin(x) / x;
}

// Maclaurin series; its terms grow as exp(2/3 |x|^1.5) and cancel, hence the wider type.
double airy_by_series(double x) {
  const long double cube = (long double)x * x * x;
  long double f = 1, g = x, a = 1, b = x;
  for (int k = 3; k < 300; k += 3) {
    a *= cube / (k * (k - 1));
    b *= cube / (k * (k + 1));
    f += a;
    g += b;
    if (fabsl(a) + fabsl(b) < 1e-20L * (fabsl(f) + fabsl(g))) break;
  }
  return static_cast<double>(0.355028053887817239260L * f - 0.258819403792806798405L * g);
}

// sqrt(x / 3) / pi * K(1/3, z) with z = 2/3 x^1.5: the integral of exp(-z cosh t) cosh(t / 3) by the trapezoid rule.
double airy_by_integral(double x) {
  constexpr double step = 0.125;
  const double z = 2 * x * std::sqrt(x) / 3;
  double sum = 0.5;
  for (int k = 1; k < 64; k++) {
    const double t = step * k, half = std::sinh(t / 2), term = std::exp(-2 * z * half * half) * std::cosh(t / 3);
    sum += term;
    if (term < 1e-18 * sum) break;
  }
  return std::sqrt(x / 3) / M_PI * std::exp(-z) * step * sum;
}

// The asymptotic expansion for large -x: terms u(k) / z^k, of which the even go with cos(z - pi/4) and the odd with sin.
double airy_by_expansion(double x) {
  const double z = -2 * x * std::sqrt(-x) / 3;
  double sums[2] = {1, 0}, term = 1;
  for (int k = 1; k < 40; k++) {
    const double next = term * ((6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1)) / ((2.0 * k - 1) * 216 * k * z);
    if (!(next < term)) break;
    term = next;
    sums[k % 2] += (k / 2) % 2 == 0 ? term : -term;
    if (term < 1e-18) break;
  }
  const double phase = z - M_PI / 4;
  return (std::cos(phase) * sums[0] + std::sin(phase) * sums[1]) / std::sqrt(M_PI * std::sqrt(-x));
}

double airy_ai(double x) {
  if (std::isinf(x)) return NAN;
  if (x > 103.892) return 0;
  if (x < -7.9) return airy_by_expansion(x);
  return x < 2 ? airy_by_series(x) : airy_by_integral(x);
}

PTLITE_SPECIAL(Lgamma, ::lgamma(x))
PTLITE_SPECIAL(Digamma, special::digamma(x))
PTLITE_SPECIAL(Erfinv, special::erfinv(x))
PTLITE_SPECIAL(Erfcx, special::erfcx(x))
PTLITE_SPECIAL(I0, special::bessel_i_scaled(0, x) * ::exp(std::fabs(x)))
PTLITE_SPECIAL(I0e, special::bessel_i_scaled(0, x))
PTLITE_SPECIAL(I1, special::bessel_i_scaled(1, x) * ::exp(std::fabs(x)))
PTLITE_SPECIAL(I1e, special::bessel_i_scaled(1, x))
PTLITE_SPECIAL(Entr, x != x ? x : x > 0 ? -x * ::log(x) : x == 0 ? 0.0 : -INFINITY)
PTLITE_SPECIAL(Ndtr, 0.5 * ::erfc(-x * M_SQRT1_2))
PTLITE_SPECIAL(LogNdtr, special::log_ndtr(x))
PTLITE_SPECIAL(Ndtri, special::ndtri(x))
PTLITE_SPECIAL(J0, std::isinf(x) ? NAN : ::j0(x))
PTLITE_SPECIAL(J1, std::isinf(x) ? NAN : ::j1(x))
PTLITE_SPECIAL(Y0, std::isinf(x) ? NAN : ::y0(x))
PTLITE_SPECIAL(Y1, std::isinf(x) ? NAN : ::y1(x))
PTLITE_SPECIAL(K0, special::bessel_k_scaled(0, x) * ::exp(-x))
PTLITE_SPECIAL(K0e, special::bessel_k_scaled(0, x))
PTLITE_SPECIAL(K1, special::bessel_k_scaled(1, x) * ::exp(-x))
PTLITE_SPECIAL(K1e, special::bessel_k_scaled(1, x))

// Reflection of small arguments in the type itself: at negative integers, where the function has poles, the result is
// what is left of sin(pi x), as in PyTorch.
template <class T>
T trigamma(T x) {
  T sign = 1, result = 0;
  if (x < T(0.5)) {
    sign = -1;
    const T s = std::sin(T(M_PI) * x);
    result -= T(M_PI * M_PI) / (s * s);
    x = 1 - x;
  }
  for (int i = 0; i < 6; i++) {
    result += 1 / (x * x);
    x += 1;
  }
  const T z = 1 / (x * x);
  result += (1 + 1 / (2 * x) + z * (T(1) / 6 - z * (T(1) / 30 - z * (T(1) / 42)))) / x;
  return sign * result;
}

struct Polygamma {
  template <class T>
  T operator()(T a, const T* p) const {
    const int64_t n = static_cast<int64_t>(p[0]);
    return n == 1 ? trigamma(a) : static_cast<T>(special::polygamma(n, static_cast<double>(a)));
  }
};

PTLITE_SPECIAL(SphericalJ0, spherical_bessel_j0(x))
PTLITE_SPECIAL(AiryAi, airy_ai(x))

#define PTLITE_CASE(name, Name) PTLITE_HELD_CASE(SpecialOp_##name, nullptr) return run_unary_lanes<C, Name>;

template <class C>
Run<C> choose(int32_t op) {
  if constexpr (is_real<C>) {
    switch (op) {
      PTLITE_CASE(lgamma, Lgamma)
      PTLITE_CASE(digamma, Digamma)
      PTLITE_CASE(erfinv, Erfinv)
      PTLITE_CASE(erfcx, Erfcx)
      PTLITE_CASE(i0, I0)
      PTLITE_CASE(i0e, I0e)
      PTLITE_CASE(i1, I1)
      PTLITE_CASE(i1e, I1e)
      PTLITE_CASE(entr, Entr)
      PTLITE_CASE(ndtr, Ndtr)
      PTLITE_CASE(log_ndtr, LogNdtr)
      PTLITE_CASE(ndtri, Ndtri)
      PTLITE_CASE(bessel_j0, J0)
      PTLITE_CASE(bessel_j1, J1)
      PTLITE_CASE(bessel_y0, Y0)
      PTLITE_CASE(bessel_y1, Y1)
      PTLITE_CASE(k0, K0)
      PTLITE_CASE(k0e, K0e)
      PTLITE_CASE(k1, K1)
      PTLITE_CASE(k1e, K1e)
      PTLITE_CASE(polygamma, Polygamma)
      PTLITE_CASE(spherical_bessel_j0, SphericalJ0)
      PTLITE_CASE(airy_ai, AiryAi)
    }
  }
  (void)op;
  return nullptr;
}

int32_t run_special(special_frame* f) {
  return with_compute(f->compute, [&](auto tag) {
    using C = decltype(tag);
    const C p[] = {parameter<C>(f->p0)};
    const Walk<C, 1> w = {f->ndim, f->n, f->sizes, {f->out, f->in}, {f->out_dtype, f->in_dtype}, {f->out_strides, f->in_strides}, {}};
    return walk(w, choose<C>(f->op), p);
  });
}

}  // namespace

PTLITE_KERNEL(special, run_special)
