// The depthwise convolution of 8-bit integers of one level, emulated, against the definition.
#include "instructions.h"
#include "harness.h"

#include "ops/quantized/quantized_depthwise.cpp"

int main() {
  const int channel_counts[] = {2, 15, 16, 33, 64, 70, 130};
  int wrong = 0;
  const int cases = 40;
  for (int i = 0; i < cases; i++) {
    const int64_t channels = channel_counts[i % 7], taps_w = random_between(1, 4), taps_h = random_between(1, 3);
    const int64_t taps = taps_h * taps_w, quads = (taps + 3) / 4;
    const bool is_signed = i % 3 == 1, extreme = i % 5 == 0;
    // with zero points taken off, weights may have 9 bits
    const int limit = i % 4 == 3 ? 255 : 127;
    quantized_depthwise_frame f = {};
    f.batch = 2;
    f.channels = channels;
    f.a_dtype = is_signed ? 12 : 13;
    f.a_zero = is_signed ? -3 : 130;
    f.out_zero = is_signed ? 5 : 100;
    f.min = is_signed ? -128 : 0;
    f.max = is_signed ? 127 : 255;
    f.in_size[0] = 1;
    f.in_size[1] = 5;
    f.in_size[2] = random_between(4, 12);
    f.kernel[0] = 1;
    f.kernel[1] = taps_h;
    f.kernel[2] = taps_w;
    for (int axis = 0; axis < 3; axis++) {
      f.stride[axis] = axis == 0 ? 1 : random_between(1, 3);
      f.padding[axis] = axis == 0 ? 0 : random_between(0, 2);
      f.dilation[axis] = 1;
      f.out_size[axis] = (f.in_size[axis] + 2 * f.padding[axis] - f.kernel[axis]) / f.stride[axis] + 1;
    }
    const int64_t in_pixels = f.in_size[1] * f.in_size[2], out_pixels = f.out_size[1] * f.out_size[2];
    std::vector<uint8_t> a(f.batch * in_pixels * channels), out(f.batch * out_pixels * channels + 1, 99);
    for (auto& x : a) x = static_cast<uint8_t>(extreme ? (is_signed ? 127 : 255) : random_between(0, 255));
    std::vector<int32_t> weights(channels * taps), bias(channels);
    for (auto& x : weights) x = extreme ? -limit : random_between(-limit, limit);
    for (auto& x : bias) x = random_between(-1000, 1000);
    std::vector<int16_t> packed((channels + 15) / 16 * 16 * 4 * quads);
    for (int64_t c = 0; c < channels; c++) {
      for (int64_t t = 0; t < taps; t++) {
        packed[((((c / 16) * quads + t / 4) * 2 + t % 2) * 16 + c % 16) * 2 + t / 2 % 2] = static_cast<int16_t>(weights[c * taps + t]);
      }
    }
    // sums times large factors leave int32
    std::vector<float> scales(channels, i % 6 == 5 ? 3e5f : i % 6 == 4 ? 0.75f : 1.0f / 911);
    f.a = address(a);
    f.w = address(packed);
    f.scales = address(scales);
    f.bias = address(bias);
    f.out = address(out);
    kernel_quantized_depthwise(&f);
    wrong += out.back() != 99;
    for (int64_t p = 0; p < f.batch * out_pixels; p++) {
      for (int64_t c = 0; c < channels; c++) {
        int32_t sum = bias[c];
        for (int64_t t = 0; t < taps; t++) {
          const int64_t h = p % out_pixels / f.out_size[2] * f.stride[1] - f.padding[1] + t / taps_w;
          const int64_t w = p % f.out_size[2] * f.stride[2] - f.padding[2] + t % taps_w;
          if (h < 0 || h >= f.in_size[1] || w < 0 || w >= f.in_size[2]) continue;
          const uint8_t bits = a[((p / out_pixels * f.in_size[1] + h) * f.in_size[2] + w) * channels + c];
          sum += ((is_signed ? static_cast<int8_t>(bits) : bits) - f.a_zero) * weights[c * taps + t];
        }
        const float x = rintf(static_cast<float>(sum) * scales[c]) + static_cast<float>(f.out_zero);
        const float low = static_cast<float>(f.min), high = static_cast<float>(f.max);
        const auto want = static_cast<uint8_t>(static_cast<int32_t>(x < low ? low : x > high ? high : x));
        const uint8_t got = out[p * channels + c];
        if (got != want && wrong++ < 5) printf("case %d, pixel %ld, channel %ld: %d, expected %d\n", i, p, c, got, want);
      }
    }
  }
  printf("%d cases, %d wrong elements\n", cases, wrong);
  return wrong == 0 ? 0 : 1;
}
