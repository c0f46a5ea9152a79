// What a processor's generators of block-sparse products are asked: arch/<processor>/jit, or arch/generic/jit for a processor that has none.
#pragma once

#include "jit/sparse_kernel.h"

namespace ptlite {
namespace jit {

// How weights and activations are cut for the levels in use: by generated code, or by the compiled kernel where none is generated.
struct SparseSizes {
  int block;         // output channels of a block of the weight: 8 or 16
  int lanes;         // rows of a vector of activations
  int most_vectors;  // of a panel whose rows lie along vectors
  int most_rows;     // of a panel whose activations are broadcast one by one
  bool unrolls;      // code of the form `unrolled` has the weight's structure, and takes all of its columns
};
SparseSizes sparse_sizes();

// The code of a kernel that has everything else, with one more user. nullptr where none can be generated.
Kernel* obtain_sparse(const SparseKernel& kernel);

}  // namespace jit
}  // namespace ptlite
