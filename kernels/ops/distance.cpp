// Vector norms and pairwise distances of any order.
#include "isa/kernel.h"

#include <cmath>
#include <limits>

#include "vec/vec.h"

namespace {

using ptlite::Vec;

/// Norm of x, or of x - y where y is given.
template <class T, bool kDifference>
T norm(const T* x, const T* y, int64_t n, double order) {
  const auto at = [&](int64_t i) { return std::fabs(kDifference ? x[i] - y[i] : x[i]); };
  if (order == 2) {
    constexpr int L = Vec<T>::size;
    Vec<T> sum = Vec<T>::zero();
    for (int64_t i = 0; i < n; i += L) {
      Vec<T> v = Vec<T>::load(x + i, n - i);
      if (kDifference) v -= Vec<T>::load(y + i, n - i);
      sum = fma(v, v, sum);
    }
    return std::sqrt(reduce_add(sum));
  }
  if (order == 1) {
    T sum = 0;
    for (int64_t i = 0; i < n; i++) sum += at(i);
    return sum;
  }
  if (order == 0) {
    T count = 0;
    for (int64_t i = 0; i < n; i++) count += at(i) != 0 ? T(1) : T(0);
    return count;
  }
  if (std::isinf(order)) {
    T best = order > 0 ? T(0) : std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < n; i++) {
      const T v = at(i);
      if ((order > 0 ? v > best : v < best) || v != v) best = v;
    }
    return best;
  }
  T sum = 0;
  for (int64_t i = 0; i < n; i++) sum += std::pow(at(i), T(order));
  return std::pow(sum, T(1 / order));
}

template <class T>
int32_t vector_norm(const vector_norm_frame& f) {
  const T* in = reinterpret_cast<const T*>(f.input);
  T* out = reinterpret_cast<T*>(f.output);
  for (int64_t r = 0; r < f.rows; r++) out[r] = norm<T, false>(in + r * f.size, nullptr, f.size, f.order);
  return PTLITE_OK;
}

template <class T>
int32_t cdist(const cdist_frame& f) {
  const T* a = reinterpret_cast<const T*>(f.a);
  const T* b = reinterpret_cast<const T*>(f.b);
  T* out = reinterpret_cast<T*>(f.output);
  for (int64_t i = 0; i < f.batch; i++, a += f.m * f.size, b += f.n * f.size) {
    for (int64_t r = 0; r < f.m; r++) {
      for (int64_t c = 0; c < f.n; c++) *out++ = norm<T, true>(a + r * f.size, b + c * f.size, f.size, f.order);
    }
  }
  return PTLITE_OK;
}

int32_t vector_norm_kernel(vector_norm_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return vector_norm<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return vector_norm<double>(*f);
  return PTLITE_NO_DTYPE;
}

int32_t cdist_kernel(cdist_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return cdist<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return cdist<double>(*f);
  return PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(vector_norm, vector_norm_kernel)
PTLITE_KERNEL(cdist, cdist_kernel)
