// What the vector class (vec/vec.h) leaves to a processor, written with the compiler's own vectors alone.
#pragma once

#include "primitives/portable.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

using portable::load_first;
using portable::shuffled;
using portable::store_first;

// Whether any bit of a vector of int64 is set.
template <class Raw>
PTLITE_INLINE bool any_bit(Raw v) {
  return (v[0] | v[1]) != 0;
}

// Of float lanes; b where either operand is NaN.
template <class Raw>
PTLITE_INLINE Raw lesser(Raw a, Raw b) {
  return a < b ? a : b;
}
template <class Raw>
PTLITE_INLINE Raw greater(Raw a, Raw b) {
  return a > b ? a : b;
}

// f on every lane.
template <class T, class Raw, class F>
PTLITE_INLINE Raw by_lane(Raw a, F f) {
  for (int i = 0; i < static_cast<int>(sizeof(Raw) / sizeof(T)); i++) a[i] = f(static_cast<T>(a[i]));
  return a;
}

// Lanes of float or double to integers of the same type, by `one`.
enum Rounding { kDown, kUp, kToZero, kToEven };
template <int mode, class T, class Raw, class F>
PTLITE_INLINE Raw rounded(Raw a, F one) {
  return by_lane<T>(a, one);
}

// The square roots of lanes of float or double.
template <class T, class Raw>
PTLITE_INLINE Raw root(Raw a) {
  return by_lane<T>(a, [](T x) { return static_cast<T>(sizeof(T) == 4 ? __builtin_sqrtf(static_cast<float>(x)) : __builtin_sqrt(x)); });
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
