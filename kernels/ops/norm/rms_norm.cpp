// Root mean square normalisation (Zhang and Sennrich, "Root Mean Square Layer Normalization").
#include "frames/norm.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"

#include <cmath>

#include "vec/half.h"
#include "vec/vec.h"

namespace {

using ptlite::bfloat16;
using ptlite::float16;
using ptlite::Vec;

// Halves are computed in float32.
Vec<float> load(const float* p, int64_t count) { return ptlite::load_float(p, count); }
Vec<float> load(const float16* p, int64_t count) { return ptlite::load_float(p, count); }
Vec<float> load(const bfloat16* p, int64_t count) { return ptlite::load_float(p, count); }
Vec<double> load(const double* p, int64_t count) { return Vec<double>::load(p, count); }
void store(float* p, Vec<float> a, int64_t count) { ptlite::store_float(p, a, count); }
void store(float16* p, Vec<float> a, int64_t count) { ptlite::store_float(p, a, count); }
void store(bfloat16* p, Vec<float> a, int64_t count) { ptlite::store_float(p, a, count); }
void store(double* p, Vec<double> a, int64_t count) { a.store(p, count); }

/// The sum of the squares of n elements, in the type that they are computed in.
template <class V, class T>
typename V::Scalar sum_of_squares(const T* x, int64_t n) {
  constexpr int L = V::size;
  V sums[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
  int64_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    for (int j = 0; j < 4; j++) {
      const V v = load(x + i + j * L, L);
      sums[j] = fma(v, v, sums[j]);
    }
  }
  for (; i < n; i += L) {
    const V v = load(x + i, n - i);
    sums[0] = fma(v, v, sums[0]);
  }
  return reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

template <class T, class W, class Number>
int32_t rms_norm(const rms_norm_frame& f) {
  using V = Vec<Number>;
  const T* input = reinterpret_cast<const T*>(f.input);
  T* output = reinterpret_cast<T*>(f.output);
  const W* weight = reinterpret_cast<const W*>(f.weight);
  Number* rstd = reinterpret_cast<Number*>(f.rstd);
  const int64_t rows = f.sizes[0] * f.sizes[1] * f.sizes[2];
  ptlite::parallel_for(rows, ptlite::grain_for(2 * f.size), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
      const int64_t outer = r / f.sizes[0];
      const T* in = input + r % f.sizes[0] * f.strides[0] + outer % f.sizes[1] * f.strides[1] + outer / f.sizes[1] * f.strides[2];
      T* out = output + r * f.size;
      const Number inverse = Number(1) / std::sqrt(sum_of_squares<V>(in, f.size) / Number(f.size) + Number(f.eps));
      if (rstd != nullptr) rstd[r] = inverse;
      const V scale(inverse);
      for (int64_t i = 0; i < f.size; i += V::size) {
        V v = load(in + i, f.size - i) * scale;
        if (weight != nullptr) v *= load(weight + i, f.size - i);
        store(out + i, v, f.size - i);
      }
    }
  });
  return PTLITE_OK;
}

template <class Half>
int32_t half_norm(const rms_norm_frame& f) {
  return f.weight_dtype == PTLITE_FLOAT32 ? rms_norm<Half, float, float>(f) : rms_norm<Half, Half, float>(f);
}

int32_t rms_norm_kernel(rms_norm_frame* f) {
  switch (f->dtype) {
    case PTLITE_FLOAT32:
      return rms_norm<float, float, float>(*f);
    case PTLITE_FLOAT64:
      return rms_norm<double, double, double>(*f);
    case PTLITE_FLOAT16:
      return half_norm<float16>(*f);
    case PTLITE_BFLOAT16:
      return half_norm<bfloat16>(*f);
    default:
      return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(rms_norm, rms_norm_kernel)
