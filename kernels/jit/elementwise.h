// A graph of element-wise steps as one loop: each input is read once, the output written once.
#pragma once

#include "jit/elementwise_call.h"
#include "jit/injector.h"

namespace ptlite {
namespace jit {

constexpr int kMostSteps = 32;
// Operands of binary steps that are the step's own alpha or beta.
constexpr int32_t kAlpha = -1, kBeta = -2;

struct ElementwiseGraph {
  int32_t isa;
  int32_t inputs;
  int32_t steps;
  int32_t out_dtype;
  // Stores go past the caches; the output is aligned to vectors and rows are whole vectors, or there is one row.
  int32_t streaming;
  struct Input {
    int32_t broadcast;  // one element per row, for all of its columns
    int32_t dtype;
  } input[kMostInputs];
  struct Step {
    int32_t algorithm;
    int32_t a, b;  // values: inputs first, then steps; b of unary ones is not read
    float alpha, beta, scale;
  } step[kMostSteps];
  uint8_t lut[256];
};

// Empty where the graph is not one that can be compiled: unknown algorithms or dtypes, values used before they exist, too many alive at once.
Generated generate_elementwise(const ElementwiseGraph& graph);

}  // namespace jit
}  // namespace ptlite
