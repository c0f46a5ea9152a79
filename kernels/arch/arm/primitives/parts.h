// Vectors of four-float parts, which transpose four channels of a register's worth of rows at a time. Of each part, "pairs" are the lower or
// upper two floats of a and b in turn, "halves" the lower or upper two of x and then of y.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// A part is each row's next four channels; four of them transposed are a vector per channel.
constexpr int kPartRows = 4;
using PartVector = float32x4_t;
PTLITE_INLINE PartVector load_parts(const float* const* row) { return vld1q_f32(row[0]); }
PTLITE_INLINE void store_part(float* to, PartVector v) { vst1q_f32(to, v); }
PTLITE_INLINE PartVector low_pairs(PartVector a, PartVector b) { return vzip1q_f32(a, b); }
PTLITE_INLINE PartVector high_pairs(PartVector a, PartVector b) { return vzip2q_f32(a, b); }
PTLITE_INLINE PartVector low_halves(PartVector x, PartVector y) { return vcombine_f32(vget_low_f32(x), vget_low_f32(y)); }
PTLITE_INLINE PartVector high_halves(PartVector x, PartVector y) { return vcombine_f32(vget_high_f32(x), vget_high_f32(y)); }

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
