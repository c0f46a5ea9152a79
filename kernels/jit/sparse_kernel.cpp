#include "jit/sparse_kernel.h"

#include <string.h>

#include <algorithm>
#include <new>

#include "frames/jit.h"
#include "frames/sparse.h"
#include "dispatch/kernel.h"
#include "memory/owner.h"
#include "jit/algorithm_kinds.h"
#include "jit/sparse_call.h"
#include "jit/sparse_generators.h"
#include "ptlite_abi.h"

namespace {

using namespace ptlite::jit;

// Half of a 1 MiB second-level cache, and a bit.
constexpr int64_t kPanelBytes = 640 << 10;

bool along_vectors(int32_t form) { return form == SparseForm_vectors || form == SparseForm_channels; }

// Rows of a panel: whole vectors, as many as a panel of k channels may have; or such that panels of about m rows are equally full.
int panel_rows(const SparseSizes& sizes, int32_t form, int64_t m, int64_t k) {
  if (along_vectors(form)) {
    const int64_t lanes = sizes.lanes;
    const int64_t needed = (m + lanes - 1) / lanes;
    return static_cast<int>(std::clamp<int64_t>(std::min(kPanelBytes / (lanes * 4 * k), needed), 1, sizes.most_vectors) * lanes);
  }
  const int64_t most = form == SparseForm_rows ? sizes.most_rows : std::min(16, sizes.most_rows);
  const int64_t rows = std::max<int64_t>(m, 1), panels = (rows + most - 1) / most;
  return static_cast<int>((rows + panels - 1) / panels);
}

// A channel's rows begin at a cache line, or share one.
int panel_stride(int32_t form, int rows) {
  if (along_vectors(form)) return rows;
  int stride = 1;
  while (stride < rows) stride *= 2;
  return stride;
}

void destroy(void* made, size_t) {
  auto* kernel = static_cast<SparseKernel*>(made);
  if (kernel->code != nullptr) release(kernel->code);
  delete kernel;
}

template <class Frame>
void clear_results(Frame& f) {
  f.handle = 0;
  f.code_bytes = 0;
  f.weight_bytes = 0;
  f.generated = 0;
  f.panel_rows = 0;
}

template <class Frame>
bool read_chain(const Frame& f, std::vector<SparseStep>& chain) {
  if (f.post_ops < 0 || f.post_ops > kMostPostOps) return false;
  for (int i = 0; i < f.post_ops; i++) {
    if (!ptlite::is_float_algorithm(f.ops[i])) return false;
    const bool readable = f.access[i] == JitAccess_full || f.access[i] == JitAccess_row || f.access[i] == JitAccess_scalar;
    if (ptlite::is_binary_post_op(f.ops[i]) && !readable) return false;
    chain.push_back({f.ops[i], f.access[i], f.p0[i], f.p1[i], f.p2[i]});
  }
  return true;
}

constexpr int64_t kMostChannels = int64_t{1} << 24;

// What both frames that make kernels say of them. False where there is no such kernel.
template <class Frame>
bool read_kernel(const Frame& f, SparseKernel& kernel) {
  kernel.form = f.form;
  kernel.has_bias = f.has_bias != 0;
  return (f.dtype == PTLITE_BFLOAT16 || f.dtype == PTLITE_FLOAT32) && f.n >= 1 && f.k >= 1 && f.n <= kMostChannels && f.k <= kMostChannels && f.form >= 0 &&
         f.form <= SparseForm_channels && read_chain(f, kernel.steps);
}

// The rest of a kernel that has its matrix.
template <class Frame>
int32_t finish(Frame& f, const SparseSizes& sizes, std::unique_ptr<SparseKernel> kernel) {
  kernel->rows = panel_rows(sizes, f.form, f.m, f.k);
  kernel->stride = panel_stride(f.form, kernel->rows);
  const int64_t channel_bytes = kernel->stride * static_cast<int64_t>(sizeof(float));
  // offsets in a panel have 32 bits
  if (f.k * channel_bytes > INT32_MAX) return PTLITE_OK;
  kernel->offsets.reserve(kernel->matrix.index.size() + kSparseAhead);
  for (const int32_t channel : kernel->matrix.index) kernel->offsets.push_back(static_cast<int32_t>(channel * channel_bytes));
  kernel->offsets.resize(kernel->offsets.size() + kSparseAhead, 0);
  kernel->code = obtain_sparse(*kernel);
  kernel->whole = sizes.unrolls && f.form == SparseForm_unrolled && kernel->code != nullptr;
  f.generated = kernel->code != nullptr;
  f.panel_rows = kernel->rows;
  f.code_bytes = kernel->code != nullptr ? static_cast<int64_t>(kernel->code->code.bytes) : 0;
  f.weight_bytes = static_cast<int64_t>(kernel->matrix.bytes());
  SparseKernel* const made = kernel.release();
  if (!ptlite::own(made, 0, destroy)) {
    destroy(made, 0);
    clear_results(f);
    return PTLITE_NO_MEMORY;
  }
  f.handle = static_cast<int64_t>(reinterpret_cast<uintptr_t>(made));
  return PTLITE_OK;
}

int32_t create(sparse_gemm_create_frame* f) {
  clear_results(*f);
  std::unique_ptr<SparseKernel> kernel(new (std::nothrow) SparseKernel);
  if (kernel == nullptr) return PTLITE_NO_MEMORY;
  if (!read_kernel(*f, *kernel)) return PTLITE_OK;
  const SparseSizes sizes = sparse_sizes();
  const DenseWeight dense{reinterpret_cast<char*>(f->weight), f->dtype == PTLITE_BFLOAT16, f->n, f->k, f->n_stride, f->n_group, f->k_stride};
  if (!kernel->matrix.build(dense, sizes.block)) return PTLITE_NO_MEMORY;
  return finish(*f, sizes, std::move(kernel));
}

int32_t load(sparse_gemm_load_frame* f) {
  clear_results(*f);
  std::unique_ptr<SparseKernel> kernel(new (std::nothrow) SparseKernel);
  if (kernel == nullptr) return PTLITE_NO_MEMORY;
  const SparseSizes sizes = sparse_sizes();
  if (!read_kernel(*f, *kernel) || f->width != sizes.block || f->blocks < 0) return PTLITE_OK;
  kernel->matrix.width = f->width;
  kernel->matrix.halves = f->dtype == PTLITE_BFLOAT16;
  kernel->matrix.n = f->n;
  kernel->matrix.k = f->k;
  const auto* channels = reinterpret_cast<const int32_t*>(f->index);
  const auto* start = reinterpret_cast<const int64_t*>(f->start);
  if (!kernel->matrix.borrow(reinterpret_cast<const char*>(f->values), channels, start, f->blocks)) return PTLITE_OK;
  return finish(*f, sizes, std::move(kernel));
}

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

int32_t store(sparse_gemm_store_frame* f) {
  const SparseMatrix& matrix = reinterpret_cast<const SparseKernel*>(f->handle)->matrix;
  const int64_t values = matrix.blocks() * matrix.block_bytes(), index = aligned(values);
  const int64_t start = aligned(index + matrix.blocks() * static_cast<int64_t>(sizeof(int32_t)));
  f->blocks = matrix.blocks();
  f->width = matrix.width;
  f->length = start + static_cast<int64_t>(matrix.start.size() * sizeof(int64_t));
  if (f->capacity < f->length) return PTLITE_OK;
  char* out = reinterpret_cast<char*>(f->header.host);
  memset(out, 0, static_cast<size_t>(start));
  memcpy(out, matrix.values(), static_cast<size_t>(values));
  memcpy(out + index, matrix.index.data(), matrix.index.size() * sizeof(int32_t));
  memcpy(out + start, matrix.start.data(), matrix.start.size() * sizeof(int64_t));
  return PTLITE_OK;
}

int32_t dense(sparse_dense_frame* f) {
  reinterpret_cast<const SparseKernel*>(f->handle)->matrix.write_dense(reinterpret_cast<float*>(f->out));
  return PTLITE_OK;
}

int32_t free_kernel(sparse_release_frame* f) {
  return ptlite::give_up(reinterpret_cast<void*>(f->handle)) ? PTLITE_OK : PTLITE_NOT_OWNED;
}

}  // namespace

PTLITE_KERNEL(sparse_gemm_create, create)
PTLITE_KERNEL(sparse_gemm_store, store)
PTLITE_KERNEL(sparse_gemm_load, load)
PTLITE_KERNEL(sparse_dense, dense)
PTLITE_KERNEL(sparse_release, free_kernel)
