// Orthogonal polynomials by their three-term recurrences, and Chebyshev's within [-1, 1] by angles, in PyTorch's cases.
#include <math.h>

#include "frames/polynomial.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

constexpr int64_t kMostSteps = int64_t{1} << 24;
/// Steps of one value that do not count, and how many more all values may take together: seconds.
constexpr int64_t kFreeSteps = int64_t{1} << 14, kMostFar = int64_t{1} << 27;

/// What is left of the steps of a call.
struct Steps {
  int64_t far = kMostFar;
  int32_t status = PTLITE_OK;
};

/// Four kinds of Chebyshev polynomials: the first one is `slope` u + `offset`; beyond degree `direct` angles serve, in
/// the shifted polynomials beyond `shifted_direct`.
struct Chebyshev {
  int slope, offset, direct, shifted_direct;
};
constexpr Chebyshev kChebyshev[] = {{1, 0, 6, 6}, {2, 0, 8, 6}, {2, -1, 8, 6}, {2, 1, 8, 4}};

/// The value at u = 1 and, but for the sign of odd degrees, at u = -1.
template <class T>
T at_end(int kind, int64_t n, bool upper) {
  const bool grows = kind == 1 || (kind == 2 ? !upper : upper && kind == 3);
  if (!grows) return 1;
  return kind == 1 ? T(n + 1) : T(n + n + 1);
}

template <class T>
T by_angle(int kind, T u, int64_t n, bool upper_end) {
  const T angle = acos(u), half = angle / 2;
  const T sign = n % 2 == 0 ? T(1) : T(-1);
  switch (kind) {
    case 0: return cos(T(n) * angle);
    case 1: return sin(angle) != 0 ? T(sin(T(n + 1) * angle) / sin(angle)) : T(T(n + 1) * cos(T(n + 1) * angle) / u);
    case 2: return sin(half) != 1 ? T(cos((T(n) + T(0.5)) * angle) / cos(half)) : sign * T(n + n + 1);
    default: return cos(half) != 1 ? T(sin((T(n) + T(0.5)) * angle) / sin(half)) : upper_end ? T(n + n + 1) : sign;
  }
}

/// r(k + 1) = step(k, r(k), r(k - 1)) from r(0) = 1 and r(1) = first. Once not a number, it stays so.
template <class T, class Step>
T recur(int64_t n, T first, const Step& step, Steps& steps) {
  if (n == 0) return 1;
  ptlite::poll();
  T before = 1, now = first;
  for (int64_t k = 1; k < n && now == now; k++) {
    if (k > kMostSteps || (k > kFreeSteps && --steps.far < 0)) {
      steps.status = PTLITE_INDEX_RANGE;
      break;
    }
    const T next = step(T(k), now, before);
    before = now;
    now = next;
  }
  return now;
}

template <class T>
T chebyshev(int kind, bool shifted, T x, int64_t n, Steps& steps) {
  const Chebyshev& row = kChebyshev[kind];
  const T u = shifted ? x + x - 1 : x;
  if (x == 1) return at_end<T>(kind, n, true);
  if (x == (shifted ? 0 : -1)) return n % 2 == 0 ? at_end<T>(kind, n, false) : -at_end<T>(kind, n, false);
  if (n > (shifted ? row.shifted_direct : row.direct) && fabs(u) < 1) return by_angle<T>(kind, u, n, !shifted && x > 0);
  return recur<T>(n, T(row.slope) * u + T(row.offset), [=](T, T q, T p) { return (u + u) * q - p; }, steps);
}

template <class T>
T value(int32_t kind, T x, int64_t n, Steps& steps) {
  if (n < 0) return 0;
  switch (kind) {
    case Polynomial_chebyshev_polynomial_t:
    case Polynomial_chebyshev_polynomial_u:
    case Polynomial_chebyshev_polynomial_v:
    case Polynomial_chebyshev_polynomial_w: return chebyshev<T>(kind - Polynomial_chebyshev_polynomial_t, false, x, n, steps);
    case Polynomial_hermite_polynomial_h:
      return recur<T>(n, x + x, [=](T k, T q, T p) { return (x + x) * q - (k + k) * p; }, steps);
    case Polynomial_hermite_polynomial_he:
      return recur<T>(n, x, [=](T k, T q, T p) { return x * q - k * p; }, steps);
    case Polynomial_laguerre_polynomial_l:
      if (x == 0) return 1;
      return recur<T>(n, 1 - x, [=](T k, T q, T p) { return ((k + k + (1 - x)) * q - k * p) / (k + 1); }, steps);
    case Polynomial_legendre_polynomial_p:
      if (fabs(x) == 1) return x > 0 || n % 2 == 0 ? T(1) : T(-1);
      return recur<T>(n, x, [=](T k, T q, T p) { return ((k + k + 1) * x * q - k * p) / (k + 1); }, steps);
    default: return chebyshev<T>(kind - Polynomial_shifted_chebyshev_polynomial_t, true, x, n, steps);
  }
}

/// As a cast on x86 does: what int64 cannot hold is its lowest value.
template <class T>
int64_t degree(T n) {
  return fabs(n) < T(9.2e18) ? int64_t(n) : INT64_MIN;
}

template <class T>
int32_t each(const polynomial_frame* f) {
  const T* x = reinterpret_cast<const T*>(f->x);
  const T* n = reinterpret_cast<const T*>(f->n);
  T* out = reinterpret_cast<T*>(f->out);
  Steps steps;
  for (int64_t i = 0; i < f->count && steps.status == PTLITE_OK; i++) out[i] = value<T>(f->kind, x[i], degree(n[i]), steps);
  return steps.status;
}

int32_t polynomial(polynomial_frame* f) {
  switch (f->dtype) {
    case elem::F32: return each<float>(f);
    case elem::F64: return each<double>(f);
    default: return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(polynomial, polynomial)
