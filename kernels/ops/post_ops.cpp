#include "ops/post_ops.h"

#include "frames/post_ops.h"
#include "jit/elementwise_call.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

// Products and convolutions refer to post-ops whether the build has kernels that bring some or not.
constexpr bool kHeld = PTLITE_HOLDS_conv_post || PTLITE_HOLDS_gemm_post || PTLITE_HOLDS_linear_post;

void PostOps::apply(int64_t rows, int64_t cols, float* out, int64_t out_row, int64_t batch, int64_t row, int64_t col) const {
  if constexpr (!kHeld) return;
  const int operands = program_.inputs - 1;
  const float* at[kMostOperands];
  for (int k = 0; k < operands; k++) at[k] = operand_[k].at + batch * operand_[k].batch + row * operand_[k].row + col * operand_[k].col;
  if (code_ != 0) {
    // rows without gaps are one long row, for operands too
    bool dense = out_row == cols;
    for (int k = 0; k < operands; k++) {
      const Operand& o = operand_[k];
      dense = dense && ((o.row == cols && o.col == 1) || (o.row == 0 && o.col == 0));
    }
    if (dense) {
      cols *= rows;
      rows = 1;
    }
    jit::ElementwiseCall call;
    call.out = out;
    call.in[0] = out;
    call.rows = rows;
    call.length = cols;
    call.out_step = call.in_step[0] = out_row * 4;
    for (int k = 0; k < operands; k++) {
      call.in[k + 1] = at[k];
      call.in_step[k + 1] = operand_[k].row * 4;
    }
    jit::run_elementwise(code_, call);
    return;
  }
  StepBuffers buffers;
  StepInput inputs[kMostOperands + 1];
  for (int64_t r = 0; r < rows; r++, out += out_row) {
    inputs[0] = {out, 1};
    for (int k = 0; k < operands; k++) inputs[k + 1] = {at[k] + r * operand_[k].row, operand_[k].col};
    run_steps(program_, inputs, cols, out, buffers);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
