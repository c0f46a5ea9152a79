// Depthwise convolution of 8-bit integers over channels-last input, exact in int32.
#include <string.h>

#include "frames/quantized.h"
#include "isa/kernel.h"
#include "ops/requantize.h"

namespace {

constexpr int32_t kQInt8 = 12;
constexpr int64_t kChannelBlock = 64;

template <class T>
void pixel(const quantized_depthwise_frame* f, const T* image, const int64_t* first, T* out) {
  const auto* w = reinterpret_cast<const int16_t*>(f->w);
  const auto* scales = reinterpret_cast<const float*>(f->scales);
  const auto* bias = reinterpret_cast<const int32_t*>(f->bias);
  const int32_t zero = f->a_zero;
  alignas(64) int32_t sums[kChannelBlock];
  for (int64_t c0 = 0; c0 < f->channels; c0 += kChannelBlock) {
    const int64_t n = f->channels - c0 < kChannelBlock ? f->channels - c0 : kChannelBlock;
    memset(sums, 0, sizeof(sums));
    int64_t tap = 0;
    for (int64_t kd = 0; kd < f->kernel[0]; kd++) {
      const int64_t id = first[0] + kd * f->dilation[0];
      for (int64_t kh = 0; kh < f->kernel[1]; kh++) {
        const int64_t ih = first[1] + kh * f->dilation[1];
        for (int64_t kw = 0; kw < f->kernel[2]; kw++, tap++) {
          const int64_t iw = first[2] + kw * f->dilation[2];
          if (id < 0 || id >= f->in_size[0] || ih < 0 || ih >= f->in_size[1] || iw < 0 || iw >= f->in_size[2]) continue;
          const T* in = image + ((id * f->in_size[1] + ih) * f->in_size[2] + iw) * f->channels + c0;
          const int16_t* taps = w + tap * f->channels + c0;
          for (int64_t c = 0; c < n; c++) sums[c] += (in[c] - zero) * taps[c];
        }
      }
    }
    ptlite::requantize(sums, bias + c0, scales + c0, out + c0, n, {f->out_zero, f->min, f->max});
  }
}

template <class T>
void all_pixels(const quantized_depthwise_frame* f) {
  const auto* in = reinterpret_cast<const T*>(f->a);
  auto* out = reinterpret_cast<T*>(f->out);
  const int64_t image = f->in_size[0] * f->in_size[1] * f->in_size[2] * f->channels;
  for (int64_t b = 0; b < f->batch; b++) {
    for (int64_t d = 0; d < f->out_size[0]; d++) {
      for (int64_t h = 0; h < f->out_size[1]; h++) {
        for (int64_t w = 0; w < f->out_size[2]; w++, out += f->channels) {
          const int64_t first[3] = {d * f->stride[0] - f->padding[0], h * f->stride[1] - f->padding[1], w * f->stride[2] - f->padding[2]};
          pixel(f, in + b * image, first, out);
        }
      }
    }
  }
}

int32_t depthwise(quantized_depthwise_frame* f) {
  if (f->a_dtype == kQInt8) all_pixels<int8_t>(f);
  else all_pixels<uint8_t>(f);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(quantized_depthwise, depthwise)
