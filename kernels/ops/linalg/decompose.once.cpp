// Orthogonal decompositions in double: Householder QR, Jacobi's method for symmetric eigenvalues, and its one-sided form
// (Hestenes) for singular values. Sizes are those of models, tens to hundreds, where Jacobi's accuracy costs little.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "frames/decompose.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"

namespace {

constexpr int kSweeps = 60;
constexpr double kTiny = 1e-300;

/// Reflects column k of a below row k to zero; the reflector v (v[0] = 1) replaces it, its factor is returned.
double reflect(double* a, int64_t rows, int64_t cols, int64_t k) {
  ptlite::Pace pace;
  double below = 0;
  for (int64_t r = k + 1; r < rows; r++) below = std::hypot(below, a[r * cols + k]);
  const double alpha = a[k * cols + k];
  if (below == 0) return 0;
  const double beta = -std::copysign(std::hypot(alpha, below), alpha);
  const double tau = (beta - alpha) / beta;
  for (int64_t r = k + 1; r < rows; r++) a[r * cols + k] /= alpha - beta;
  for (int64_t c = k + 1; c < cols; c++) {
    pace.after(2 * (rows - k));
    double dot = a[k * cols + c];
    for (int64_t r = k + 1; r < rows; r++) dot += a[r * cols + k] * a[r * cols + c];
    a[k * cols + c] -= tau * dot;
    for (int64_t r = k + 1; r < rows; r++) a[r * cols + c] -= tau * dot * a[r * cols + k];
  }
  a[k * cols + k] = beta;
  return tau;
}

int32_t householder_qr_run(householder_qr_frame* f) {
  const int64_t rows = f->rows, cols = f->cols, width = f->q_cols, steps = std::min(rows, cols);
  auto* tau = static_cast<double*>(ptlite_scratch(size_t(steps + 1) * sizeof(double)));
  if (!tau) return PTLITE_NO_MEMORY;
  ptlite::Pace pace;
  for (int64_t b = 0; b < f->batch; b++) {
    double* a = reinterpret_cast<double*>(f->a) + b * rows * cols;
    for (int64_t k = 0; k < steps; k++) tau[k] = reflect(a, rows, cols, k);
    double* q = reinterpret_cast<double*>(f->q) + b * rows * width;
    for (int64_t i = 0; i < rows * width; i++) q[i] = i / width == i % width;
    for (int64_t k = steps - 1; k >= 0 && width > 0; k--) {
      for (int64_t c = k; c < width; c++) {
        pace.after(2 * (rows - k));
        double dot = q[k * width + c];
        for (int64_t r = k + 1; r < rows; r++) dot += a[r * cols + k] * q[r * width + c];
        q[k * width + c] -= tau[k] * dot;
        for (int64_t r = k + 1; r < rows; r++) q[r * width + c] -= tau[k] * dot * a[r * cols + k];
      }
    }
    for (int64_t r = 1; r < rows; r++) std::fill_n(a + r * cols, std::min(r, cols), 0.0);
  }
  return PTLITE_OK;
}

/// Cosine and sine of the rotation that makes a symmetric 2 x 2 matrix diagonal.
struct Rotation {
  double c, s;
  Rotation(double first, double second, double between) {
    const double theta = (second - first) / (2 * between);
    const double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::hypot(theta, 1.0));
    c = 1 / std::hypot(t, 1.0);
    s = t * c;
  }
  void turn(double& x, double& y) const {
    const double old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  }
};

/// Puts `values` in order and the columns of `vectors` ([rows, n] each) with them.
template <class Before>
void sort_columns(double* values, int64_t n, Before before, double* first, int64_t first_rows, int64_t first_width, double* second) {
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

int32_t symmetric_eigen_run(symmetric_eigen_frame* f) {
  const int64_t n = f->n;
  ptlite::Pace pace;
  for (int64_t b = 0; b < f->batch; b++) {
    double* a = reinterpret_cast<double*>(f->a) + b * n * n;
    double* values = reinterpret_cast<double*>(f->values) + b * n;
    double* v = reinterpret_cast<double*>(f->vectors) + b * n * n;
    for (int64_t i = 0; i < n * n; i++) v[i] = i / n == i % n;
    for (int sweep = 0; sweep < kSweeps; sweep++) {
      bool rotated = false;
      for (int64_t p = 0; p < n; p++) {
        for (int64_t q = p + 1; q < n; q++) {
          const double between = a[p * n + q];
          pace.after(3 * n);
          if (std::fabs(between) <= 1e-17 * std::sqrt(std::fabs(a[p * n + p] * a[q * n + q])) + kTiny) continue;
          rotated = true;
          const Rotation turn(a[p * n + p], a[q * n + q], between);
          for (int64_t k = 0; k < n; k++) turn.turn(a[k * n + p], a[k * n + q]);
          for (int64_t k = 0; k < n; k++) turn.turn(a[p * n + k], a[q * n + k]);
          for (int64_t k = 0; k < n; k++) turn.turn(v[k * n + p], v[k * n + q]);
        }
      }
      if (!rotated) break;
    }
    for (int64_t i = 0; i < n; i++) values[i] = a[i * n + i];
    sort_columns(values, n, [](double x, double y) { return x < y; }, v, n, n, nullptr);
  }
  return PTLITE_OK;
}

/// Makes columns from `known` on orthonormal to all before them, out of unit vectors.
void complete(double* u, int64_t rows, int64_t cols, int64_t known) {
  int64_t unit = 0;
  ptlite::Pace pace;
  for (int64_t c = known; c < cols; c++) {
    for (; unit < rows; unit++) {
      for (int64_t r = 0; r < rows; r++) u[r * cols + c] = r == unit;
      double norm = 0;
      for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < c; k++) {
          pace.after(2 * rows);
          double dot = 0;
          for (int64_t r = 0; r < rows; r++) dot += u[r * cols + k] * u[r * cols + c];
          for (int64_t r = 0; r < rows; r++) u[r * cols + c] -= dot * u[r * cols + k];
        }
        norm = 0;
        for (int64_t r = 0; r < rows; r++) norm = std::hypot(norm, u[r * cols + c]);
        if (norm < 1e-8) break;
        for (int64_t r = 0; r < rows; r++) u[r * cols + c] /= norm;
      }
      if (norm >= 1e-8) break;
    }
    unit++;
  }
}

