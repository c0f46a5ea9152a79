#include "jit/sparse_generators.h"

#include "frames/sparse.h"
#include "jit/code.h"

namespace ptlite {
namespace jit {

// Two vectors of activations and four sums for each, or two activations and a block of weights: of 16 registers, engines keep one.
SparseSizes sparse_sizes() { return {16, 4, 2, 28, false}; }

Kernel* obtain_sparse(const SparseKernel& kernel) {
  // Blocks have their places in a list in all forms: engines make code that is half as fast of places that are numbers in the code.
  Description description(CodeKind::sparse);
  const int32_t turns = sums_in_turns(kernel.form == SparseForm_rows, kernel.rows);
  for (const int32_t word : {int32_t{kernel.form == SparseForm_channels}, int32_t{kernel.rows}, turns, int32_t{kernel.has_bias},
                             int32_t{kernel.matrix.halves}, static_cast<int32_t>(kernel.steps.size())}) {
    description.add(word);
  }
  for (const SparseStep& step : kernel.steps) {
    description.add(step.algorithm);
    description.add(step.access);
    for (const float number : {step.alpha, step.beta, step.scale}) description.add(number);
  }
  return description.generate();
}

}  // namespace jit
}  // namespace ptlite
