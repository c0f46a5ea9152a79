// Dense decompositions: LU with row pivoting, Cholesky, triangular substitution.
#include "frames/linalg.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"

#include <cmath>
#include <utility>

#include "ops/linalg/scalar.h"

namespace {

using ptlite_linalg::adjoint;
using ptlite_linalg::magnitude;
using ptlite_linalg::Real;
using ptlite_linalg::real_part;

/// Reduces a to LU in place and applies the same row operations to b (columns may be 0). Returns the sign of the
/// permutation, or 0 where a pivot is zero (the reduction goes on, so that the determinant can be told).
template <class T>
int factor(T* a, int64_t n, T* b, int64_t columns) {
  int sign = 1;
  bool singular = false;
  ptlite::Pace pace;
  for (int64_t k = 0; k < n; k++) {
    int64_t pivot = k;
    for (int64_t r = k + 1; r < n; r++) {
      if (magnitude(a[r * n + k]) > magnitude(a[pivot * n + k])) pivot = r;
    }
    if (a[pivot * n + k] == T(0)) {
      singular = true;
      continue;
    }
    if (pivot != k) {
      sign = -sign;
      for (int64_t c = 0; c < n; c++) std::swap(a[k * n + c], a[pivot * n + c]);
      for (int64_t c = 0; c < columns; c++) std::swap(b[k * columns + c], b[pivot * columns + c]);
    }
    const T inverse = T(1) / a[k * n + k];
    for (int64_t r = k + 1; r < n; r++) {
      pace.after(n - k + columns);
      const T m = a[r * n + k] * inverse;
      if (m == T(0)) continue;
      for (int64_t c = k + 1; c < n; c++) a[r * n + c] -= m * a[k * n + c];
      for (int64_t c = 0; c < columns; c++) b[r * columns + c] -= m * b[k * columns + c];
    }
  }
  return singular ? 0 : sign;
}

template <class T>
void back_substitute(const T* a, int64_t n, T* b, int64_t columns, bool unit) {
  ptlite::Pace pace;
  for (int64_t r = n - 1; r >= 0; r--) {
    for (int64_t k = r + 1; k < n; k++) {
      pace.after(columns);
      const T m = a[r * n + k];
      for (int64_t c = 0; c < columns; c++) b[r * columns + c] -= m * b[k * columns + c];
    }
    if (unit) continue;
    for (int64_t c = 0; c < columns; c++) b[r * columns + c] /= a[r * n + r];
  }
}

template <class T>
void forward_substitute(const T* a, int64_t n, T* b, int64_t columns, bool unit) {
  ptlite::Pace pace;
  for (int64_t r = 0; r < n; r++) {
    for (int64_t k = 0; k < r; k++) {
      pace.after(columns);
      const T m = a[r * n + k];
      for (int64_t c = 0; c < columns; c++) b[r * columns + c] -= m * b[k * columns + c];
    }
    if (unit) continue;
    for (int64_t c = 0; c < columns; c++) b[r * columns + c] /= a[r * n + r];
  }
}

template <class T>
int32_t linalg_solve(const linalg_solve_frame& f) {
  for (int64_t i = 0; i < f.batch; i++) {
    T* a = reinterpret_cast<T*>(f.a) + i * f.n * f.n;
    T* b = reinterpret_cast<T*>(f.b) + i * f.n * f.columns;
    if (factor<T>(a, f.n, b, f.columns) == 0) return PTLITE_SINGULAR;
    back_substitute<T>(a, f.n, b, f.columns, false);
  }
  return PTLITE_OK;
}

/// d / |d|: the sign of a real number, the phase of a complex one.
template <class T>
T phase(T d) {
  if constexpr (ptlite_linalg::is_complex<T>) return d == T(0) ? d : d / std::abs(d);
  else return d < 0 ? T(-1) : T(1);
}

template <class T>
int32_t linalg_slogdet(const linalg_slogdet_frame& f) {
  for (int64_t i = 0; i < f.batch; i++) {
    T* a = reinterpret_cast<T*>(f.a) + i * f.n * f.n;
    T sign = T(Real<T>(factor<T>(a, f.n, a, 0))), det = sign;
    Real<T> logabs = 0;
    for (int64_t k = 0; k < f.n; k++) {
      const T d = a[k * f.n + k];
      sign *= phase(d);
      logabs += std::log(std::abs(d));
      det *= d;
    }
    if (f.det != 0) reinterpret_cast<T*>(f.det)[i] = det;
    if (f.sign != 0) reinterpret_cast<T*>(f.sign)[i] = sign;
    if (f.logabs != 0) reinterpret_cast<Real<T>*>(f.logabs)[i] = sign == T(0) ? Real<T>(-INFINITY) : logabs;
  }
  return PTLITE_OK;
}

template <class T>
int32_t linalg_cholesky(const linalg_cholesky_frame& f) {
  const int64_t n = f.n;
  ptlite::Pace pace;
  for (int64_t i = 0; i < f.batch; i++) {
    T* a = reinterpret_cast<T*>(f.a) + i * n * n;
    // the triangle that is not asked for is not read
    const auto at = [&](int64_t r, int64_t c) -> T& { return f.upper ? a[c * n + r] : a[r * n + c]; };
    for (int64_t c = 0; c < n; c++) {
      Real<T> d = real_part(at(c, c));
      for (int64_t k = 0; k < c; k++) d -= real_part(at(c, k) * adjoint(at(c, k)));
      if (!(d > 0)) return PTLITE_SINGULAR;
      const Real<T> root = std::sqrt(d);
      at(c, c) = root;
      for (int64_t r = c + 1; r < n; r++) {
        pace.after(c);
        T v = at(r, c);
        for (int64_t k = 0; k < c; k++) v -= at(r, k) * adjoint(at(c, k));
        at(r, c) = v / root;
      }
    }
    for (int64_t r = 0; r < n; r++) {
      for (int64_t c = r + 1; c < n; c++) at(r, c) = 0;
    }
  }
  return PTLITE_OK;
}

template <class T>
int32_t linalg_triangular_solve(const linalg_triangular_solve_frame& f) {
  for (int64_t i = 0; i < f.batch; i++) {
    const T* a = reinterpret_cast<const T*>(f.a) + i * f.n * f.n;
    T* b = reinterpret_cast<T*>(f.b) + i * f.n * f.columns;
    if (f.upper) back_substitute<T>(a, f.n, b, f.columns, f.unit != 0);
    else forward_substitute<T>(a, f.n, b, f.columns, f.unit != 0);
  }
  return PTLITE_OK;
}

#define PTLITE_FLOAT_KERNEL(name)                                            \
  int32_t name##_kernel(name##_frame* f) {                                   \
    if (f->element == PTLITE_FLOAT32) return name<float>(*f);                  \
    if (f->element == PTLITE_FLOAT64) return name<double>(*f);                 \
    if (f->element == PTLITE_COMPLEX64) return name<std::complex<float>>(*f);  \
    if (f->element == PTLITE_COMPLEX128) return name<std::complex<double>>(*f); \
    return PTLITE_NO_DTYPE;                                                  \
  }

PTLITE_FLOAT_KERNEL(linalg_solve)
PTLITE_FLOAT_KERNEL(linalg_slogdet)
PTLITE_FLOAT_KERNEL(linalg_cholesky)
PTLITE_FLOAT_KERNEL(linalg_triangular_solve)

}  // namespace

PTLITE_KERNEL(linalg_solve, linalg_solve_kernel)
PTLITE_KERNEL(linalg_slogdet, linalg_slogdet_kernel)
PTLITE_KERNEL(linalg_cholesky, linalg_cholesky_kernel)
PTLITE_KERNEL(linalg_triangular_solve, linalg_triangular_solve_kernel)
