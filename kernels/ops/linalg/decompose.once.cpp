// Orthogonal decompositions in double precision, real and complex: Householder QR, Jacobi's method for symmetric and Hermitian eigenvalues,
// and its one-sided form (Hestenes) for singular values. Sizes are those of models, tens to hundreds, where Jacobi's accuracy costs little.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "frames/decompose.h"
#include "dispatch/kernel.h"
#include "ops/linalg/scalar.h"
#include "pool/budget.h"

namespace {

using ptlite_linalg::adjoint;
using ptlite_linalg::is_complex;
using ptlite_linalg::magnitude;
using ptlite_linalg::real_part;
using ptlite_linalg::size;
using Complex = std::complex<double>;

constexpr int kSweeps = 60;
constexpr double kTiny = 1e-300;

/// Reflects column k of a below row k to zero, and its diagonal element to a real number; the reflector v (v[0] = 1) replaces it, its factor is
/// returned.
template <class T>
T reflect(T* a, int64_t rows, int64_t cols, int64_t k) {
  ptlite::Pace pace;
  double below = 0;
  for (int64_t r = k + 1; r < rows; r++) below = std::hypot(below, size(a[r * cols + k]));
  const T alpha = a[k * cols + k];
  if (below == 0 && alpha == T(real_part(alpha))) return 0;
  const double beta = -std::copysign(std::hypot(size(alpha), below), real_part(alpha));
  const T tau = (beta - alpha) / beta;
  for (int64_t r = k + 1; r < rows; r++) a[r * cols + k] /= alpha - beta;
  for (int64_t c = k + 1; c < cols; c++) {
    pace.after(2 * (rows - k));
    T dot = a[k * cols + c];
    for (int64_t r = k + 1; r < rows; r++) dot += adjoint(a[r * cols + k]) * a[r * cols + c];
    dot *= adjoint(tau);
    a[k * cols + c] -= dot;
    for (int64_t r = k + 1; r < rows; r++) a[r * cols + c] -= dot * a[r * cols + k];
  }
  a[k * cols + k] = beta;
  return tau;
}

template <class T>
int32_t householder_qr_of(const householder_qr_frame* f) {
  const int64_t rows = f->rows, cols = f->cols, width = f->q_cols, steps = std::min(rows, cols);
  auto* tau = static_cast<T*>(ptlite_scratch(size_t(steps + 1) * sizeof(T)));
  if (!tau) return PTLITE_NO_MEMORY;
  ptlite::Pace pace;
  for (int64_t b = 0; b < f->batch; b++) {
    T* a = reinterpret_cast<T*>(f->a) + b * rows * cols;
    for (int64_t k = 0; k < steps; k++) tau[k] = reflect(a, rows, cols, k);
    T* q = reinterpret_cast<T*>(f->q) + b * rows * width;
    for (int64_t i = 0; i < rows * width; i++) q[i] = i / width == i % width;
    for (int64_t k = steps - 1; k >= 0 && width > 0; k--) {
      for (int64_t c = k; c < width; c++) {
        pace.after(2 * (rows - k));
        T dot = q[k * width + c];
        for (int64_t r = k + 1; r < rows; r++) dot += adjoint(a[r * cols + k]) * q[r * width + c];
        dot *= tau[k];
        q[k * width + c] -= dot;
        for (int64_t r = k + 1; r < rows; r++) q[r * width + c] -= dot * a[r * cols + k];
      }
    }
    for (int64_t r = 1; r < rows; r++) std::fill_n(a + r * cols, std::min(r, cols), T(0));
  }
  return PTLITE_OK;
}

/// The rotation that makes a Hermitian 2 x 2 matrix diagonal: cosine and sine, after the second basis vector is turned by a phase that makes
/// `between` real.
template <class T>
struct Rotation {
  double c, s;
  T phase;
  Rotation(double first, double second, T between) : phase(1) {
    double real;
    if constexpr (is_complex<T>) {
      real = size(between);
      phase = std::conj(between) / real;
    } else {
      real = between;
    }
    const double theta = (second - first) / (2 * real);
    const double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::hypot(theta, 1.0));
    c = 1 / std::hypot(t, 1.0);
    s = t * c;
  }
  /// Of two columns.
  void turn(T& x, T& y) const { turn_by(x, y, phase); }
  /// Of two rows.
  void turn_rows(T& x, T& y) const { turn_by(x, y, adjoint(phase)); }

