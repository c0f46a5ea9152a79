// Multiplication and addition into an accumulator, for the innermost loops of products.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// No accumulation of products with a lane of another vector.
template <class T>
constexpr bool kMultipliesLanes = false;

// acc += a * b
template <class T>
PTLITE_INLINE void accumulate(Vec<T>& acc, Vec<T> a, Vec<T> b) {
  acc += a * b;
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
