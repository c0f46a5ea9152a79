// Batch, layer and group normalisation. Statistics take two passes: mean first, then squared distances from it.
#include "frames/norm.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <cmath>

#include "vec/vec.h"

namespace {

using ptlite::Vec;

template <class T>
T* pointer(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

template <class T>
T sum(const T* x, int64_t n) {
  constexpr int L = Vec<T>::size;
  Vec<T> a = Vec<T>::zero(), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    a += Vec<T>::load(x + i);
    b += Vec<T>::load(x + i + L);
    c += Vec<T>::load(x + i + 2 * L);
    d += Vec<T>::load(x + i + 3 * L);
  }
  for (; i < n; i += L) a += Vec<T>::load(x + i, n - i);
  return reduce_add((a + b) + (c + d));
}

template <class T>
T squares(const T* x, int64_t n, T mean) {
  constexpr int L = Vec<T>::size;
  const Vec<T> m(mean);
  Vec<T> a = Vec<T>::zero(), b = a;
  int64_t i = 0;
  for (; i + 2 * L <= n; i += 2 * L) {
    const Vec<T> p = Vec<T>::load(x + i) - m, q = Vec<T>::load(x + i + L) - m;
    a = fma(p, p, a);
    b = fma(q, q, b);
  }
  T rest = 0;
  for (; i < n; i++) rest += (x[i] - mean) * (x[i] - mean);
  return reduce_add(a + b) + rest;
}

/// out = in * scale + shift
template <class T>
void affine(const T* in, T* out, int64_t n, T scale, T shift) {
  constexpr int L = Vec<T>::size;
  const Vec<T> s(scale), b(shift);
  int64_t i = 0;
  for (; i + L <= n; i += L) fma(Vec<T>::load(in + i), s, b).store(out + i);
  if (i < n) fma(Vec<T>::load(in + i, n - i), s, b).store(out + i, n - i);
}

/// out = (in - mean) * scale + shift: exact where the input equals the mean.
template <class T>
void centred(const T* in, T* out, int64_t n, T mean, T scale, T shift) {
  constexpr int L = Vec<T>::size;
  const Vec<T> m(mean), s(scale), b(shift);
  for (int64_t i = 0; i < n; i += L) fma(Vec<T>::load(in + i, n - i) - m, s, b).store(out + i, n - i);
}

template <class T>
int32_t batch_norm(const batch_norm_frame& f) {
  const T* mean = pointer<const T>(f.mean);
  const T* var = pointer<const T>(f.var);
  const T* weight = pointer<const T>(f.weight);
  const T* bias = pointer<const T>(f.bias);
  T* scale = static_cast<T*>(ptlite_scratch(size_t(2 * f.channels) * sizeof(T)));
  if (scale == nullptr) return PTLITE_NO_MEMORY;
  T* shift = scale + f.channels;
  for (int64_t c = 0; c < f.channels; c++) {
    const T inverse = f.inverted ? var[c] : T(1) / std::sqrt(var[c] + T(f.eps));
    scale[c] = weight == nullptr ? inverse : inverse * weight[c];
    shift[c] = (bias == nullptr ? T(0) : bias[c]) - mean[c] * scale[c];
  }
  const T* in = pointer<const T>(f.input);
  T* out = pointer<T>(f.output);
  for (int64_t o = 0; o < f.outer; o++) {
    if (f.inner == 1) {
      for (int64_t c = 0; c < f.channels; c++) out[c] = in[c] * scale[c] + shift[c];
      in += f.channels;
      out += f.channels;
      continue;
    }
    for (int64_t c = 0; c < f.channels; c++, in += f.inner, out += f.inner) affine<T>(in, out, f.inner, scale[c], shift[c]);
  }
  return PTLITE_OK;
}

template <class T>
int32_t batch_norm_stats(const batch_norm_stats_frame& f) {
  const T* in = pointer<const T>(f.input);
  T* mean = pointer<T>(f.mean);
  T* invstd = pointer<T>(f.invstd);
  T* running_mean = pointer<T>(f.running_mean);
  T* running_var = pointer<T>(f.running_var);
  const double count = double(f.outer) * double(f.inner);
  const int64_t step = f.channels * f.inner;
  for (int64_t c = 0; c < f.channels; c++) {
    double total = 0, square = 0;
    for (int64_t o = 0; o < f.outer; o++) total += double(sum<T>(in + o * step + c * f.inner, f.inner));
    const double m = total / count;
    for (int64_t o = 0; o < f.outer; o++) square += double(squares<T>(in + o * step + c * f.inner, f.inner, T(m)));
    mean[c] = T(m);
    invstd[c] = T(1 / std::sqrt(square / count + f.eps));
    if (running_mean != nullptr) running_mean[c] = T(f.momentum * m + (1 - f.momentum) * double(running_mean[c]));
    if (running_var != nullptr) running_var[c] = T(f.momentum * (square / (count - 1)) + (1 - f.momentum) * double(running_var[c]));
  }
  return PTLITE_OK;
}

template <class T>
void moments(const T* x, int64_t n, double eps, T& mean, T& rstd) {
  mean = sum<T>(x, n) / T(n);
  rstd = T(1) / std::sqrt(squares<T>(x, n, mean) / T(n) + T(eps));
}

template <class T>
int32_t layer_norm(const layer_norm_frame& f) {
  constexpr int L = Vec<T>::size;
  const T* weight = pointer<const T>(f.weight);
  const T* bias = pointer<const T>(f.bias);
  T* means = pointer<T>(f.mean);
  T* rstds = pointer<T>(f.rstd);
  ptlite::parallel_for(f.rows, ptlite::grain_for(3 * f.size), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
      const T* in = pointer<const T>(f.input) + r * f.size;
      T* out = pointer<T>(f.output) + r * f.size;
      T mean, rstd;
      moments<T>(in, f.size, f.eps, mean, rstd);
      if (means != nullptr) means[r] = mean;
      if (rstds != nullptr) rstds[r] = rstd;
      // what equals the mean becomes 0, not what rounding of mean * rstd leaves
      const Vec<T> middle(mean), scale(rstd);
      for (int64_t i = 0; i < f.size; i += L) {
        Vec<T> v = (Vec<T>::load(in + i, f.size - i) - middle) * scale;
        if (weight != nullptr) v *= Vec<T>::load(weight + i, f.size - i);
        if (bias != nullptr) v += Vec<T>::load(bias + i, f.size - i);
        v.store(out + i, f.size - i);
      }
    }
  });
  return PTLITE_OK;
}

