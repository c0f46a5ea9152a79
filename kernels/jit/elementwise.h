// A graph of element-wise steps as one loop: each input is read once, the output written once.
#pragma once

#include "jit/injector.h"

namespace ptlite {
namespace jit {

constexpr int kMostInputs = 8;
constexpr int kMostSteps = 32;

struct ElementwiseGraph {
  int32_t isa;
  int32_t inputs;
  int32_t steps;
  int32_t out_dtype;
  struct Input {
    int32_t access;  // JitAccess
    int32_t dtype;
  } input[kMostInputs];
  struct Step {
    int32_t algorithm;
    int32_t a, b;  // values: inputs first, then steps; b is -1 for unary ones
    float alpha, beta, scale;
  } step[kMostSteps];
  uint8_t lut[256];
};

// What the generated function takes.
struct ElementwiseCall {
  void* out;
  const void* in[kMostInputs];
  int64_t rows;
  int64_t length;
};
using ElementwiseFunction = void (*)(const ElementwiseCall*);

// Empty where the graph is not one that can be compiled: unknown algorithms or dtypes, values used before they exist, too many alive at once.
Generated generate_elementwise(const ElementwiseGraph& graph);

}  // namespace jit
}  // namespace ptlite
