// Activations in panels for block-sparse products: [k][stride] per panel of rows.
#pragma once

#include <string.h>

#include "primitives/parts.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// to[i * stride + j] = row j's channel i for j < kPartRows, i < channels.
inline __attribute__((noinline)) void transpose_rows(const float* const* rows, int64_t channels, float* to, int stride) {
  const float* row[kPartRows];
  for (int j = 0; j < kPartRows; j++) row[j] = rows[j];
  int64_t i = 0;
  for (; i + 4 <= channels; i += 4, to += 4 * stride) {
    PartVector a[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) a[j] = load_parts(row + j);
    const PartVector b[4] = {low_pairs(a[0], a[1]), high_pairs(a[0], a[1]), low_pairs(a[2], a[3]), high_pairs(a[2], a[3])};
    store_part(to, low_halves(b[0], b[2]));
    store_part(to + stride, high_halves(b[0], b[2]));
    store_part(to + 2 * stride, low_halves(b[1], b[3]));
    store_part(to + 3 * stride, high_halves(b[1], b[3]));
    for (int j = 0; j < kPartRows; j++) row[j] += 4;
  }
  for (; i < channels; i++, to += stride) {
    for (int j = 0; j < kPartRows; j++) to[j] = *row[j]++;
  }
}

// A panel of `filled` rows of x that are x_stride apart. Rows up to the stride repeat the last one, whose sums nobody stores.
inline void pack_rows(const float* x, int64_t x_stride, int filled, int64_t channels, float* panel, int stride) {
  const auto row = [&](int j) { return x + (j < filled ? j : filled - 1) * x_stride; };
  int j = 0;
  for (; j + kPartRows <= stride; j += kPartRows) {
    if (j >= filled) continue;
    const float* rows[kPartRows];
    for (int i = 0; i < kPartRows; i++) rows[i] = row(j + i);
    transpose_rows(rows, channels, panel + j, stride);
  }
  for (; j < stride; j++) {
    const float* from = row(j);
    for (int64_t i = 0; i < channels; i++) panel[i * stride + j] = from[i];
  }
}

// The same for channel-major x: channels are x_stride apart, and what lies behind `filled` is zero.
inline void pack_channels(const float* x, int64_t x_stride, int filled, int64_t channels, float* panel, int stride) {
  for (int64_t i = 0; i < channels; i++, x += x_stride, panel += stride) {
    for (int j = 0; j < stride; j += F32::size) {
      if (j < filled) F32::load(x + j, filled - j).store(panel + j);
      else F32::zero().store(panel + j);
    }
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
