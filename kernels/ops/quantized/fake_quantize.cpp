// float32 values as a quantized tensor would hold them.
#include <string.h>

#include "frames/fake_quantize.h"
#include "dispatch/kernel.h"
#include "ops/quantized/requantize.h"
#include "pool/pool.h"
#include "vec/vec.h"

namespace {

using namespace ptlite;
using F = Vec<float>;

struct Channel {
  float inverse, scale, zero, min, max;

  // `inside` is 1 where nothing was clamped. What is no number counts as below the least.
  PTLITE_INLINE F operator()(F x, F& inside) const {
    // whole numbers lie this far apart beyond it, and need no rounding
    const F wide(8388608.0f);
    F q = x * F(inverse) + F(zero);
    const F whole = convert<float>(nearest_int(fast_min(fast_max(q, F(0) - wide), wide)));
    q = select((q < wide) & (q > F(0) - wide), whole, q);
    inside = select((q >= F(min)) & (q <= F(max)), F(1), F(0));
    return (fast_min(fast_max(q, F(min)), F(max)) - F(zero)) * F(scale);
  }
};

void run(const Channel& channel, const float* in, float* out, uint8_t* mask, int64_t n) {
  for (int64_t i = 0; i < n; i += F::size) {
    F inside;
    channel(F::load(in + i, n - i), inside).store(out + i, n - i);
    if (mask == nullptr) continue;
    uint8_t bytes[F::size];
    convert<int32_t>(inside).store_to(bytes);
    memcpy(mask + i, bytes, static_cast<size_t>(n - i < F::size ? n - i : F::size));
  }
}

int32_t fake_quantize(fake_quantize_frame* f) {
  const auto* scales = reinterpret_cast<const float*>(f->scales);
  const auto* zeros = reinterpret_cast<const float*>(f->zeros);
  parallel_for(f->outer * f->channels, grain_for(f->inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const int64_t c = i % f->channels, at = i * f->inner;
      const Channel channel{1.0f / scales[c], scales[c], zeros[c], f->min, f->max};
      auto* mask = f->mask == 0 ? nullptr : reinterpret_cast<uint8_t*>(f->mask) + at;
      run(channel, reinterpret_cast<const float*>(f->in) + at, reinterpret_cast<float*>(f->out) + at, mask, f->inner);
    }
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(fake_quantize, fake_quantize)
