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
  int rows = 0;          // of a panel
  Kernel* code = nullptr;  // null: the compiled kernel does the work
};

}  // namespace jit
}  // namespace ptlite
