// Multiplication and addition into an accumulator, for the innermost loops of products.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// Whether accumulate_lane takes no more instructions than accumulate.
template <class T>
constexpr bool kMultipliesLanes = false;

// acc += a * b; one rounding where the processor has an instruction for it, and the engine is asked.
template <class T>
PTLITE_INLINE void accumulate(Vec<T>& acc, Vec<T> a, Vec<T> b) {
  acc = fma(a, b, acc);
}

// acc += a[lane] * b
template <class T>
PTLITE_INLINE void accumulate_lane(Vec<T>& acc, Vec<T> a, int lane, Vec<T> b) {
  accumulate<T>(acc, Vec<T>(a.v[lane]), b);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