template <class T>
int32_t group_norm(const group_norm_frame& f) {
  const T* weight = pointer<const T>(f.weight);
  const T* bias = pointer<const T>(f.bias);
  T* means = pointer<T>(f.mean);
  T* rstds = pointer<T>(f.rstd);
  const int64_t size = f.channels * f.inner;
  for (int64_t r = 0; r < f.batch * f.groups; r++) {
    const T* in = pointer<const T>(f.input) + r * size;
    T* out = pointer<T>(f.output) + r * size;
    T mean, rstd;
    moments<T>(in, size, f.eps, mean, rstd);
    if (means != nullptr) means[r] = mean;
    if (rstds != nullptr) rstds[r] = rstd;
    for (int64_t c = 0; c < f.channels; c++, in += f.inner, out += f.inner) {
      const int64_t channel = r % f.groups * f.channels + c;
      const T scale = weight == nullptr ? rstd : rstd * weight[channel];
      centred<T>(in, out, f.inner, mean, scale, bias == nullptr ? T(0) : bias[channel]);
    }
  }
  return PTLITE_OK;
}

#define PTLITE_FLOAT_KERNEL(name)                                    \
  int32_t name##_kernel(name##_frame* f) {                           \
    if (f->dtype == PTLITE_FLOAT32) return name<float>(*f);          \
    if (f->dtype == PTLITE_FLOAT64) return name<double>(*f);         \
    return PTLITE_NO_DTYPE;                                          \
  }

PTLITE_FLOAT_KERNEL(batch_norm)
PTLITE_FLOAT_KERNEL(batch_norm_stats)
PTLITE_FLOAT_KERNEL(layer_norm)
PTLITE_FLOAT_KERNEL(group_norm)

}  // namespace

PTLITE_KERNEL(batch_norm, batch_norm_kernel)
PTLITE_KERNEL(batch_norm_stats, batch_norm_stats_kernel)
PTLITE_KERNEL(layer_norm, layer_norm_kernel)
PTLITE_KERNEL(group_norm, group_norm_kernel)
