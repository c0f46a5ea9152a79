#include "jit/sparse_rows.h"

#include <stddef.h>

#include "jit/sparse_columns.h"
#include "ptlite_abi.h"

namespace ptlite {
namespace jit {
namespace {

using Xbyak::Address;
using Xbyak::Opmask;
using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

class RowsGenerator : public Generator, private OperandSource {
 public:
  RowsGenerator(const SparsePlan& plan, size_t capacity)
      : Generator(plan.isa, capacity), plan_(plan), chain_(plan.chain()), sets_(sums_in_turns(true, plan.rows)) {
    injector_.init(this, chain_, this);
  }

  Generated generate() {
    enter();
    mov(call_, rdi);
    if (wide()) kmovw(Opmask(kColumnMask), ptr[call_ + at(offsetof(SparseCall, mask))]);
    mov(panel_, field(offsetof(SparseCall, panels)));
    mov(out_, field(offsetof(SparseCall, out)));
    mov(out_bytes_, field(offsetof(SparseCall, out_bytes)));
    mov(left_, field(offsetof(SparseCall, m)));
    xor_(row_, row_);
    Xbyak::Label panel;
    L(panel);
    start_sums();
    add_blocks();
    finish_sums();
    add(row_, plan_.rows);
    add(panel_, field(offsetof(SparseCall, panel_bytes)));
    imul(rax, out_bytes_, plan_.rows);
    add(out_, rax);
    sub(left_, plan_.rows);
    jg(panel, T_NEAR);
    leave();
    if (injector_.failed()) return {};
    return finish(*this);
  }

 private:
  static constexpr int kColumnMask = 2;

  static int at(size_t offset) { return static_cast<int>(offset); }
  Address field(size_t offset) { return ptr[call_ + at(offset)]; }
  Xmm sum(int row, int set = 0) { return vec(set * plan_.rows + row); }

  void start_sums() {
    if (plan_.has_bias) {
      mov(r10, field(offsetof(SparseCall, bias)));
      columns_.load(sum(0), ptr[r10]);
      for (int row = 1; row < plan_.rows; row++) vmovaps(sum(row), sum(0));
    }
    for (int i = plan_.has_bias ? plan_.rows : 0; i < plan_.rows * sets_; i++) vxorps(vec(i), vec(i), vec(i));
  }

  void add_blocks() {
    Xbyak::Label some, rest, one, done;
    const int block = plan_.matrix->block_bytes();
    mov(count_, field(offsetof(SparseCall, blocks)));
    mov(offsets_, field(offsetof(SparseCall, offsets)));
    mov(values_, field(offsetof(SparseCall, values)));
    if (sets_ > 1) {
      sub(count_, sets_);
      jl(rest, T_NEAR);
      align(32);
      L(some);
      for (int set = 0; set < sets_; set++) add_block(set, set);
      add(offsets_, 4 * sets_);
      add(values_, block * sets_);
      sub(count_, sets_);
      jge(some, T_NEAR);
      L(rest);
      add(count_, sets_);
    }
    test(count_, count_);
    jle(done, T_NEAR);
    align(32);
    L(one);
    add_block(0, 0);
    add(offsets_, 4);
    add(values_, block);
    dec(count_);
    jnz(one, T_NEAR);
    L(done);
    for (int set = 1; set < sets_; set++) {
      for (int row = 0; row < plan_.rows; row++) vaddps(sum(row), sum(row), sum(row, set));
    }
  }

  // The block `ahead` of the next one, to a set of sums.
  void add_block(int ahead, int set) {
    const Xmm weights = vec(plan_.rows * sets_);
    // Activations come from the second-level cache. Without this, all loads from a line are issued before it is there, and again after.
    mov(eax, dword[offsets_ + 4 * (ahead + kSparseAhead)]);
    prefetcht0(ptr[panel_ + rax]);
    if (plan_.stride > 16) prefetcht0(ptr[panel_ + rax + 64]);
    mov(r11d, dword[offsets_ + 4 * ahead]);
    add(r11, panel_);
    load_weights(*this, *plan_.matrix, weights, ptr[values_ + plan_.matrix->block_bytes() * ahead]);
    for (int row = 0; row < plan_.rows; row++) {
      if (wide()) {
        vfmadd231ps(sum(row, set), weights, ptr_b[r11 + 4 * row]);
      } else {
        const Xmm activation = vec(plan_.rows * sets_ + 1);
        vbroadcastss(activation, dword[r11 + 4 * row]);
        vfmadd231ps(sum(row, set), weights, activation);
      }
    }
  }

  void finish_sums() {
    // the chain needs registers; where the rows leave too few, they go through memory
    const bool in_registers = EltwiseInjector::supported(plan_.isa, chain_, plan_.rows + (wide() ? 0 : 1));
    for_rows(*this, {out_, out_bytes_, left_, row_, cursor_}, plan_.rows, [&](int row) {
      if (in_registers && !chain_.empty()) post_ops(sum(row), plan_.rows);
      columns_.store(ptr[cursor_], sum(row));
    });
    if (!in_registers) rows_in_memory();
  }

  void rows_in_memory() {
    Xbyak::Label row;
    mov(rbp, plan_.rows);
    cmp(left_, rbp);
    cmovl(rbp, left_);
    mov(cursor_, out_);
    mov(r11, row_);
    L(row);
    columns_.load(vec(0), ptr[cursor_]);
    post_ops(vec(0), 1);
    columns_.store(ptr[cursor_], vec(0));
    add(cursor_, out_bytes_);
    inc(r11);
    dec(rbp);
    jnz(row, T_NEAR);
  }

  // The chain on a register, while the first `used` hold rows.
  void post_ops(const Xmm& x, int used) {
    injector_.escape_erase(RegisterKind::vector);
    for (int i = 0; i < used; i++) injector_.escape_regs(RegisterKind::vector, i);
    injector_.escape_regs(RegisterKind::mask, kColumnMask);
    if (!wide()) injector_.escape_regs(RegisterKind::vector, kMaskVector);
    injector_.vector_compute(x);
  }

  void load_operand(const Xmm& to, int index) override {
    if (locate_operand(*this, call_, to, plan_.post_ops[index].access, index)) columns_.load(to, ptr[r10]);
  }

  static constexpr int kMaskVector = 15;

  const SparsePlan& plan_;
  const std::vector<PostOpAttributes> chain_;
  EltwiseInjector injector_;
  const int sets_;
  const Reg64 call_ = rbx, panel_ = r8, offsets_ = r9, values_ = rcx, count_ = rdi, out_ = rsi, out_bytes_ = r13, left_ = rdx, row_ = r14,
              cursor_ = r15;
  const ColumnTransfer columns_{*this, call_, wide() ? kColumnMask : kMaskVector};
};

}  // namespace

int most_rows(Isa isa) { return isa == Isa::avx512 ? 28 : 12; }

Generated generate_sparse_rows(const SparsePlan& plan) {
  // alone with one row, all registers but the tail's mask are free
  if (!EltwiseInjector::supported(plan.isa, plan.chain(), 2)) return {};
  return RowsGenerator(plan, 65536 + 2048 * static_cast<size_t>(plan.rows) * (plan.post_ops.size() + 1)).generate();
}

}  // namespace jit
}  // namespace ptlite
