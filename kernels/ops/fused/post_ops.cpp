#include "ops/fused/post_ops.h"

#include <algorithm>

#include "frames/post_ops.h"
#include "jit/elementwise_call.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// Products and convolutions refer to post-ops whether the build has kernels that bring some or not.
constexpr bool kHeld = PTLITE_HOLDS_conv_post || PTLITE_HOLDS_gemm_post || PTLITE_HOLDS_linear_post || PTLITE_HOLDS_blocked_conv_post ||
                       PTLITE_HOLDS_blocked_depthwise_post || PTLITE_HOLDS_winograd_conv_post;

namespace {

/// Copies rows x cols elements; the rows are `from_row` and `to_row` elements apart.
void copy_rows(int64_t rows, int64_t cols, const float* from, int64_t from_row, float* to, int64_t to_row) {
  using V = Vec<float>;
  for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row) {
    int64_t c = 0;
    for (; c + V::size <= cols; c += V::size) V::load(from + c).store(to + c);
    std::copy(from + c, from + cols, to + c);
  }
}

}  // namespace

void PostOps::start(Operand* operand, int64_t batch, int64_t row, int64_t col) const {
  for (int k = 0; k < program_.inputs - 1; k++) {
    operand[k] = operand_[k];
    operand[k].at = start_of(operand[k], batch, row, col);
  }
}

void PostOps::apply(int64_t rows, int64_t cols, float* out, int64_t out_row, int64_t batch, int64_t row, int64_t col) const {
  if constexpr (!kHeld) return;
  Operand operand[kMostOperands];
  start(operand, batch, row, col);
  if (rows == 1 || rows * cols > kTile) {
    run(rows, cols, out, out_row, operand);
    return;
  }
  if (out_row == cols) {
    run_small(rows, cols, out, operand);
    return;
  }
  alignas(64) float tile[kTile];
  copy_rows(rows, cols, out, out_row, tile, cols);
  run_small(rows, cols, tile, operand);
  copy_rows(rows, cols, tile, cols, out, out_row);
}

void PostOps::apply(int64_t rows, int64_t cols, float* tile, float* out, int64_t out_row, int64_t batch, int64_t row, int64_t col) const {
  if constexpr (!kHeld) return;
  Operand operand[kMostOperands];
  start(operand, batch, row, col);
  // generated code takes rows of two vectors in pairs
  if (Vec<float>::size == 16 && cols == 32 && code_ != 0) {
    run_code(rows, cols, tile, cols, out, out_row, operand);
    return;
  }
  run_small(rows, cols, tile, operand);
  copy_rows(rows, cols, tile, cols, out, out_row);
}

void PostOps::run_small(int64_t rows, int64_t cols, float* out, Operand* operand) const {
  // The block is one long row, and its operands become one: a call of generated code per row of 32 elements costs more than the copy. The
  // copies begin at different offsets within a page, so that a load is not taken for one of what was just stored 4 KiB away.
  constexpr int64_t kApart = kTile + 80;
  alignas(64) float copies[kMostOperands * kApart];
  for (int k = 0; k < program_.inputs - 1; k++) {
    Operand& o = operand[k];
    if (o.col == 0 || o.row == cols) continue;
    float* copy = copies + k * kApart;
    copy_rows(rows, cols, o.at, o.row, copy, cols);
    o.at = copy;
    o.row = cols;
  }
  run(rows, cols, out, cols, operand);
}

void PostOps::run_code(int64_t rows, int64_t cols, const float* in, int64_t in_row, float* out, int64_t out_row,
                       const Operand* operand) const {
  jit::ElementwiseCall call;
  call.out = out;
  call.in[0] = in;
  call.rows = rows;
  call.length = cols;
  call.out_step = out_row * 4;
  call.in_step[0] = in_row * 4;
  for (int k = 0; k < program_.inputs - 1; k++) {
    call.in[k + 1] = operand[k].at;
    call.in_step[k + 1] = operand[k].row * 4;
  }
  jit::run_elementwise(code_, call);
}

void PostOps::run(int64_t rows, int64_t cols, float* out, int64_t out_row, const Operand* operand) const {
  const int operands = program_.inputs - 1;
  // rows without gaps are one long row
  bool dense = out_row == cols;
  for (int k = 0; k < operands; k++) dense = dense && (operand[k].col == 0 ? operand[k].row == 0 : operand[k].row == cols);
  if (dense) {
    cols *= rows;
    rows = 1;
  }
  if (code_ != 0) {
    run_code(rows, cols, out, out_row, out, out_row, operand);
    return;
  }
  StepBuffers buffers;
  StepInput inputs[kMostOperands + 1];
  for (int64_t r = 0; r < rows; r++, out += out_row) {
    inputs[0] = {out, 1};
    for (int k = 0; k < operands; k++) inputs[k + 1] = {operand[k].at + r * operand[k].row, operand[k].col};
    run_steps(program_, inputs, cols, out, buffers);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
