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
#if defined(__wasm_relaxed_simd__)
  using Raw = typename Vec<T>::Raw;
  if constexpr (detail::is_real<T> && sizeof(T) == 4) {
    acc.v = (Raw)wasm_f32x4_relaxed_madd((v128_t)a.v, (v128_t)b.v, (v128_t)acc.v);
    return;
  }
  if constexpr (detail::is_real<T> && sizeof(T) == 8) {
    acc.v = (Raw)wasm_f64x2_relaxed_madd((v128_t)a.v, (v128_t)b.v, (v128_t)acc.v);
    return;
  }
#endif
  acc += a * b;
}

// acc += a[lane] * b
template <class T>
PTLITE_INLINE void accumulate_lane(Vec<T>& acc, Vec<T> a, int lane, Vec<T> b) {
  accumulate<T>(acc, Vec<T>(a.v[lane]), b);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
