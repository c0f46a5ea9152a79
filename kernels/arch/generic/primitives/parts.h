// Vectors of four-float parts, which transpose four channels of a register's worth of rows at a time. Of each part, "pairs" are the lower or
// upper two floats of a and b in turn, "halves" the lower or upper two of x and then of y.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// A part is each row's next four channels; four of them transposed are a vector per channel.
constexpr int kPartRows = 4;
using PartVector = Vec<float>::Raw;
PTLITE_INLINE PartVector load_parts(const float* const* row) { return Vec<float>::load(row[0]).v; }
PTLITE_INLINE void store_part(float* to, PartVector v) { Vec<float>(v).store(to); }
PTLITE_INLINE PartVector low_pairs(PartVector a, PartVector b) { return PartVector{a[0], b[0], a[1], b[1]}; }
PTLITE_INLINE PartVector high_pairs(PartVector a, PartVector b) { return PartVector{a[2], b[2], a[3], b[3]}; }
PTLITE_INLINE PartVector low_halves(PartVector x, PartVector y) { return PartVector{x[0], x[1], y[0], y[1]}; }
PTLITE_INLINE PartVector high_halves(PartVector x, PartVector y) { return PartVector{x[2], x[3], y[2], y[3]}; }

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
