// Transposed convolution: a product makes every tap's contribution of every input pixel, which are then added into the
// output (col2im), some output channels at a time.
#include "frames/conv.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"

#include <algorithm>

#include "ops/gemm/gemm_core.h"

namespace {

namespace gemm = ptlite::gemm;

struct Axis {
  int64_t in, out, kernel, stride, padding, dilation;

  /// Output coordinate that tap t of input coordinate i adds to; it may lie outside.
  int64_t target(int64_t i, int64_t t) const { return i * stride - padding + t * dilation; }
  /// Input coordinates [from, to) whose tap t lands inside.
  void inside(int64_t t, int64_t& from, int64_t& to) const {
    const int64_t shift = padding - t * dilation;
    from = shift <= 0 ? 0 : (shift + stride - 1) / stride;
    const int64_t end = out + shift;
    to = end <= 0 ? 0 : std::min(in, (end + stride - 1) / stride);
    from = std::min(from, to);
  }
};

/// Adds the contributions of one output channel, [tap][input pixel], to its plane.
template <class T>
void add_taps(const Axis* axis, const T* columns, T* out) {
  const Axis &D = axis[0], &H = axis[1], &W = axis[2];
  for (int64_t td = 0; td < D.kernel; td++) {
    for (int64_t th = 0; th < H.kernel; th++) {
      for (int64_t tw = 0; tw < W.kernel; tw++, columns += D.in * H.in * W.in) {
        int64_t d0, d1, h0, h1, w0, w1;
        D.inside(td, d0, d1);
        H.inside(th, h0, h1);
        W.inside(tw, w0, w1);
        for (int64_t d = d0; d < d1; d++) {
          for (int64_t h = h0; h < h1; h++) {
            const T* from = columns + (d * H.in + h) * W.in;
            T* to = out + (D.target(d, td) * H.out + H.target(h, th)) * W.out + W.target(0, tw);
            if (W.stride == 1) {
              for (int64_t w = w0; w < w1; w++) to[w] += from[w];
            } else {
              for (int64_t w = w0; w < w1; w++) to[w * W.stride] += from[w];
            }
          }
        }
      }
    }
  }
}

template <class T>
int32_t convolve_transposed(const conv_transpose_frame& f) {
  Axis axis[3];
  for (int i = 0; i < 3; i++) axis[i] = {f.in[i], f.out[i], f.kernel[i], f.stride[i], f.padding[i], f.dilation[i]};
  const int64_t taps = int64_t(f.kernel[0]) * f.kernel[1] * f.kernel[2];
  const int64_t in_pixels = int64_t(f.in[0]) * f.in[1] * f.in[2], out_pixels = int64_t(f.out[0]) * f.out[1] * f.out[2];
  const int64_t in_channels = f.in_channels / f.groups, out_channels = f.out_channels / f.groups;
  const int64_t some = std::max<int64_t>(1, std::min<int64_t>(out_channels, (1 << 18) / std::max<int64_t>(1, taps * in_pixels)));
  const int64_t b_size = gemm::round_up(gemm::packed_b_size<T>(in_pixels, in_channels), 16);
  const int64_t a_size = gemm::round_up(gemm::packed_a_size<T>(some * taps, in_channels), 16);
  T* packed_b = static_cast<T*>(ptlite_scratch(size_t(b_size + a_size + some * taps * in_pixels) * sizeof(T)));
  if (packed_b == nullptr) return PTLITE_NO_MEMORY;
  T* packed_a = packed_b + b_size;
  T* columns = packed_a + a_size;
  const T* bias = reinterpret_cast<const T*>(f.bias);
  for (int64_t i = 0; i < f.batch; i++) {
    for (int64_t g = 0; g < f.groups; g++) {
      const T* x = reinterpret_cast<const T*>(f.input) + (i * f.in_channels + g * in_channels) * in_pixels;
      const T* weight = reinterpret_cast<const T*>(f.weight) + g * in_channels * out_channels * taps;
      gemm::pack_b<T>(in_channels, in_pixels, x, in_pixels, 1, packed_b);
      for (int64_t c = 0; c < out_channels; c += some) {
        const int64_t count = std::min(some, out_channels - c);
        gemm::pack_a<T>(count * taps, in_channels, weight + c * taps, 1, out_channels * taps, packed_a);
        gemm::multiply<T>(count * taps, in_pixels, in_channels, {packed_a, 0, 0, true}, {packed_b, 0, 0, true}, columns, in_pixels,
                          gemm::Epilogue<T>{});
        for (int64_t q = 0; q < count; q++) {
          ptlite::poll();
          const int64_t channel = g * out_channels + c + q;
          T* out = reinterpret_cast<T*>(f.output) + (i * f.out_channels + channel) * out_pixels;
          const T start = bias == nullptr ? T(0) : bias[channel];
          for (int64_t p = 0; p < out_pixels; p++) out[p] = start;
          add_taps<T>(axis, columns + q * taps * in_pixels, out);
          if (f.clamped) {
            for (int64_t p = 0; p < out_pixels; p++) out[p] = gemm::clamp_one<T>(out[p], T(f.lo), T(f.hi));
          }
        }
      }
    }
  }
  return PTLITE_OK;
}

int32_t conv_transpose_kernel(conv_transpose_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return convolve_transposed<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return convolve_transposed<double>(*f);
  return PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(conv_transpose, conv_transpose_kernel)
