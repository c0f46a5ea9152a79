// Puts element-wise post-ops into another generator's code: it computes in place on a vector register and leaves loads, stores and
// loops to its host.
//
//   1. init with the chain, in the host's constructor;
//   2. escape_regs for every register the host uses, so that scratch registers are taken from the others
//      (rcx, rdx, rsi, rdi and rsp are never taken; r10 is spent by int8_lut);
//   3. vector_compute where the result is in a register; 4. prepare_table behind the last instruction.
#pragma once

#include <vector>

#include "jit/algorithms.h"

namespace ptlite {
namespace jit {

enum class PostOpKind : uint8_t { eltwise, binary };

struct PostOpAttributes {
  int32_t dtype;  // of the data: PTLITE_FLOAT32 or PTLITE_BFLOAT16 (bf16 is computed in fp32)
  PostOpKind kind;
  JitAlgorithm algorithm;
  // By algorithm: relu alpha is the slope; linear alpha x + beta; quantize and dequantize alpha is the zero point and scale the scale;
  // clamp alpha and beta are the bounds; elu alpha; softplus alpha is PyTorch's beta, and beta its threshold.
  float alpha = 0;
  float beta = 0;
  float scale = 1;
  const uint8_t* lut = nullptr;
};

// Where binary post-ops find their second operand: the host knows addresses, strides and tails.
class OperandSource {
 public:
  virtual ~OperandSource() = default;
  // Emits a load of the operand of post-op `index`, as fp32, into `to`, for the elements that the register being computed holds.
  virtual void load_operand(const Xbyak::Xmm& to, int index) = 0;
};

class EltwiseInjector {
 public:
  // Whether a chain can be generated: known algorithms, lanes of one kind into the next, a dtype and enough registers beside
  // `used_vectors` of the host's.
  static bool supported(Isa isa, const std::vector<PostOpAttributes>& chain, int used_vectors);

  // `operands` may be null where the chain has no binary post-op.
  void init(Generator* generator, const std::vector<PostOpAttributes>& chain, OperandSource* operands = nullptr);

  // Registers in use, by number; erase gives one back, or all of a kind.
  void escape_regs(RegisterKind kind, int index);
  void escape_erase(RegisterKind kind, int index = -1);

  // Applies the chain, or the post-ops of `indices` in that order, to a register that holds fp32 (or int32, between quantize and dequantize).
  void vector_compute(const Xbyak::Xmm& x, const std::vector<int>& indices = {});

  // Writes constants and tables. finish(generator) does it as well: for hosts that write code or data of their own behind them.
  void prepare_table();

  // Some register was missing; the code must not be used.
  bool failed() const { return failed_; }

 private:
  Generator* g_ = nullptr;
  std::vector<PostOpAttributes> chain_;
  OperandSource* operands_ = nullptr;
  RegisterSet vectors_{0};
  RegisterSet masks_{0};
  bool failed_ = false;
};

}  // namespace jit
}  // namespace ptlite
