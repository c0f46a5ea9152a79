// Block-sparse GEMM with rows of x along the vectors, structure as a list. Per block up to three vectors of activations, and the block's
// weights broadcast one by one: each weight serves all of them, so that loads are few and multiply-adds the limit. x is packed
// [k][rows]. Channel-major output (pointwise convolutions) is stored as it is; for row-major output, tiles are transposed at the end.
#pragma once

#include "jit/sparse_plan.h"

namespace ptlite {
namespace jit {

// Most vectors of a panel.
constexpr int kMostVectors = 3;
// plan.rows is a number of whole vectors, and plan.stride equals it. Empty where the chain cannot be generated.
Generated generate_sparse_vectors(const SparsePlan& plan, bool channel_major);

}  // namespace jit
}  // namespace ptlite
