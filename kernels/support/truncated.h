// Numbers to integers, for values from outside.
#pragma once

#include <stdint.h>

#include <algorithm>

namespace ptlite {

// x without its fraction, as x86 converts: NaN, and what I does not hold, become the least number of I. C++ leaves these open; the compiler
// uses the instruction in any case, and UndefinedBehaviorSanitizer is not asked here.
template <class I, class X>
__attribute__((no_sanitize("float-cast-overflow"))) inline I truncated(X x) {
  return static_cast<I>(x);
}

// The same between least and most, for what becomes an index; NaN becomes least.
template <class X>
inline int64_t truncated_between(X x, int64_t least, int64_t most) {
  if (!(x > X(least))) return least;
  return x < X(most) ? std::min(static_cast<int64_t>(x), most) : most;
}

}  // namespace ptlite
