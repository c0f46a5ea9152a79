// What a block-sparse kernel is generated from.
#pragma once

#include "jit/injector.h"
#include "jit/sparse_call.h"
#include "jit/sparse_kernel.h"
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
  int rows;    // of a panel
  int stride;  // from channel to channel in a panel, in elements
  bool has_bias;
  std::vector<SparsePostOp> post_ops;

  std::vector<PostOpAttributes> chain() const {
    std::vector<PostOpAttributes> attributes;
    for (const SparsePostOp& post_op : post_ops) attributes.push_back(post_op.attributes);
    return attributes;
  }
};

}  // namespace jit
}  // namespace ptlite
