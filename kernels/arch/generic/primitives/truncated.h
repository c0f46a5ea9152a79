// Floating-point numbers to integers, for values from outside.
#pragma once

#include <limits>

namespace ptlite {

// x without its fraction, as x86 converts and so PyTorch does there: NaN, and what I does not hold, become the least number of I.
template <class I, class X>
inline I truncated(X x) {
  if constexpr (!std::numeric_limits<I>::is_integer || std::numeric_limits<X>::is_integer) {
    return static_cast<I>(x);
  } else {
    constexpr I least = std::numeric_limits<I>::min();
    // the bounds are powers of two, or 0, and so numbers of X
    constexpr X low = static_cast<X>(least), past = static_cast<X>(std::numeric_limits<I>::max() / 2 + 1) * X(2);
    return x > low - X(1) && x < past ? static_cast<I>(x) : least;
  }
}

}  // namespace ptlite
