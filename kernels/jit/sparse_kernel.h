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

struct SparseKernel {
  SparseMatrix matrix;
  std::vector<SparseStep> steps;
  std::vector<int32_t> offsets;  // of SparseCall
  int32_t form = 0;              // SparseForm
  int rows = 0;                  // of a panel
  int stride = 0;                // from channel to channel in a panel, in elements
  Kernel* code = nullptr;        // null: the compiled kernel does the work
};

}  // namespace jit
}  // namespace ptlite
