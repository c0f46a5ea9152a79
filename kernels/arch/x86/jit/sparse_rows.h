// Block-sparse GEMM for few rows, structure as a list: the places of the non-zero blocks are read beside their weights, so that the code
// is a short loop whatever the weight. Per block one load of `width` weights and one multiply-add per row, whose activation is broadcast.
#pragma once

#include "jit/sparse_plan.h"

namespace ptlite {
namespace jit {

// Most rows of a panel.
int most_rows(Isa isa);
// Empty where the chain cannot be generated.
Generated generate_sparse_rows(const SparsePlan& plan);

}  // namespace jit
}  // namespace ptlite
