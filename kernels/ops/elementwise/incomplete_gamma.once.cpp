// Regularized incomplete gamma functions: the power series below x = a + 1, the continued fraction beyond
// (Abramowitz and Stegun 6.5.29 and 6.5.31), in double precision.
#include <math.h>

#include "frames/gamma.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

constexpr double kEpsilon = 0x1p-53;
constexpr double kTiny = 0x1p-1000;
// the series takes about six times the square root of a steps
constexpr int64_t kMostSteps = 1 << 20;
/// Steps from one look at the budget to the next.
constexpr int64_t kStepsBetween = 1 << 12;

// x^a e^-x / gamma(a)
double prefix(double a, double x) { return exp(a * log(x) - x - lgamma(a)); }

double lower_by_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int64_t i = 1; i < kMostSteps; i++) {
    term *= x / (a + static_cast<double>(i));
    sum += term;
    if (term < sum * kEpsilon) break;
    if (i % kStepsBetween == 0) ptlite::poll();
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
    if (i % kStepsBetween == 0) ptlite::poll();
  }
  return prefix(a, x) * h;
}

double incomplete_gamma(double a, double x, bool upper) {
  if (a != a || x != x || a < 0 || x < 0) return NAN;
  const double none = upper ? 1 : 0, all = upper ? 0 : 1;
  if (a == 0) return x > 0 ? all : NAN;
  if (x == 0) return none;
  if (isinf(a)) return isinf(x) ? NAN : none;
  if (isinf(x)) return all;
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
    pace.after(16);
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
