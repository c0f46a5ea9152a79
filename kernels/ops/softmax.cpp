// Softmax and log-softmax. Along the last dimension a row is one run of vectors; along any other, the vectors lie
// across the dimension.
#include "frames/softmax.h"
#include "isa/kernel.h"
#include "pool/pool.h"

#include <cmath>
#include <limits>

#include "vec/math.h"
#include "vec/vec.h"

namespace {

using ptlite::Vec;

template <class T>
T row_max(const T* x, int64_t n) {
  constexpr int L = Vec<T>::size;
  T best = -std::numeric_limits<T>::infinity();
  int64_t i = 0;
  if (n >= L) {
    Vec<T> v = Vec<T>::load(x);
    for (i = L; i + L <= n; i += L) v = maximum(v, Vec<T>::load(x + i));
    best = reduce_max(v);
  }
  for (; i < n; i++) best = (x[i] > best) | (x[i] != x[i]) ? x[i] : best;
  return best;
}

/// Lanes from `count` on set to zero.
template <class T>
Vec<T> first_lanes(Vec<T> v, int64_t count) {
  T lanes[Vec<T>::size];
  v.store(lanes);
  for (int64_t i = count; i < Vec<T>::size; i++) lanes[i] = 0;
  return Vec<T>::load(lanes);
}

template <class T>
void softmax_row(const T* x, T* out, int64_t n, bool log) {
  constexpr int L = Vec<T>::size;
  const T m = row_max(x, n);
  const Vec<T> top(m);
  Vec<T> sum = Vec<T>::zero();
  for (int64_t i = 0; i < n; i += L) {
    Vec<T> e = exp(Vec<T>::load(x + i, n - i) - top);
    if (n - i < L) e = first_lanes(e, n - i);
    sum += e;
    if (!log) e.store(out + i, n - i);
  }
  const T total = reduce_add(sum);
  if (log) {
    const Vec<T> shift(std::log(total));
    for (int64_t i = 0; i < n; i += L) (Vec<T>::load(x + i, n - i) - top - shift).store(out + i, n - i);
  } else {
    const Vec<T> scale(T(1) / total);
    for (int64_t i = 0; i < n; i += L) (Vec<T>::load(out + i, n - i) * scale).store(out + i, n - i);
  }
}

template <class T>
void softmax_across(const T* x, T* out, int64_t size, int64_t inner, bool log) {
  constexpr int L = Vec<T>::size;
  for (int64_t i = 0; i < inner; i += L) {
    const int64_t lanes = inner - i;
    Vec<T> top(-std::numeric_limits<T>::infinity());
    for (int64_t s = 0; s < size; s++) top = maximum(Vec<T>::load(x + s * inner + i, lanes), top);
    Vec<T> sum = Vec<T>::zero();
    for (int64_t s = 0; s < size; s++) {
      const Vec<T> e = exp(Vec<T>::load(x + s * inner + i, lanes) - top);
      sum += e;
      if (!log) e.store(out + s * inner + i, lanes);
    }
    if (log) {
      const Vec<T> shift = ptlite::log(sum);
      for (int64_t s = 0; s < size; s++) (Vec<T>::load(x + s * inner + i, lanes) - top - shift).store(out + s * inner + i, lanes);
    } else {
      const Vec<T> scale = Vec<T>(T(1)) / sum;
      for (int64_t s = 0; s < size; s++) (Vec<T>::load(out + s * inner + i, lanes) * scale).store(out + s * inner + i, lanes);
    }
  }
}

template <class T>
int32_t softmax(const softmax_frame& f) {
  const T* in = reinterpret_cast<const T*>(f.input);
  T* out = reinterpret_cast<T*>(f.output);
  const int64_t step = f.size * f.inner;
  // an exponential costs about as much as ten additions
  ptlite::parallel_for(f.outer, ptlite::grain_for(10 * step), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; o++) {
      if (f.inner == 1) softmax_row<T>(in + o * step, out + o * step, f.size, f.log != 0);
      else softmax_across<T>(in + o * step, out + o * step, f.size, f.inner, f.log != 0);
    }
  });
  return PTLITE_OK;
}

int32_t softmax_kernel(softmax_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return softmax<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return softmax<double>(*f);
  return PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(softmax, softmax_kernel)
