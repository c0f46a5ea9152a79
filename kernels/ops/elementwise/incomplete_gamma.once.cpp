// Regularized incomplete gamma functions in double precision: the power series below x = a + 1, the continued fraction beyond
// (Abramowitz and Stegun 6.5.29 and 6.5.31), and for large a the uniform expansion (DLMF 8.12), since steps grow with the root of a.
#include <math.h>

#include "frames/gamma.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

constexpr double kEpsilon = 0x1p-53;
constexpr double kTiny = 0x1p-1000;
// from here on the expansion, whose terms below have an error under 1e-15 of the larger result
constexpr double kLarge = 10000;
// both loops take about six times the square root of a
constexpr int64_t kMostSteps = 1 << 13;

// x^a e^-x / gamma(a)
double prefix(double a, double x) { return exp(a * log(x) - x - lgamma(a)); }

double lower_by_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int64_t i = 1; i < kMostSteps; i++) {
    term *= x / (a + static_cast<double>(i));
    sum += term;
    if (term < sum * kEpsilon) break;
  }
  return prefix(a, x) * sum;
}

// Lentz's evaluation from the front.
double upper_by_fraction(double a, double x) {
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int64_t i = 1; i < kMostSteps; i++) {
    const double n = static_cast<double>(i), factor = -n * (n - a);
    b += 2;
    d = factor * d + b;
    c = b + factor / c;
    d = 1 / (fabs(d) < kTiny ? kTiny : d);
    c = fabs(c) < kTiny ? kTiny : c;
    const double step = c * d;
    h *= step;
    if (fabs(step - 1) < kEpsilon) break;
  }
  return prefix(a, x) * h;
}

// mu - log(1 + mu): close to 0 by its series, whose first two terms the difference would lose
double less_log1p(double mu) {
  if (fabs(mu) >= 0.1) return mu - log1p(mu);
  double sum = 0;
  for (int k = 18; k >= 2; k--) sum = 1.0 / k - mu * sum;
  return mu * mu * sum;
}

// Coefficients of c_k(eta) = sum_i kTerms[k][i] eta^i, from the series of mu by eta: eta^2 / 2 = mu - log(1 + mu).
constexpr int kPowers = 14;
constexpr double kTerms[3][kPowers] = {
    {-1.0 / 3, 1.0 / 12, -2.0 / 135, 1.1574074074074074e-3, 3.527336860670194e-4, -1.787551440329218e-4, 3.919263178522438e-5,
     -2.185448510679992e-6, -1.85406221071516e-6, 8.296711340953087e-7, -1.7665952736826078e-7, 6.707853543401498e-9,
     1.0261809784240309e-8, -4.382036018453353e-9},
    {-1.0 / 540, -1.0 / 288, 2.6455026455026454e-3, -9.902263374485596e-4, 2.0576131687242798e-4, -4.018775720164609e-7,
     -1.8098550334489977e-5, 7.64916091608111e-6, -1.6120900894563446e-6, 4.647127802807434e-9, 1.378633446915721e-7},
    {4.133597883597883e-3, -2.6813271604938273e-3, 7.716049382716049e-4, 2.0093878600823047e-6, -1.0736653226365161e-4,
     5.2923448829120125e-5},
};

// For large a: half of erfc, corrected by exp(-a eta^2 / 2) / sqrt(2 pi a) times the sum of c_k(eta) / a^k.
double by_expansion(double a, double x, bool upper) {
  const double mu = (x - a) / a, half = less_log1p(mu), exponent = a * half;
  if (exponent > 746) return (x > a) == upper ? 0 : 1;
  const double eta = copysign(sqrt(2 * half), mu);
  double sum = 0;
  for (int k = 2; k >= 0; k--) {
    double term = 0;
    for (int i = kPowers - 1; i >= 0; i--) term = term * eta + kTerms[k][i];
    sum = sum / a + term;
  }
  const double rest = exp(-exponent) / sqrt(2 * M_PI * a) * sum, root = copysign(sqrt(exponent), mu);
  return upper ? 0.5 * erfc(root) + rest : 0.5 * erfc(-root) - rest;
}

double incomplete_gamma(double a, double x, bool upper) {
  if (a != a || x != x || a < 0 || x < 0) return NAN;
  const double none = upper ? 1 : 0, all = upper ? 0 : 1;
  if (a == 0) return x > 0 ? all : NAN;
  if (x == 0) return none;
  if (isinf(a)) return isinf(x) ? NAN : none;
  if (isinf(x)) return all;
  if (a >= kLarge) return by_expansion(a, x, upper);
  if (x < a + 1) {
    const double p = lower_by_series(a, x);
    return upper ? 1 - p : p;
  }
  const double q = upper_by_fraction(a, x);
  return upper ? q : 1 - q;
}

template <class T>
void each(const incomplete_gamma_frame* f) {
  const T* a = reinterpret_cast<const T*>(f->a);
  const T* x = reinterpret_cast<const T*>(f->x);
  T* out = reinterpret_cast<T*>(f->out);
  const bool upper = f->upper != 0;
  ptlite::Pace pace;
  for (int64_t i = 0; i < f->n; i++) {
    pace.after(1 << 8);
    out[i] = static_cast<T>(incomplete_gamma(static_cast<double>(a[i]), static_cast<double>(x[i]), upper));
  }
}

int32_t run(incomplete_gamma_frame* f) {
  switch (f->dtype) {
    case elem::F32: each<float>(f); return PTLITE_OK;
    case elem::F64: each<double>(f); return PTLITE_OK;
    default: return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(incomplete_gamma, run)
