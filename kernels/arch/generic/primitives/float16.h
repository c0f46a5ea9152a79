// A float16 for code on single elements: the compiler's own where it has one.
#pragma once

#include <stdint.h>

#include "support/float16_bits.h"

namespace ptlite {

#if defined(__wasm__)
class compiler_float16 {
 public:
  compiler_float16() = default;
  template <class T>
  explicit compiler_float16(T x) : bits_(float_to_float16_bits(static_cast<float>(x))) {}
  operator float() const { return float16_bits_to_float(bits_); }

 private:
  uint16_t bits_;
};
#else
using compiler_float16 = _Float16;
#endif

}  // namespace ptlite
