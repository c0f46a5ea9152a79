// Batch normalization of 8-bit integers with channels innermost: a product and a sum per channel, in float32.
#include <math.h>
#include <string.h>

#include "frames/quantized.h"
#include "dispatch/kernel.h"
#include "ops/quantized/requantize.h"
#include "pool/pool.h"
#include "vec/vec.h"
#include "primitives/int8.h"

namespace {

constexpr int32_t kQInt8 = 12;

using F = ptlite::Vec<float>;
using I = ptlite::Vec<int32_t>;

// factors[c] and summands[c] take an integer less its zero point to the result's, in PyTorch's order of roundings.
void steps_of(const quantized_batch_norm_frame& f, float* factors, float* summands) {
  const auto* weight = reinterpret_cast<const float*>(f.weight);
  const auto* bias = reinterpret_cast<const float*>(f.bias);
  const auto* mean = reinterpret_cast<const float*>(f.mean);
  const auto* variance = reinterpret_cast<const float*>(f.variance);
  for (int64_t c = 0; c < f.channels; c++) {
    const float deviation = sqrtf(variance[c] + static_cast<float>(f.eps));
    const float inverse = static_cast<float>(1.0 / deviation);
    factors[c] = static_cast<float>(static_cast<double>(inverse * weight[c]) * (f.in_scale / f.out_scale));
    summands[c] = static_cast<float>(static_cast<double>(bias[c] - mean[c] * inverse * weight[c]) / f.out_scale);
  }
}

template <class T>
class Norm {
 public:
  Norm(const quantized_batch_norm_frame& f, int32_t lowest, int32_t highest)
      : in_zero_(f.in_zero),
        out_zero_(f.out_zero),
        low_(static_cast<float>((f.relu != 0 && f.out_zero > lowest ? f.out_zero : lowest) - f.out_zero)),
        high_(static_cast<float>(highest - f.out_zero)) {}

  PTLITE_INLINE void run(const T* in, T* out, const float* factors, const float* summands, int64_t n) const {
    int64_t c = 0;
    for (; c + F::size <= n; c += F::size) of(ptlite::widen(in + c), F::load(factors + c), F::load(summands + c)).store_to(out + c);
    if (c == n) return;
    T some[16] = {};
    memcpy(some, in + c, static_cast<size_t>(n - c));
    of(ptlite::widen(some), F::load(factors + c, n - c), F::load(summands + c, n - c)).store_to(some);
    memcpy(out + c, some, static_cast<size_t>(n - c));
  }

 private:
  PTLITE_INLINE I of(I x, F factor, F summand) const {
    const F y = ptlite::convert<float>(x - in_zero_) * factor + summand;
    // what is no number becomes the lowest; the bounds are integers, so that clamping before the rounding gives the same
    return ptlite::nearest_int(fast_min(fast_max(y, low_), high_)) + out_zero_;
  }

  I in_zero_, out_zero_;
  F low_, high_;
};

template <class T>
void normalize(const quantized_batch_norm_frame& f, const float* factors, const float* summands, const Norm<T>& shared) {
  ptlite::parallel_for(f.rows, ptlite::grain_for(2 * f.channels), [&](int64_t begin, int64_t end) {
    // a copy, which no store can change
    const Norm<T> norm = shared;
    const auto* in = reinterpret_cast<const T*>(f.in);
    auto* out = reinterpret_cast<T*>(f.out);
    const int64_t channels = f.channels;
    for (int64_t row = begin; row < end; row++) norm.run(in + row * channels, out + row * channels, factors, summands, channels);
  });
}

int32_t quantized_batch_norm(quantized_batch_norm_frame* f) {
  auto* factors = static_cast<float*>(ptlite_scratch(static_cast<size_t>(f->channels) * 8));
  if (factors == nullptr) return PTLITE_NO_MEMORY;
  float* summands = factors + f->channels;
  steps_of(*f, factors, summands);
  if (f->dtype == kQInt8) normalize(*f, factors, summands, Norm<int8_t>(*f, -128, 127));
  else normalize(*f, factors, summands, Norm<uint8_t>(*f, 0, 255));
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(quantized_batch_norm, quantized_batch_norm)
