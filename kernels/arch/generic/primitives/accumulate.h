// Multiplication and addition into an accumulator, for the innermost loops of products.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// acc += a * b; one rounding where the processor has an instruction for it.
template <class T>
PTLITE_INLINE void accumulate(Vec<T>& acc, Vec<T> a, Vec<T> b) {
  acc = fma(a, b, acc);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#include "primitives/accumulate_lane.h"
