#include "jit/sparse_kernel.h"

#include <string.h>

#include <new>

#include "frames/jit.h"
#include "isa/kernel.h"
#include "jit/sparse_gemm.h"

namespace {

using namespace ptlite::jit;

// The whole description: shape, rows, chain and the places of the blocks. Values are data, not code.
std::string key_of(const SparsePlan& plan) {
  std::string key = "sparse_gemm";
  const auto put = [&key](const void* data, size_t bytes) { key.append(static_cast<const char*>(data), bytes); };
  const SparseMatrix& matrix = *plan.matrix;
  const int64_t head[] = {static_cast<int64_t>(plan.isa), plan.rows, plan.has_bias, matrix.n, matrix.k, matrix.width,
                          static_cast<int64_t>(plan.post_ops.size())};
  put(head, sizeof head);
  for (const SparsePostOp& post_op : plan.post_ops) {
    const int32_t numbers[] = {post_op.attributes.algorithm, post_op.access};
    const float parameters[] = {post_op.attributes.alpha, post_op.attributes.beta, post_op.attributes.scale};
    put(numbers, sizeof numbers);
    put(parameters, sizeof parameters);
  }
  put(matrix.start.data(), matrix.start.size() * sizeof matrix.start[0]);
  put(matrix.index.data(), matrix.index.size() * sizeof matrix.index[0]);
  return key;
}

bool read_chain(const sparse_gemm_create_frame& f, std::vector<SparsePostOp>& chain) {
  if (f.post_ops < 0 || f.post_ops > kMostPostOps) return false;
  for (int i = 0; i < f.post_ops; i++) {
    const Algorithm* row = algorithm(f.ops[i]);
    if (row == nullptr || row->takes != Lanes::f32 || row->gives != Lanes::f32) return false;
    if (row->binary != nullptr && f.access[i] != JitAccess_full && f.access[i] != JitAccess_row && f.access[i] != JitAccess_scalar) return false;
    const PostOpKind kind = row->binary != nullptr ? PostOpKind::binary : PostOpKind::eltwise;
    chain.push_back({{PTLITE_FLOAT32, kind, row->id, f.p0[i], f.p1[i], f.p2[i], nullptr}, f.access[i]});
  }
  return true;
}

int32_t create(sparse_gemm_create_frame* f) {
  f->handle = 0;
  f->code_bytes = 0;
  f->weight_bytes = 0;
  f->generated = 0;
  SparsePlan plan{nullptr, current_isa(), 0, f->has_bias != 0, {}};
  constexpr int64_t most = int64_t{1} << 24;
  if (f->n < 1 || f->k < 1 || f->n > most || f->k > most || !read_chain(*f, plan.post_ops)) return PTLITE_OK;
  std::unique_ptr<SparseKernel> kernel(new (std::nothrow) SparseKernel);
  if (kernel == nullptr) return PTLITE_NO_MEMORY;
  const DenseWeight dense{reinterpret_cast<const float*>(f->weight), f->n, f->k, f->n_stride, f->k_stride};
  if (!kernel->matrix.build(dense, plan.isa == Isa::avx2 ? 8 : 16)) return PTLITE_NO_MEMORY;
  kernel->rows = panel_rows(plan.isa, f->rows);
  for (const SparsePostOp& p : plan.post_ops) kernel->steps.push_back({p.attributes.algorithm, p.access, p.attributes.alpha, p.attributes.beta, p.attributes.scale});
  plan.matrix = &kernel->matrix;
  plan.rows = kernel->rows;
  if (plan.isa != Isa::none) {
    const auto generate = [](const void* description) { return generate_sparse_gemm(*static_cast<const SparsePlan*>(description)); };
    const std::string name = "sparse_gemm-" + std::to_string(f->k) + "x" + std::to_string(f->n);
    kernel->code = obtain(key_of(plan), name, generate, &plan);
  }
  f->generated = kernel->code != nullptr;
  f->code_bytes = kernel->code != nullptr ? static_cast<int64_t>(kernel->code->code.bytes) : 0;
  f->weight_bytes = static_cast<int64_t>(kernel->matrix.bytes());
  f->handle = static_cast<int64_t>(reinterpret_cast<uintptr_t>(kernel.release()));
  return PTLITE_OK;
}

int32_t dense(sparse_dense_frame* f) {
  reinterpret_cast<const SparseKernel*>(f->handle)->matrix.write_dense(reinterpret_cast<float*>(f->out));
  return PTLITE_OK;
}

int32_t free_kernel(sparse_release_frame* f) {
  auto* kernel = reinterpret_cast<SparseKernel*>(f->handle);
  if (kernel->code != nullptr) release(kernel->code);
  delete kernel;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(sparse_gemm_create, create)
PTLITE_KERNEL(sparse_dense, dense)
PTLITE_KERNEL(sparse_release, free_kernel)
