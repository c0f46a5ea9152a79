// Of what the vector class (vec/vec.h) leaves to a processor: what the compiler's own vectors and memory say by themselves. A processor that has an
// instruction for it says so in its "primitives/vector.h", which takes the rest from here.
#pragma once

#include <stdint.h>
#include <string.h>

#include "primitives/registers.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace portable {

// The first `count` lanes, fewer than there are, of `bytes` each; the others are zero.
template <class Raw, int bytes>
PTLITE_INLINE Raw load_first(const void* p, int64_t count) {
  Raw r{};
  memcpy(&r, p, static_cast<size_t>(count) * bytes);
  return r;
}

// To memory; what lies behind it is not touched.
template <class Raw, int bytes>
PTLITE_INLINE void store_first(void* p, Raw v, int64_t count) {
  memcpy(p, &v, static_cast<size_t>(count) * bytes);
}

// Lane j of the result is lane index[j] of x followed by y.
template <class Raw, class Index>
PTLITE_INLINE Raw shuffled(Raw x, Raw y, Index index) {
#if defined(__clang__)
  constexpr int lanes = static_cast<int>(sizeof(index) / sizeof(index[0]));
  Raw r{};
  for (int j = 0; j < lanes; j++) r[j] = index[j] < lanes ? x[index[j]] : y[index[j] - lanes];
  return r;
#else
  return __builtin_shuffle(x, y, index);
#endif
}
// Lane j of the result is lane index[j] of x.
template <class Raw, class Index>
PTLITE_INLINE Raw shuffled(Raw x, Index index) {
  return shuffled(x, x, index);
}

}  // namespace portable
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
