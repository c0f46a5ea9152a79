// Softmax, or its logarithm, of one contiguous row.
#pragma once

#include <stdint.h>

#include <cmath>
#include <limits>

#include "vec/math.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

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

/// The highest element of a row, and the sum of exponentials relative to it.
template <class T>
struct RowSum {
  T top;
  T total;
};

template <class T>
RowSum<T> softmax_row(const T* x, T* out, int64_t n, bool log) {
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
  return {m, total};
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
