// Products of activations that are quantized to 8 bits as they come, row by row, with weights of 4 bits: the arithmetic of PyTorch's
// reference (ref_dyn_quant_matmul_4bit_*), whose rounding it keeps.
#include <float.h>
#include <math.h>

#include <algorithm>
#include <atomic>

#include "frames/weight_only.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "vec/half.h"

namespace {

using namespace ptlite;

// A row as integers less their zero point, times `scale`.
struct Quantized {
  int16_t* values;
  float scale;
};

template <class T>
Quantized quantize(const T* row, int64_t k, int16_t* out) {
  const auto number = [](T x) {
    if constexpr (sizeof(T) == 4) return x;
    else return to_float(x);
  };
  float low = FLT_MAX, high = -FLT_MAX;
  for (int64_t i = 0; i < k; i++) {
    low = std::min(low, number(row[i]));
    high = std::max(high, number(row[i]));
  }
  low = std::min(0.0f, low);
  high = std::max(0.0f, high);
  const float qmin = -128, qmax = 127;
  const float steps = low == high ? 1.0f : (qmax - qmin) / (high - low);
  const float from_low = low * steps, from_high = high * steps;
  const float zero = (qmin + from_low) + (qmax + from_high) > 0 ? qmin - from_low : qmax - from_high;
  const auto zero_point = static_cast<int32_t>(lrintf(std::min(std::max(zero, qmin), qmax)));
  for (int64_t i = 0; i < k; i++) {
    const float q = roundf(number(row[i]) * steps) + static_cast<float>(zero_point);
    // what is no number is the least one
    const float saturated = q > qmin ? std::min(q, qmax) : qmin;
    out[i] = static_cast<int16_t>(static_cast<int32_t>(saturated) - zero_point);
  }
  return {out, steps != 0 ? 1.0f / steps : 0.0f};
}

int32_t dot(const int16_t* a, const int16_t* w, int64_t n) {
  int32_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += static_cast<int32_t>(a[i]) * w[i];
  return sum;
}

float bounded(float x, float limit) { return std::min(std::max(x, -limit), limit); }

void put(float* out, float x) { *out = bounded(x, FLT_MAX); }
// cut off, not rounded
void put(bfloat16* out, float x) { out->bits = static_cast<uint16_t>(float_to_bits(bounded(x, bits_to_float(0x7f7f0000))) >> 16); }

template <class T>
int32_t product(const dynamic_int4_mm_frame* f) {
  const int64_t m = f->m, n = f->n, k = f->k, groups = k / f->group;
  const auto* weights = reinterpret_cast<const uint8_t*>(f->w);
  const auto* scales = reinterpret_cast<const float*>(f->scales);
  const auto* bias = reinterpret_cast<const float*>(f->bias);
  auto* out = reinterpret_cast<T*>(f->out);
  auto* integers = static_cast<int16_t*>(ptlite_scratch(static_cast<size_t>(m * k * 2 + m * 4 + 64)));
  if (integers == nullptr) return PTLITE_NO_MEMORY;
  auto* row_scales = reinterpret_cast<float*>(integers + (m * k + 1) / 2 * 2);
  for (int64_t r = 0; r < m; r++) row_scales[r] = quantize(reinterpret_cast<const T*>(f->a) + r * k, k, integers + r * k).scale;
  std::atomic<bool> done{true};
  parallel_for(n, grain_for(m * k / 8 + k), [&](int64_t begin, int64_t end) {
    auto* row = static_cast<int16_t*>(range_scratch(static_cast<size_t>(k) * 2));
    if (row == nullptr) {
      done = false;
      return;
    }
    for (int64_t c = begin; c < end; c++) {
      const uint8_t* bytes = weights + c * (k / 2);
      for (int64_t i = 0; i < k / 2; i++) {
        row[2 * i] = static_cast<int16_t>((bytes[i] & 15) - 8);
        row[2 * i + 1] = static_cast<int16_t>((bytes[i] >> 4) - 8);
      }
      for (int64_t r = 0; r < m; r++) {
        float sum = 0;
        for (int64_t g = 0; g < groups; g++) {
          const float part = static_cast<float>(dot(integers + r * k + g * f->group, row + g * f->group, f->group)) * scales[c * groups + g];
          sum += part;
        }
        const float scaled = sum * row_scales[r];
        put(out + r * n + c, bias == nullptr ? scaled : scaled + bias[c]);
      }
    }
  });
  return done ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t dynamic_int4_mm(dynamic_int4_mm_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return product<float>(f);
  if (f->dtype == PTLITE_BFLOAT16) return product<bfloat16>(f);
  return PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(dynamic_int4_mm, dynamic_int4_mm)
