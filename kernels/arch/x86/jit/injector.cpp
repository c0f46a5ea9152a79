#include "jit/injector.h"

#include "ptlite_abi.h"

namespace ptlite {
namespace jit {
namespace {

// Enough for the longest chain.
constexpr size_t kTrialBytes = 1 << 16;

class NoOperands : public OperandSource {
  void load_operand(const Xbyak::Xmm&, int) override {}
};

}  // namespace

bool EltwiseInjector::supported(Isa isa, const std::vector<PostOpAttributes>& chain, int used_vectors) {
  if (isa == Isa::none) return false;
  Lanes lanes = Lanes::f32;
  for (const PostOpAttributes& post_op : chain) {
    const Algorithm* row = algorithm(post_op.algorithm);
    if (row == nullptr || (row->unary == nullptr && row->binary == nullptr) || row->takes != lanes) return false;
    if (post_op.dtype != PTLITE_FLOAT32 && post_op.dtype != PTLITE_BFLOAT16) return false;
    const bool binary = row->binary != nullptr;
    if (binary != (post_op.kind == PostOpKind::binary)) return false;
    if (row->id == JitAlgorithm_int8_lut && post_op.lut == nullptr) return false;
    lanes = row->gives;
  }
  // registers are counted by taking them
  Generator trial(isa, kTrialBytes);
  NoOperands operands;
  EltwiseInjector injector;
  injector.init(&trial, chain, &operands);
  for (int i = 0; i < used_vectors; i++) injector.escape_regs(RegisterKind::vector, i);
  injector.vector_compute(trial.vec(0));
  return !injector.failed();
}

void EltwiseInjector::init(Generator* generator, const std::vector<PostOpAttributes>& chain, OperandSource* operands) {
  g_ = generator;
  chain_ = chain;
  operands_ = operands;
  vectors_ = RegisterSet(generator->vector_count());
  masks_ = RegisterSet(8);
  // k0 means no mask, and int8_lut gathers by k1
  masks_.reserve(0);
  masks_.reserve(1);
}

void EltwiseInjector::escape_regs(RegisterKind kind, int index) {
  if (kind == RegisterKind::vector) vectors_.take(index);
  if (kind == RegisterKind::mask) masks_.take(index);
}

void EltwiseInjector::escape_erase(RegisterKind kind, int index) {
  if (kind == RegisterKind::general) return;
  RegisterSet& set = kind == RegisterKind::vector ? vectors_ : masks_;
  if (index < 0) {
    set.give_all();
  } else {
    set.give(index);
  }
}

void EltwiseInjector::vector_compute(const Xbyak::Xmm& x, const std::vector<int>& indices) {
  Emitter e(*g_, vectors_, masks_);
  const bool was_free = vectors_.is_free(x.getIdx());
  vectors_.take(x.getIdx());
  const auto apply = [&](int index) {
    const PostOpAttributes& post_op = chain_[index];
    const Algorithm& row = *algorithm(post_op.algorithm);
    if (row.unary != nullptr) {
      row.unary(e, x, {post_op.alpha, post_op.beta, post_op.scale, post_op.lut});
      return;
    }
    const Emitter::Scratch operand(e);
    operands_->load_operand(operand, index);
    row.binary(e, x, operand);
  };
  if (indices.empty()) {
    for (int i = 0; i < static_cast<int>(chain_.size()); i++) apply(i);
  } else {
    for (const int i : indices) apply(i);
  }
  if (was_free) vectors_.give(x.getIdx());
  failed_ |= e.failed;
}

void EltwiseInjector::prepare_table() { g_->write_constants(); }

}  // namespace jit
}  // namespace ptlite
