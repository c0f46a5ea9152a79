// Multiplication and addition into an accumulator, for the innermost loops of products.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// acc += a * b with the accumulator in its place: left to itself, the compiler gives it a new register with each addition,
// runs out of them and spills.
template <class T>
PTLITE_INLINE void accumulate(Vec<T>& acc, Vec<T> a, Vec<T> b) {
#if PTLITE_VEC_FUSED
  if constexpr (sizeof(T) == 4) asm("vfmadd231ps %2, %1, %0" : "+v"(acc.v) : "v"(a.v), "v"(b.v));
  else asm("vfmadd231pd %2, %1, %0" : "+v"(acc.v) : "v"(a.v), "v"(b.v));
#else
  acc += a * b;
#endif
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite

#include "primitives/accumulate_lane.h"
