// Numbers to integers, for values from outside.
#pragma once

#include <stdint.h>

#include <algorithm>

#include "primitives/truncated.h"

namespace ptlite {

// x without its fraction between least and most, for what becomes an index; NaN becomes least.
template <class X>
inline int64_t truncated_between(X x, int64_t least, int64_t most) {
  if (!(x > X(least))) return least;
  return x < X(most) ? std::min(static_cast<int64_t>(x), most) : most;
}

}  // namespace ptlite
