#include "jit/sparse_generators.h"

#include "frames/sparse.h"
#include "jit/algorithm_kinds.h"
#include "jit/sparse_rows.h"
#include "jit/sparse_unrolled.h"
#include "jit/sparse_vectors.h"
#include "ptlite_abi.h"

namespace ptlite {
namespace jit {
namespace {

struct Description {
  const SparsePlan& plan;
  int32_t form;
};

// The whole description: rows, chain and, where it is in the code, the structure. Values are data.
std::string key_of(const Description& d) {
  std::string key = "sparse_gemm";
  const auto put = [&key](const void* data, size_t bytes) { key.append(static_cast<const char*>(data), bytes); };
  const SparsePlan& plan = d.plan;
  const int64_t head[] = {static_cast<int64_t>(plan.isa), d.form, plan.rows, plan.stride, plan.has_bias, plan.matrix->halves,
                          static_cast<int64_t>(plan.post_ops.size())};
  put(head, sizeof head);
  for (const SparsePostOp& post_op : plan.post_ops) {
    const int32_t numbers[] = {post_op.attributes.algorithm, post_op.access};
    const float parameters[] = {post_op.attributes.alpha, post_op.attributes.beta, post_op.attributes.scale};
    put(numbers, sizeof numbers);
    put(parameters, sizeof parameters);
  }
  if (d.form != SparseForm_unrolled) return key;
  const SparseMatrix& matrix = *plan.matrix;
  const int64_t shape[] = {matrix.n, matrix.k, matrix.width};
  put(shape, sizeof shape);
  put(matrix.start.data(), matrix.start.size() * sizeof matrix.start[0]);
  put(matrix.index.data(), matrix.index.size() * sizeof matrix.index[0]);
  return key;
}

Generated generate(const void* description) {
  const auto& d = *static_cast<const Description*>(description);
  switch (d.form) {
    case SparseForm_unrolled: return generate_sparse_unrolled(d.plan);
    case SparseForm_vectors: return generate_sparse_vectors(d.plan, false);
    case SparseForm_channels: return generate_sparse_vectors(d.plan, true);
    default: return generate_sparse_rows(d.plan);
  }
}

std::string name_of(const Description& d) {
  const std::string rows = std::to_string(d.plan.rows) + (d.plan.matrix->halves ? "-bf16" : "");
  switch (d.form) {
    case SparseForm_unrolled: return "sparse_gemm-unrolled-" + std::to_string(d.plan.matrix->k) + "x" + std::to_string(d.plan.matrix->n) + (d.plan.matrix->halves ? "-bf16" : "");
    case SparseForm_vectors: return "sparse_gemm-vectors-" + rows;
    case SparseForm_channels: return "sparse_gemm-channels-" + rows;
    default: return "sparse_gemm-rows-" + rows;
  }
}

SparsePlan plan_of(const SparseKernel& kernel) {
  SparsePlan plan{&kernel.matrix, current_isa(), kernel.rows, kernel.stride, kernel.has_bias, {}};
  for (const SparseStep& step : kernel.steps) {
    const PostOpKind kind = is_binary_post_op(step.algorithm) ? PostOpKind::binary : PostOpKind::eltwise;
    plan.post_ops.push_back({{PTLITE_FLOAT32, kind, static_cast<JitAlgorithm>(step.algorithm), step.alpha, step.beta, step.scale, nullptr}, step.access});
  }
  return plan;
}

}  // namespace

SparseSizes sparse_sizes() {
  const Isa isa = current_isa();
  return {isa == Isa::avx2 ? 8 : 16, isa == Isa::avx512 ? 16 : 8, kMostVectors, most_rows(isa), true};
}

Kernel* obtain_sparse(const SparseKernel& kernel) {
  const SparsePlan plan = plan_of(kernel);
  if (plan.isa == Isa::none) return nullptr;
  const Description description{plan, kernel.form};
  return obtain(key_of(description), name_of(description), generate, &description);
}

}  // namespace jit
}  // namespace ptlite
