// Means over planes of a block of 16 channels. Include inside per-level translation units only.
#pragma once

#include <stdint.h>

#include "blocked_tile.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace blocked {

/// Mean of one vector of channels over `pixels` pixels, a block apart.
PTLITE_INLINE Vec<float> mean_of(const float* plane, int64_t pixels) {
  constexpr int kSums = 4;  // additions do not wait for each other
  Vec<float> sum[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= pixels; i += kSums) {
    for (int s = 0; s < kSums; s++) sum[s] += Vec<float>::load(plane + (i + s) * kBlock);
  }
  for (; i < pixels; i++) sum[0] += Vec<float>::load(plane + i * kBlock);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) / Vec<float>(float(pixels));
}

}  // namespace blocked
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
