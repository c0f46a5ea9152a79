// isa: AVX2 for AVX512
// Pooling of 8-bit integers: exact sums or largest elements of windows, no conversion to floating point in between.
#include <stdint.h>

#include "frames/quantized_spatial.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "vec/vec.h"

namespace {

constexpr int32_t kQInt8 = 12;
constexpr int64_t kChannelBlock = 64;
// Windows up to this many elements have sums that fit int32.
constexpr int64_t kSmallWindow = int64_t{1} << 22;

// The part of one axis that a window covers: positions first, first + step, ..., count of them, and how many it would
// cover with the padding.
struct Span {
  int64_t first, count, step, padded;
};

Span span_of(const quantized_pool_frame* f, int axis, int64_t o) {
  const int64_t in = f->in_size[axis];
  if (f->adaptive) {
    const int64_t out = f->out_size[axis];
    const int64_t first = o * in / out, end = ((o + 1) * in + out - 1) / out;
    return {first, end - first, 1, end - first};
  }
  const int64_t start = o * f->stride[axis] - f->padding[axis], step = f->dilation[axis];
  if (f->mode == QuantizedPoolMode_max) {
    if (f->clamp_edges) return {start, f->kernel[axis], step, 0};
    const int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
    const int64_t first = start + skipped * step;
    const int64_t inside = first < in ? (in - first + step - 1) / step : 0;
    const int64_t left = f->kernel[axis] - skipped;
    return {first, inside < left ? inside : left, step, 0};
  }
  int64_t end = start + f->kernel[axis];
  if (end > in + f->padding[axis]) end = in + f->padding[axis];
  const int64_t first = start < 0 ? 0 : start, last = end > in ? in : end;
  return {first, last > first ? last - first : 0, 1, end - start};
}

PTLITE_INLINE int64_t clamped(int64_t i, int64_t size) { return i < 0 ? 0 : i >= size ? size - 1 : i; }

// Calls visit(offset) for each element of the window.
template <class F>
PTLITE_INLINE void each_tap(const quantized_pool_frame* f, const Span* s, F visit) {
  for (int64_t a = 0; a < s[0].count; a++) {
    const int64_t d = clamped(s[0].first + a * s[0].step, f->in_size[0]) * f->in_strides[2];
    for (int64_t b = 0; b < s[1].count; b++) {
      const int64_t h = d + clamped(s[1].first + b * s[1].step, f->in_size[1]) * f->in_strides[3];
      for (int64_t c = 0; c < s[2].count; c++) visit(h + clamped(s[2].first + c * s[2].step, f->in_size[2]) * f->in_strides[4]);
    }
  }
}

template <class T>
constexpr int32_t kLowest = T(-1) < T(0) ? -128 : 0;

template <class T>
PTLITE_INLINE T average(int64_t sum, float inverse, int32_t zero) {
  const float q = __builtin_rintf(static_cast<float>(sum) * inverse) + static_cast<float>(zero);
  constexpr float low = kLowest<T>, high = kLowest<T> + 255;
  return static_cast<T>(static_cast<int32_t>(q < low ? low : q > high ? high : q));
}

template <class T>
void block_of_channels(const quantized_pool_frame* f, const Span* s, const T* in, T* out, int64_t n, float inverse, int64_t taps) {
  if (f->mode == QuantizedPoolMode_max) {
    alignas(64) T best[kChannelBlock];
    for (int64_t c = 0; c < n; c++) best[c] = static_cast<T>(kLowest<T>);
    each_tap(f, s, [&](int64_t at) {
      for (int64_t c = 0; c < n; c++) best[c] = in[at + c] > best[c] ? in[at + c] : best[c];
    });
    for (int64_t c = 0; c < n; c++) out[c] = best[c];
    return;
  }
  alignas(64) int32_t sums[kChannelBlock];
  const int32_t start = static_cast<int32_t>(-f->zero_point * taps);
  for (int64_t c = 0; c < n; c++) sums[c] = start;
  each_tap(f, s, [&](int64_t at) {
    for (int64_t c = 0; c < n; c++) sums[c] += in[at + c];
  });
  for (int64_t c = 0; c < n; c++) out[c] = average<T>(sums[c], inverse, f->zero_point);
}

template <class T>
T one_channel(const quantized_pool_frame* f, const Span* s, const T* in, float inverse, int64_t taps) {
  if (f->mode == QuantizedPoolMode_max) {
    T best = static_cast<T>(kLowest<T>);
    each_tap(f, s, [&](int64_t at) { best = in[at] > best ? in[at] : best; });
    return best;
  }
  int64_t sum = -f->zero_point * taps;
  each_tap(f, s, [&](int64_t at) { sum += in[at]; });
  return average<T>(sum, inverse, f->zero_point);
}

template <class T>
void position(const quantized_pool_frame* f, const T* in, T* out, const Span* s) {
  const int64_t taps = s[0].count * s[1].count * s[2].count;
  const int64_t divisor = f->divisor != 0 ? f->divisor : f->include_padding ? s[0].padded * s[1].padded * s[2].padded : taps;
  const float inverse = 1.0f / static_cast<float>(divisor);
  if (f->in_strides[1] == 1 && f->out_strides[1] == 1 && taps <= kSmallWindow) {
    for (int64_t c = 0; c < f->channels; c += kChannelBlock) {
      block_of_channels(f, s, in + c, out + c, f->channels - c < kChannelBlock ? f->channels - c : kChannelBlock, inverse, taps);
    }
  } else {
    for (int64_t c = 0; c < f->channels; c++) out[c * f->out_strides[1]] = one_channel(f, s, in + c * f->in_strides[1], inverse, taps);
  }
}

template <class T>
void pool(const quantized_pool_frame* f) {
  ptlite::Pace pace;
  for (int64_t n = 0; n < f->batch; n++) {
    const T* in = reinterpret_cast<const T*>(f->in) + n * f->in_strides[0];
    T* image = reinterpret_cast<T*>(f->out) + n * f->out_strides[0];
    Span s[3];
    for (int64_t d = 0; d < f->out_size[0]; d++) {
      s[0] = span_of(f, 0, d);
      for (int64_t h = 0; h < f->out_size[1]; h++) {
        s[1] = span_of(f, 1, h);
        for (int64_t w = 0; w < f->out_size[2]; w++) {
          s[2] = span_of(f, 2, w);
          pace.after(s[0].count * s[1].count * s[2].count * f->channels);
          position(f, in, image + d * f->out_strides[2] + h * f->out_strides[3] + w * f->out_strides[4], s);
        }
      }
    }
  }
}

int32_t run(quantized_pool_frame* f) {
  if (f->dtype == kQInt8) pool<int8_t>(f);
  else pool<uint8_t>(f);
  return 0;
}

}  // namespace

PTLITE_KERNEL(quantized_pool, run)
