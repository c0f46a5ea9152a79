// prelu on 8-bit integers.
#include <stdint.h>

#include "frames/quantized_spatial.h"
#include "dispatch/kernel.h"

namespace {

constexpr int32_t kQInt8 = 12;

template <class T>
void prelu(const quantized_prelu_frame* f) {
  const auto* in = reinterpret_cast<const T*>(f->in);
  const auto* weight = reinterpret_cast<const T*>(f->weight);
  auto* out = reinterpret_cast<T*>(f->out);
  const float low = T(-1) < T(0) ? -128.0f : 0.0f, high = low + 255.0f;
  // copies: a store of bytes might change the frame for all the compiler knows
  const float zero = static_cast<float>(f->out_zero), multiplier = f->multiplier;
  const int32_t in_zero = f->zero_point, one = f->one;
  const int64_t inner = f->inner;
  for (int64_t i = 0; i < f->outer * f->channels; i++, in += inner, out += inner) {
    const int32_t slope = weight[i % f->channels * f->weight_step] - f->weight_zero;
    for (int64_t j = 0; j < inner; j++) {
      const int32_t x = in[j] - in_zero;
      const float q = __builtin_rintf(static_cast<float>(x * (x > 0 ? one : slope)) * multiplier) + zero;
      out[j] = static_cast<T>(static_cast<int32_t>(q < low ? low : q > high ? high : q));
    }
  }
}

int32_t run(quantized_prelu_frame* f) {
  if (f->dtype == kQInt8) prelu<int8_t>(f);
  else prelu<uint8_t>(f);
  return 0;
}

}  // namespace

PTLITE_KERNEL(quantized_prelu, run)
