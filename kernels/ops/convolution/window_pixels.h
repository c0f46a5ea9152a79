// Which pixels of an image the taps of a convolution read.
#pragma once

#include <stdint.h>

#include "vec/vec.h"

namespace ptlite {

struct WindowPixels {
  int64_t in[3], kernel[3], stride[3], padding[3], dilation[3], out[3];

  template <class Frame>
  explicit WindowPixels(const Frame& f) {
    for (int d = 0; d < 3; d++) {
      in[d] = f.in[d], kernel[d] = f.kernel[d], stride[d] = f.stride[d];
      padding[d] = f.padding[d], dilation[d] = f.dilation[d], out[d] = f.out[d];
    }
  }

  // use(tap, pixel) for each tap of an output; -1 is a pixel of the padding.
  template <class Use>
  PTLITE_INLINE void visit(int64_t output, const Use& use) const {
    const int64_t at[3] = {output / (out[2] * out[1]), output / out[2] % out[1], output % out[2]};
    int64_t first[3], tap = 0;
    for (int d = 0; d < 3; d++) first[d] = at[d] * stride[d] - padding[d];
    for (int64_t i = 0, z = first[0]; i < kernel[0]; i++, z += dilation[0]) {
      for (int64_t j = 0, y = first[1]; j < kernel[1]; j++, y += dilation[1]) {
        const bool there = z >= 0 && z < in[0] && y >= 0 && y < in[1];
        for (int64_t k = 0, x = first[2]; k < kernel[2]; k++, x += dilation[2], tap++) {
          use(tap, there && x >= 0 && x < in[2] ? (z * in[1] + y) * in[2] + x : int64_t{-1});
        }
      }
    }
  }
};

}  // namespace ptlite
