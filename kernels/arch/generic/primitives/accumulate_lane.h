// For processors that multiply by a lane only once it is in a vector of its own. Included by "primitives/accumulate.h".
#pragma once

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// Whether accumulate_lane takes no more instructions than accumulate.
template <class T>
constexpr bool kMultipliesLanes = false;

// acc += a[lane] * b
template <class T>
PTLITE_INLINE void accumulate_lane(Vec<T>& acc, Vec<T> a, int lane, Vec<T> b) {
  accumulate<T>(acc, Vec<T>(a.v[lane]), b);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
