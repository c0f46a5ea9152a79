// Floating-point numbers to integers, for values from outside.
#pragma once

namespace ptlite {

// x without its fraction, as x86 converts: NaN, and what I does not hold, become the least number of I. C++ leaves these open; the compiler
// uses the instruction in any case, and UndefinedBehaviorSanitizer is not asked here.
template <class I, class X>
__attribute__((no_sanitize("float-cast-overflow"))) inline I truncated(X x) {
  return static_cast<I>(x);
}

}  // namespace ptlite