int32_t singular_values_run(singular_values_frame* f) {
  const int64_t rows = f->rows, cols = f->cols, width = f->u_cols;
  ptlite::Pace pace;
  for (int64_t b = 0; b < f->batch; b++) {
    double* a = reinterpret_cast<double*>(f->a) + b * rows * cols;
    double* u = reinterpret_cast<double*>(f->u) + b * rows * width;
    double* values = reinterpret_cast<double*>(f->values) + b * cols;
    double* v = reinterpret_cast<double*>(f->v) + b * cols * cols;
    for (int64_t i = 0; i < cols * cols; i++) v[i] = i / cols == i % cols;
    for (int sweep = 0; sweep < kSweeps; sweep++) {
      bool rotated = false;
      for (int64_t p = 0; p < cols; p++) {
        for (int64_t q = p + 1; q < cols; q++) {
          double pp = 0, qq = 0, pq = 0;
          pace.after(2 * rows + cols);
          for (int64_t r = 0; r < rows; r++) {
            pp += a[r * cols + p] * a[r * cols + p];
            qq += a[r * cols + q] * a[r * cols + q];
            pq += a[r * cols + p] * a[r * cols + q];
          }
          if (std::fabs(pq) <= 1e-16 * std::sqrt(pp * qq) + kTiny) continue;
          rotated = true;
          const Rotation turn(pp, qq, pq);
          for (int64_t r = 0; r < rows; r++) turn.turn(a[r * cols + p], a[r * cols + q]);
          for (int64_t r = 0; r < cols; r++) turn.turn(v[r * cols + p], v[r * cols + q]);
        }
      }
      if (!rotated) break;
    }
    double largest = 0;
    for (int64_t c = 0; c < cols; c++) {
      values[c] = 0;
      for (int64_t r = 0; r < rows; r++) values[c] = std::hypot(values[c], a[r * cols + c]);
      largest = std::max(largest, values[c]);
    }
    sort_columns(values, cols, [](double x, double y) { return x > y; }, a, rows, cols, v);
    int64_t rank = 0;
    while (rank < cols && values[rank] > 1e-15 * largest && values[rank] > kTiny) rank++;
    for (int64_t r = 0; r < rows; r++)
      for (int64_t c = 0; c < width; c++) u[r * width + c] = c < rank ? a[r * cols + c] / values[c] : 0;
    complete(u, rows, width, rank);
  }
  return PTLITE_OK;
}

int32_t lu_factor_run(lu_factor_frame* f) {
  const int64_t rows = f->rows, cols = f->cols, steps = std::min(rows, cols);
  ptlite::Pace pace;
  for (int64_t b = 0; b < f->batch; b++) {
    double* a = reinterpret_cast<double*>(f->a) + b * rows * cols;
    int32_t* pivots = reinterpret_cast<int32_t*>(f->pivots) + b * steps;
    int32_t& singular = reinterpret_cast<int32_t*>(f->singular)[b];
    singular = 0;
    for (int64_t k = 0; k < steps; k++) {
      int64_t pivot = k;
      for (int64_t r = k + 1; r < rows; r++)
        if (std::fabs(a[r * cols + k]) > std::fabs(a[pivot * cols + k])) pivot = r;
      pivots[k] = int32_t(pivot + 1);
      if (a[pivot * cols + k] == 0) {
        if (singular == 0) singular = int32_t(k + 1);
        continue;
      }
      if (pivot != k) std::swap_ranges(a + k * cols, a + (k + 1) * cols, a + pivot * cols);
      for (int64_t r = k + 1; r < rows; r++) {
        pace.after(cols - k);
        const double m = a[r * cols + k] /= a[k * cols + k];
        for (int64_t c = k + 1; c < cols; c++) a[r * cols + c] -= m * a[k * cols + c];
      }
    }
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(householder_qr, householder_qr_run)
PTLITE_KERNEL(symmetric_eigen, symmetric_eigen_run)
PTLITE_KERNEL(singular_values, singular_values_run)
PTLITE_KERNEL(lu_factor, lu_factor_run)