 private:
  void turn_by(T& x, T& y, T by) const {
    const T old = x, turned = y * by;
    x = c * old - s * turned;
    y = s * old + c * turned;
  }
};

/// Puts `values` in order and the columns of `vectors` ([rows, n] each) with them.
template <class T, class Before>
void sort_columns(double* values, int64_t n, Before before, T* first, int64_t first_rows, int64_t first_width, T* second) {
  for (int64_t i = 0; i < n; i++) {
    int64_t best = i;
    for (int64_t j = i + 1; j < n; j++)
      if (before(values[j], values[best])) best = j;
    if (best == i) continue;
    std::swap(values[i], values[best]);
    for (int64_t r = 0; first && r < first_rows; r++) std::swap(first[r * first_width + i], first[r * first_width + best]);
    for (int64_t r = 0; second && r < n; r++) std::swap(second[r * n + i], second[r * n + best]);
  }
}

template <class T>
int32_t symmetric_eigen_of(const symmetric_eigen_frame* f) {
  const int64_t n = f->n;
  ptlite::Pace pace;
  for (int64_t b = 0; b < f->batch; b++) {
    T* a = reinterpret_cast<T*>(f->a) + b * n * n;
    double* values = reinterpret_cast<double*>(f->values) + b * n;
    T* v = reinterpret_cast<T*>(f->vectors) + b * n * n;
    for (int64_t i = 0; i < n * n; i++) v[i] = i / n == i % n;
    for (int sweep = 0; sweep < kSweeps; sweep++) {
      bool rotated = false;
      for (int64_t p = 0; p < n; p++) {
        for (int64_t q = p + 1; q < n; q++) {
          const T between = a[p * n + q];
          const double first = real_part(a[p * n + p]), second = real_part(a[q * n + q]);
          pace.after(3 * n);
          if (size(between) <= 1e-17 * std::sqrt(std::fabs(first * second)) + kTiny) continue;
          rotated = true;
          const Rotation<T> turn(first, second, between);
          for (int64_t k = 0; k < n; k++) turn.turn(a[k * n + p], a[k * n + q]);
          for (int64_t k = 0; k < n; k++) turn.turn_rows(a[p * n + k], a[q * n + k]);
          for (int64_t k = 0; k < n; k++) turn.turn(v[k * n + p], v[k * n + q]);
        }
      }
      if (!rotated) break;
    }
    for (int64_t i = 0; i < n; i++) values[i] = real_part(a[i * n + i]);
    sort_columns<T>(values, n, [](double x, double y) { return x < y; }, v, n, n, nullptr);
  }
  return PTLITE_OK;
}

/// Makes columns from `known` on orthonormal to all before them, out of unit vectors.
template <class T>
void complete(T* u, int64_t rows, int64_t cols, int64_t known) {
  int64_t unit = 0;
  ptlite::Pace pace;
  for (int64_t c = known; c < cols; c++) {
    for (; unit < rows; unit++) {
      for (int64_t r = 0; r < rows; r++) u[r * cols + c] = r == unit;
      double norm = 0;
      for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < c; k++) {
          pace.after(2 * rows);
          T dot = 0;
          for (int64_t r = 0; r < rows; r++) dot += adjoint(u[r * cols + k]) * u[r * cols + c];
          for (int64_t r = 0; r < rows; r++) u[r * cols + c] -= dot * u[r * cols + k];
        }
        norm = 0;
        for (int64_t r = 0; r < rows; r++) norm = std::hypot(norm, size(u[r * cols + c]));
        if (norm < 1e-8) break;
        for (int64_t r = 0; r < rows; r++) u[r * cols + c] /= norm;
      }
      if (norm >= 1e-8) break;
    }
    unit++;
  }
}

