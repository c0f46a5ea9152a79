// What the numbers of JitAlgorithm stand for.
#pragma once

#include <stdint.h>

#include "frames/jit.h"

namespace ptlite {

inline bool is_binary_post_op(int32_t algorithm) { return algorithm >= JitAlgorithm_add && algorithm <= JitAlgorithm_bits_and_not; }

// Whether it takes floats and gives floats; the others take or give bytes.
inline bool is_float_algorithm(int32_t algorithm) {
  return algorithm >= 0 && algorithm <= JitAlgorithm_bits_and_not && (algorithm < JitAlgorithm_quantize_u8 || algorithm > JitAlgorithm_int8_lut);
}

}  // namespace ptlite
