// Multiplication and addition into an accumulator, for the innermost loops of products.
#pragma once

#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// Whether accumulate_lane takes no more instructions than accumulate.
template <class T>
constexpr bool kMultipliesLanes = sizeof(T) == 4;

// acc += a * b with one rounding.
template <class T>
PTLITE_INLINE void accumulate(Vec<T>& acc, Vec<T> a, Vec<T> b) {
  using Raw = typename Vec<T>::Raw;
  if constexpr (sizeof(T) == 4) acc.v = (Raw)vfmaq_f32((float32x4_t)acc.v, (float32x4_t)b.v, (float32x4_t)a.v);
  else acc.v = (Raw)vfmaq_f64((float64x2_t)acc.v, (float64x2_t)b.v, (float64x2_t)a.v);
}

// acc += a[lane] * b, with the accumulator in its place: left to itself, the compiler loads ahead, runs out of registers and spills. `lane` is a
// constant where it is inlined.
template <class T>
PTLITE_INLINE void accumulate_lane(Vec<T>& acc, Vec<T> a, int lane, Vec<T> b) {
  switch (lane) {
    case 0: asm("fmla %0.4s, %1.4s, %2.s[0]" : "+w"(acc.v) : "w"(b.v), "w"(a.v)); return;
    case 1: asm("fmla %0.4s, %1.4s, %2.s[1]" : "+w"(acc.v) : "w"(b.v), "w"(a.v)); return;
    case 2: asm("fmla %0.4s, %1.4s, %2.s[2]" : "+w"(acc.v) : "w"(b.v), "w"(a.v)); return;
    default: asm("fmla %0.4s, %1.4s, %2.s[3]" : "+w"(acc.v) : "w"(b.v), "w"(a.v)); return;
  }
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
