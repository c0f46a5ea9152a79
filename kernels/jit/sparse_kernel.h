// What a handle of sparse_gemm_create points to. Free of the assembler, so that kernels of every level can use it.
#pragma once

#include <memory>
#include <vector>

#include "jit/cache.h"
#include "jit/sparse_matrix.h"

namespace ptlite {
namespace jit {

struct SparseStep {
  int32_t algorithm;
  int32_t access;
  float alpha, beta, scale;
};

// Sums that the blocks of a column go to in turns, added up at the end: with few rows of x, additions to one would wait for each other.
// What is left of the last turn goes to the first.
inline int sums_in_turns(bool by_rows, int rows) { return !by_rows || rows >= 8 ? 1 : rows >= 4 ? 2 : 4; }

struct SparseKernel {
  SparseMatrix matrix;
  std::vector<SparseStep> steps;
  std::vector<int32_t> offsets;  // of SparseCall
  int32_t form = 0;              // SparseForm
  bool has_bias = false;
  int rows = 0;                  // of a panel
  int stride = 0;                // from channel to channel in a panel, in elements
  Kernel* code = nullptr;        // null: the compiled kernel does the work
  bool whole = false;            // code takes all columns, and not one
};

}  // namespace jit
}  // namespace ptlite
