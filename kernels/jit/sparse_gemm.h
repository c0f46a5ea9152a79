// Block-sparse GEMM with the structure of the weight written into the instruction stream: per non-zero block one load of `width` weights
// and one multiply-add per row, whose activation is broadcast. Rows go in panels of `rows`; code runs over all panels before it goes on
// to the next part of the weight, and a part's code is small enough for the instruction cache.
#pragma once

#include "jit/injector.h"
#include "jit/sparse_gemm_call.h"
#include "jit/sparse_matrix.h"

namespace ptlite {
namespace jit {

struct SparsePostOp {
  PostOpAttributes attributes;
  int32_t access;  // JitAccess of a binary one's operand: full [m, n], row (one value per column) or scalar
};

struct SparsePlan {
  const SparseMatrix* matrix;
  Isa isa;
  int rows;  // of a panel
  bool has_bias;
  std::vector<SparsePostOp> post_ops;
};

// Rows of a panel for about m rows in all.
int panel_rows(Isa isa, int64_t m);
// Empty where the chain cannot be generated or the code would be too large.
Generated generate_sparse_gemm(const SparsePlan& plan);

}  // namespace jit
}  // namespace ptlite
