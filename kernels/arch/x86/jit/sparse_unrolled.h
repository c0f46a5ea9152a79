// Block-sparse GEMM with the structure of the weight written into the instruction stream: no place of a block is read, and no loop over
// them is left. Per block one load of `width` weights and one multiply-add per row. Code runs over all panels before it goes on to the next
// part of the weight, and a part's code is small enough for the instruction cache. For small weights and many rows.
#pragma once

#include "jit/sparse_plan.h"

namespace ptlite {
namespace jit {

// Empty where the chain cannot be generated or the code would be too large.
Generated generate_sparse_unrolled(const SparsePlan& plan);

}  // namespace jit
}  // namespace ptlite
