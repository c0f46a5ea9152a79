// Conversion between float32 and quantized integers.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "frames/quantized.h"
#include "dispatch/kernel.h"
#include "ops/quantized/quantizer.h"
#include "ops/quantized/requantize.h"
#include "pool/pool.h"
#include "vec/vec.h"

namespace {

constexpr int32_t kQInt8 = 12;
constexpr int32_t kQUInt8 = 13;

using ptlite::Quantizer;
using Floats = ptlite::Vec<float>;
using Ints = ptlite::Vec<int32_t>;

template <class T>
void quantize_bytes(const quantize_frame* f) {
  const Quantizer quantizer(f->inv_scale, f->zero_point, T(-1) < T(0));
  ptlite::parallel_for(f->n, ptlite::grain_for(1), [&](int64_t i, int64_t end) {
    quantizer.run(reinterpret_cast<const float*>(f->in), reinterpret_cast<T*>(f->out), i, end);
  });
}

void quantize_wide(const float* in, int32_t* out, int64_t n, float inv_scale, int32_t zero_point) {
  // beyond 2^23 a float is integral, so clamping before the conversion loses nothing
  constexpr double low = -2147483648.0, high = 2147483647.0;
  for (int64_t i = 0; i < n; i++) {
    const float whole = __builtin_rintf(in[i] * inv_scale);
    double q = whole < 0x1p63f ? static_cast<double>(whole) + zero_point : low;
    q = q > low ? q : low;
    q = q < high ? q : high;
    out[i] = static_cast<int32_t>(q);
  }
}

int32_t quantize(quantize_frame* f) {
  if (f->dtype == kQUInt8) quantize_bytes<uint8_t>(f);
  else if (f->dtype == kQInt8) quantize_bytes<int8_t>(f);
  else quantize_wide(reinterpret_cast<const float*>(f->in), reinterpret_cast<int32_t*>(f->out), f->n, f->inv_scale, f->zero_point);
  return 0;
}

// Pixels that are quantized before they are interleaved.
constexpr int64_t kPixels = 64;

// `count` pixels, each plane `step` apart, to rows of up to four bytes, which make one word.
template <int channels>
void interleave_words(const float* in, int64_t step, int64_t count, const Quantizer& shared, uint8_t* out) {
  const Quantizer quantizer = shared;
  uint32_t words[kPixels];
  for (int64_t p = 0; p < count; p += Floats::size) {
    Ints word = Ints::zero();
#pragma GCC unroll 4
    for (int c = 0; c < channels; c++) {
      word = word | (quantizer(Floats::load(in + c * step + p, count - p)) & Ints(255)) << 8 * c;
    }
    word.store(reinterpret_cast<int32_t*>(words) + p);
  }
  // a word is written whole where the pixels behind it cover what is too much
  int64_t p = 0;
  for (; p * channels + 4 <= count * channels; p++) memcpy(out + p * channels, words + p, 4);
  for (; p < count; p++) memcpy(out + p * channels, words + p, static_cast<size_t>(channels));
}

void interleave_bytes(const float* in, int64_t step, int64_t channels, int64_t count, const Quantizer& quantizer, uint8_t* out) {
  uint8_t bytes[kPixels];
  for (int64_t c = 0; c < channels; c++) {
    for (int64_t p = 0; p < count; p += Floats::size) quantizer(Floats::load(in + c * step + p, count - p)).store_to(bytes + p);
    for (int64_t p = 0; p < count; p++) out[p * channels + c] = bytes[p];
  }
}

int32_t quantize_channels_last(quantize_channels_last_frame* f) {
  const Quantizer quantizer(f->inv_scale, f->zero_point, f->dtype == kQInt8);
  const int64_t channels = f->channels, pixels = f->pixels, blocks = (pixels + kPixels - 1) / kPixels;
  ptlite::parallel_for(f->batch * blocks, ptlite::grain_for(channels * kPixels), [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; block++) {
      const int64_t first = block % blocks * kPixels, count = pixels - first < kPixels ? pixels - first : kPixels;
      const auto* in = reinterpret_cast<const float*>(f->in) + block / blocks * channels * pixels + first;
      auto* out = reinterpret_cast<uint8_t*>(f->out) + (block / blocks * pixels + first) * channels;
      if (channels == 1) interleave_words<1>(in, pixels, count, quantizer, out);
      else if (channels == 3) interleave_words<3>(in, pixels, count, quantizer, out);
      else if (channels == 4) interleave_words<4>(in, pixels, count, quantizer, out);
      else interleave_bytes(in, pixels, channels, count, quantizer, out);
    }
  });
  return 0;
}

template <class T>
void dequantize_from(const T* in, float* out, int64_t n, float scale, float zero_point) {
  ptlite::parallel_for(n, ptlite::grain_for(1), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) out[i] = (static_cast<float>(in[i]) - zero_point) * scale;
  });
}

int32_t dequantize(dequantize_frame* f) {
  auto* out = reinterpret_cast<float*>(f->out);
  if (f->dtype == kQUInt8) dequantize_from(reinterpret_cast<const uint8_t*>(f->in), out, f->n, f->scale, f->zero_point);
  else if (f->dtype == kQInt8) dequantize_from(reinterpret_cast<const int8_t*>(f->in), out, f->n, f->scale, f->zero_point);
  else dequantize_from(reinterpret_cast<const int32_t*>(f->in), out, f->n, f->scale, f->zero_point);
  return 0;
}

int32_t dequantize_nibbles(dequantize_nibbles_frame* f) {
  const auto* in = reinterpret_cast<const uint8_t*>(f->in);
  auto* out = reinterpret_cast<float*>(f->out);
  for (int64_t i = 0; i < f->n; i++) {
    const int32_t q = i % 2 == 0 ? in[i / 2] & 15 : in[i / 2] >> 4;
    out[i] = (static_cast<float>(q) - f->zero_point) * f->scale;
  }
  return 0;
}

int32_t float_range(float_range_frame* f) {
  const auto* in = reinterpret_cast<const float*>(f->in);
  float min = in[0], max = in[0];
  for (int64_t i = 0; i < f->n; i++) {
    min = in[i] < min ? in[i] : min;
    max = in[i] > max ? in[i] : max;
  }
  f->min = min;
  f->max = max;
  return 0;
}

}  // namespace

PTLITE_KERNEL(quantize, quantize)
PTLITE_KERNEL(quantize_channels_last, quantize_channels_last)
PTLITE_KERNEL(dequantize, dequantize)
PTLITE_KERNEL(dequantize_nibbles, dequantize_nibbles)
PTLITE_KERNEL(float_range, float_range)