template <class T>
int32_t singular_values_of(const singular_values_frame* f) {
  const int64_t rows = f->rows, cols = f->cols, width = f->u_cols;
  ptlite::Pace pace;
  for (int64_t b = 0; b < f->batch; b++) {
    T* a = reinterpret_cast<T*>(f->a) + b * rows * cols;
    T* u = reinterpret_cast<T*>(f->u) + b * rows * width;
    double* values = reinterpret_cast<double*>(f->values) + b * cols;
    T* v = reinterpret_cast<T*>(f->v) + b * cols * cols;
    for (int64_t i = 0; i < cols * cols; i++) v[i] = i / cols == i % cols;
    for (int sweep = 0; sweep < kSweeps; sweep++) {
      bool rotated = false;
      for (int64_t p = 0; p < cols; p++) {
        for (int64_t q = p + 1; q < cols; q++) {
          double pp = 0, qq = 0;
          T pq = 0;
          pace.after(2 * rows + cols);
          for (int64_t r = 0; r < rows; r++) {
            const T x = a[r * cols + p], y = a[r * cols + q];
            pp += real_part(adjoint(x) * x);
            qq += real_part(adjoint(y) * y);
            pq += adjoint(x) * y;
          }
          if (size(pq) <= 1e-16 * std::sqrt(pp * qq) + kTiny) continue;
          rotated = true;
          const Rotation<T> turn(pp, qq, pq);
          for (int64_t r = 0; r < rows; r++) turn.turn(a[r * cols + p], a[r * cols + q]);
          for (int64_t r = 0; r < cols; r++) turn.turn(v[r * cols + p], v[r * cols + q]);
        }
      }
      if (!rotated) break;
    }
    double largest = 0;
    for (int64_t c = 0; c < cols; c++) {
      values[c] = 0;
      for (int64_t r = 0; r < rows; r++) values[c] = std::hypot(values[c], size(a[r * cols + c]));
      largest = std::max(largest, values[c]);
    }
    sort_columns<T>(values, cols, [](double x, double y) { return x > y; }, a, rows, cols, v);
    int64_t rank = 0;
    while (rank < cols && values[rank] > 1e-15 * largest && values[rank] > kTiny) rank++;
    for (int64_t r = 0; r < rows; r++)
      for (int64_t c = 0; c < width; c++) u[r * width + c] = c < rank ? a[r * cols + c] / values[c] : T(0);
    complete(u, rows, width, rank);
  }
  return PTLITE_OK;
}

template <class T>
int32_t lu_factor_of(const lu_factor_frame* f) {
  const int64_t rows = f->rows, cols = f->cols, steps = std::min(rows, cols);
  ptlite::Pace pace;
  for (int64_t b = 0; b < f->batch; b++) {
    T* a = reinterpret_cast<T*>(f->a) + b * rows * cols;
    int32_t* pivots = reinterpret_cast<int32_t*>(f->pivots) + b * steps;
    int32_t& singular = reinterpret_cast<int32_t*>(f->singular)[b];
    singular = 0;
    for (int64_t k = 0; k < steps; k++) {
      int64_t pivot = k;
      for (int64_t r = k + 1; r < rows; r++)
        if (magnitude(a[r * cols + k]) > magnitude(a[pivot * cols + k])) pivot = r;
      pivots[k] = int32_t(pivot + 1);
      if (a[pivot * cols + k] == T(0)) {
        if (singular == 0) singular = int32_t(k + 1);
        continue;
      }
      if (pivot != k) std::swap_ranges(a + k * cols, a + (k + 1) * cols, a + pivot * cols);
      for (int64_t r = k + 1; r < rows; r++) {
        pace.after(cols - k);
        const T m = a[r * cols + k] /= a[k * cols + k];
        for (int64_t c = k + 1; c < cols; c++) a[r * cols + c] -= m * a[k * cols + c];
      }
    }
  }
  return PTLITE_OK;
}

#define PTLITE_DECOMPOSITION(name) \
  int32_t name##_run(name##_frame* f) { return f->complex ? name##_of<Complex>(f) : name##_of<double>(f); }

PTLITE_DECOMPOSITION(householder_qr)
PTLITE_DECOMPOSITION(symmetric_eigen)
PTLITE_DECOMPOSITION(singular_values)
PTLITE_DECOMPOSITION(lu_factor)

}  // namespace

PTLITE_KERNEL(householder_qr, householder_qr_run)
PTLITE_KERNEL(symmetric_eigen, symmetric_eigen_run)
PTLITE_KERNEL(singular_values, singular_values_run)
PTLITE_KERNEL(lu_factor, lu_factor_run)
