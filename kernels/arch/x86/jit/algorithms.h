// The element-wise algorithms: a row each, by JitAlgorithm. Declared in codegen/kernels/jit.yaml.
#pragma once

#include "frames/jit.h"
#include "jit/emitter.h"

namespace ptlite {
namespace jit {

// What the lanes of a vector hold.
enum class Lanes : uint8_t { f32, i32 };

struct Parameters {
  float alpha = 0;
  float beta = 0;
  float scale = 1;
  const uint8_t* lut = nullptr;  // 256 bytes, for int8_lut
};

struct Algorithm {
  JitAlgorithm id;
  const char* name;
  Lanes takes;
  Lanes gives;
  // x = f(x); null for binary algorithms
  void (*unary)(Emitter& e, const Xbyak::Xmm& x, const Parameters& p);
  // x = f(x, y); y stays; null for unary ones
  void (*binary)(Emitter& e, const Xbyak::Xmm& x, const Xbyak::Xmm& y);
};

constexpr int32_t kAlgorithms = JitAlgorithm_bits_and_not + 1;
// nullptr for a number that is none.
const Algorithm* algorithm(int32_t id);

}  // namespace jit
}  // namespace ptlite
