// Multiplication and addition into an accumulator, for the innermost loops of products.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// acc += a * b with one rounding. An a that repeats a lane of another vector becomes part of the instruction.
template <class T>
PTLITE_INLINE void accumulate(Vec<T>& acc, Vec<T> a, Vec<T> b) {
  using Raw = typename Vec<T>::Raw;
  if constexpr (sizeof(T) == 4) acc.v = (Raw)vfmaq_f32((float32x4_t)acc.v, (float32x4_t)b.v, (float32x4_t)a.v);
  else acc.v = (Raw)vfmaq_f64((float64x2_t)acc.v, (float64x2_t)b.v, (float64x2_t)a.v);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
