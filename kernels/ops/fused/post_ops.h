// Element-wise steps that a dense kernel applies to each block of its output while that is in the first caches.
//
//   const PostOps post(*frame);                                              once per call; a frame of codegen/kernels/post_ops.yaml
//   post.ahead(batch, row, col);                              per block, before its products: what to ask for meanwhile
//   post.apply(rows, cols, out, out_row, batch, row, col);    per block, when it is finished but for them
#pragma once

#include <stdint.h>

#include "jit/handle.h"
#include "ops/fused/step_program.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

/// Rows of memory that will be read soon, `row` bytes apart.
struct Ahead {
  const char* at;
  int64_t row;
};

class PostOps {
 public:
  static constexpr int kMostSteps = PTLITE_POST_STEPS, kMostOperands = PTLITE_POST_OPERANDS;
  /// Elements of the largest register tile of a product, and of a piece of a row of pixels.
  static constexpr int64_t kTile = 1024;

  template <class Frame>
  explicit PostOps(const Frame& f) : program_{f.post_inputs, f.post_steps, f.post_op, f.post_a, f.post_b, f.post_p0, f.post_p1}, code_(jit::is_ready(f.post_code) ? f.post_code : 0) {
    for (int k = 0; k < kMostOperands; k++) {
      operand_[k] = {reinterpret_cast<const float*>(f.post_in[k]), f.post_batch[k], f.post_row[k], f.post_col[k]};
    }
  }

  bool valid() const { return program_.valid() && program_.inputs >= 1 && program_.inputs <= kMostOperands + 1 && program_.steps <= kMostSteps; }

  /// The rows of the first full operand, a residual mostly, for the block at (batch, row, col); `none` without any.
  Ahead ahead(int64_t batch, int64_t row, int64_t col, Ahead none) const {
    for (int k = 0; k < program_.inputs - 1; k++) {
      const Operand& o = operand_[k];
      if (o.col != 0 && o.row != 0) return {reinterpret_cast<const char*>(start_of(o, batch, row, col)), o.row * 4};
    }
    return none;
  }

  /// The block of rows x cols at `out`, rows `out_row` elements apart, which lies at (batch, row, col) of the whole output.
  void apply(int64_t rows, int64_t cols, float* out, int64_t out_row, int64_t batch, int64_t row, int64_t col) const;
  /// The same for a block of at most kTile elements that lies in `tile` without gaps, and goes to `out`.
  void apply(int64_t rows, int64_t cols, float* tile, float* out, int64_t out_row, int64_t batch, int64_t row, int64_t col) const;

 private:
  /// Elements between neighbours in each direction.
  struct Operand {
    const float* at;
    int64_t batch, row, col;
  };

  static const float* start_of(const Operand& o, int64_t batch, int64_t row, int64_t col) {
    return o.at + batch * o.batch + row * o.row + col * o.col;
  }
  void start(Operand* operand, int64_t batch, int64_t row, int64_t col) const;
  void run_small(int64_t rows, int64_t cols, float* out, Operand* operand) const;
  void run(int64_t rows, int64_t cols, float* out, int64_t out_row, const Operand* operand) const;
  void run_code(int64_t rows, int64_t cols, const float* in, int64_t in_row, float* out, int64_t out_row, const Operand* operand) const;

  StepProgram program_;
  int64_t code_;
  Operand operand_[kMostOperands];
};

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
