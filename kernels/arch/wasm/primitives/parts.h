// Vectors of four-float parts, which transpose four channels of a register's worth of rows at a time. Of each part, "pairs" are the lower or
// upper two floats of a and b in turn, "halves" the lower or upper two of x and then of y.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// A part is each row's next four channels; four of them transposed are a vector per channel.
constexpr int kPartRows = 4;
using PartVector = v128_t;
PTLITE_INLINE PartVector load_parts(const float* const* row) { return wasm_v128_load(row[0]); }
PTLITE_INLINE void store_part(float* to, PartVector v) { wasm_v128_store(to, v); }
PTLITE_INLINE PartVector low_pairs(PartVector a, PartVector b) { return wasm_i32x4_shuffle(a, b, 0, 4, 1, 5); }
PTLITE_INLINE PartVector high_pairs(PartVector a, PartVector b) { return wasm_i32x4_shuffle(a, b, 2, 6, 3, 7); }
PTLITE_INLINE PartVector low_halves(PartVector x, PartVector y) { return wasm_i32x4_shuffle(x, y, 0, 1, 4, 5); }
PTLITE_INLINE PartVector high_halves(PartVector x, PartVector y) { return wasm_i32x4_shuffle(x, y, 2, 3, 6, 7); }

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
