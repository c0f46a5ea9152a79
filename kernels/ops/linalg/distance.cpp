// isa: AVX2 for AVX512
// Pairwise distances of any order, and cross products.
#include "frames/linalg.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"

#include <cmath>
#include <limits>

#include "vec/vec.h"

namespace {

using ptlite::Vec;

/// Norm of x - y.
template <class T>
T distance(const T* x, const T* y, int64_t n, double order) {
  const auto at = [&](int64_t i) { return std::fabs(x[i] - y[i]); };
  if (order == 2) {
    constexpr int L = Vec<T>::size;
    Vec<T> sum = Vec<T>::zero();
    for (int64_t i = 0; i < n; i += L) {
      const Vec<T> v = Vec<T>::load(x + i, n - i) - Vec<T>::load(y + i, n - i);
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
int32_t cdist(const cdist_frame& f) {
  const T* a = reinterpret_cast<const T*>(f.a);
  const T* b = reinterpret_cast<const T*>(f.b);
  T* out = reinterpret_cast<T*>(f.output);
  ptlite::Pace pace;
  for (int64_t i = 0; i < f.batch; i++, a += f.m * f.size, b += f.n * f.size) {
    for (int64_t r = 0; r < f.m; r++) {
      for (int64_t c = 0; c < f.n; c++) {
        *out++ = distance<T>(a + r * f.size, b + c * f.size, f.size, f.order);
        pace.after(f.size);
      }
    }
  }
  return PTLITE_OK;
}

int32_t cdist_kernel(cdist_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return cdist<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return cdist<double>(*f);
  return PTLITE_NO_DTYPE;
}

template <class T>
int32_t cross(const cross_frame& f) {
  const T* a = reinterpret_cast<const T*>(f.a);
  const T* b = reinterpret_cast<const T*>(f.b);
  T* out = reinterpret_cast<T*>(f.output);
  const int64_t n = f.inner;
  for (int64_t o = 0; o < f.outer; o++, a += 3 * n, b += 3 * n, out += 3 * n) {
    for (int64_t i = 0; i < n; i++) {
      for (int c = 0; c < 3; c++) {
        const int64_t p = i + (c + 1) % 3 * n, q = i + (c + 2) % 3 * n;
        out[i + c * n] = T(a[p] * b[q] - a[q] * b[p]);
      }
    }
  }
  return PTLITE_OK;
}

int32_t cross_kernel(cross_frame* f) {
  switch (f->dtype) {
    PTLITE_HELD_CASE(PTLITE_FLOAT32, PTLITE_NO_DTYPE) return cross<float>(*f);
    PTLITE_HELD_CASE(PTLITE_FLOAT64, PTLITE_NO_DTYPE) return cross<double>(*f);
    PTLITE_HELD_CASE(PTLITE_UINT8, PTLITE_NO_DTYPE) return cross<uint8_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT8, PTLITE_NO_DTYPE) return cross<int8_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT16, PTLITE_NO_DTYPE) return cross<int16_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT32, PTLITE_NO_DTYPE) return cross<uint32_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT64, PTLITE_NO_DTYPE) return cross<uint64_t>(*f);
    default: return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(cdist, cdist_kernel)
PTLITE_KERNEL(cross, cross_kernel)
