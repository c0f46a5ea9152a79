// Lanes in another order, by the compiler's own vectors. Included by "primitives/vector.h".
#pragma once

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace arch {

// Lane j of the result is lane index[j] of x followed by y.
template <class Raw, class Index>
PTLITE_INLINE Raw shuffled(Raw x, Raw y, Index index) {
  constexpr int lanes = static_cast<int>(sizeof(index) / sizeof(index[0]));
  Raw r{};
  for (int j = 0; j < lanes; j++) r[j] = index[j] < lanes ? x[index[j]] : y[index[j] - lanes];
  return r;
}
// Lane j of the result is lane index[j] of x.
template <class Raw, class Index>
PTLITE_INLINE Raw shuffled(Raw x, Index index) {
  return shuffled(x, x, index);
}

}  // namespace arch
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
