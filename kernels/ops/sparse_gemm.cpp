// Runs block-sparse GEMM: packs the activations into panels and hands them to the generated code, or does the work itself.
// See jit/sparse_gemm.h for the format.
#include "frames/jit.h"
#include "isa/kernel.h"
#include "jit/sparse_gemm_call.h"
#include "jit/sparse_kernel.h"
#include "ops/algorithm_functions.h"
#include "vec/transpose.h"

namespace {

using namespace ptlite;
using ptlite::jit::SparseCall;
using ptlite::jit::SparseKernel;

// Rows that no panel fills are zero.
void pack_panels(const float* x, int64_t m, int64_t k, int64_t stride, int rows, float* panels) {
  for (int64_t first = 0; first < m; first += rows, panels += k * rows) {
    const int filled = static_cast<int>(m - first < rows ? m - first : rows);
    transpose_panel(x + first * stride, stride, filled, rows, k, panels);
  }
}

struct Columns {
  int64_t first;
  int lanes;
};

constexpr int kLanes = F32::size;

F32 operand_at(const SparseKernel& kernel, const SparseCall& call, int index, int64_t row, Columns c) {
  const float* base = call.operands[index];
  if (kernel.steps[index].access == JitAccess_scalar) return F32(*base);
  if (kernel.steps[index].access == JitAccess_full) base += row * (call.operand_bytes[index] / 4);
  return F32::load(base + c.first, c.lanes);
}

void finish_row(const SparseKernel& kernel, const SparseCall& call, int64_t row, Columns c, F32 x) {
  for (int i = 0; i < static_cast<int>(kernel.steps.size()); i++) {
    const jit::SparseStep& step = kernel.steps[i];
    x = is_binary_post_op(step.algorithm) ? binary_post_op(step.algorithm, x, operand_at(kernel, call, i, row, c))
                                          : post_op(step.algorithm, x, {step.alpha, step.beta, step.scale});
  }
  x.store(call.out + row * (call.out_bytes / 4) + c.first, c.lanes);
}

// Four rows of one vector of columns at a time; `part` is the vector's place in its block.
void multiply(const SparseKernel& kernel, const SparseCall& call, const float* panel, int64_t first_row, int64_t column, int part) {
  const jit::SparseMatrix& matrix = kernel.matrix;
  const int64_t first = column * matrix.width + part * kLanes;
  if (first >= matrix.n) return;
  const Columns c{first, static_cast<int>(matrix.n - first < kLanes ? matrix.n - first : kLanes)};
  const F32 bias = call.bias == nullptr ? F32::zero() : F32::load(call.bias + first, c.lanes);
  for (int row = 0; row < kernel.rows && first_row + row < call.m; row += 4) {
    F32 sums[4] = {bias, bias, bias, bias};
    for (int64_t i = matrix.start[column]; i < matrix.start[column + 1]; i++) {
      const F32 weights = F32::load(call.values + i * matrix.width + part * kLanes);
      const float* activations = panel + static_cast<int64_t>(matrix.index[i]) * kernel.rows + row;
      for (int r = 0; r < 4; r++) sums[r] = fma(weights, F32(activations[r]), sums[r]);
    }
    for (int r = 0; r < 4 && row + r < kernel.rows && first_row + row + r < call.m; r++) finish_row(kernel, call, first_row + row + r, c, sums[r]);
  }
}

void run_compiled(const SparseKernel& kernel, const SparseCall& call) {
  const jit::SparseMatrix& matrix = kernel.matrix;
  for (int64_t column = 0; column < matrix.columns(); column++) {
    const float* panel = call.panels;
    for (int64_t row = 0; row < call.m; row += kernel.rows, panel += matrix.k * kernel.rows) {
      for (int part = 0; part * kLanes < matrix.width; part++) multiply(kernel, call, panel, row, column, part);
    }
  }
}

int32_t run(sparse_gemm_frame* f) {
  const auto& kernel = *reinterpret_cast<const SparseKernel*>(f->handle);
  if (f->m <= 0) return PTLITE_OK;
  const int64_t panels = (f->m + kernel.rows - 1) / kernel.rows;
  // four rows are read at a time
  const size_t floats = static_cast<size_t>(panels * kernel.rows * kernel.matrix.k) + 16;
  auto* packed = static_cast<float*>(ptlite_scratch(floats * sizeof(float)));
  if (packed == nullptr) return PTLITE_NO_MEMORY;
  pack_panels(reinterpret_cast<const float*>(f->x), f->m, kernel.matrix.k, f->x_stride, kernel.rows, packed);
  SparseCall call{packed,  kernel.matrix.values(), reinterpret_cast<const float*>(f->bias), reinterpret_cast<float*>(f->out), f->m, f->out_stride * 4,
                  {}, {}};
  for (int i = 0; i < jit::kMostPostOps; i++) {
    call.operands[i] = reinterpret_cast<const float*>(f->operands[i]);
    call.operand_bytes[i] = f->operand_strides[i] * 4;
  }
  if (kernel.code != nullptr) {
    kernel.code->entry<jit::SparseFunction>()(&call);
  } else {
    run_compiled(kernel, call);
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(sparse_gemm, run)
