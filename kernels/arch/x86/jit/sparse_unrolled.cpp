#include "jit/sparse_unrolled.h"

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

// Of the 32 kB of an instruction cache, what one part of the weight may take.
constexpr size_t kPartBytes = 20 << 10;
constexpr size_t kMostCodeBytes = size_t{48} << 20;

class UnrolledGenerator : public Generator, private OperandSource {
 public:
  UnrolledGenerator(const SparsePlan& plan, size_t capacity) : Generator(plan.isa, capacity), plan_(plan), matrix_(*plan.matrix), chain_(plan.chain()) {
    injector_.init(this, chain_, this);
  }

  Generated generate() {
    enter();
    mov(call_, rdi);
    mov(out_bytes_, ptr[call_ + static_cast<int>(offsetof(SparseCall, out_bytes))]);
    int64_t column = 0;
    int64_t block = 0;
    while (column < matrix_.columns()) part(column, block);
    leave();
    if (injector_.failed()) return {};
    return finish(*this);
  }

 private:
  static constexpr int kColumnMask = 2;

  // A loop over all panels with as much of the weight as fits kPartBytes, from `block` of `column` on.
  void part(int64_t& column, int64_t& block) {
    Xbyak::Label panel, done;
    mov(panel_, ptr[call_ + static_cast<int>(offsetof(SparseCall, panels))]);
    mov(out_, ptr[call_ + static_cast<int>(offsetof(SparseCall, out))]);
    mov(left_, ptr[call_ + static_cast<int>(offsetof(SparseCall, m))]);
    xor_(row_, row_);
    L(panel);
    const size_t begin = getSize();
    do {
      segment(column, block, begin);
      if (block == matrix_.start[column + 1]) column++;
    } while (column < matrix_.columns() && getSize() - begin < kPartBytes / 2);
    add(row_, plan_.rows);
    add(panel_, ptr[call_ + static_cast<int>(offsetof(SparseCall, panel_bytes))]);
    imul(rax, out_bytes_, plan_.rows);
    add(out_, rax);
    sub(left_, plan_.rows);
    jg(panel, T_NEAR);
  }

  // The blocks of one column from `block` on, at most to the end of the part.
  void segment(int64_t column, int64_t& block, size_t begin) {
    const bool first = block == matrix_.start[column];
    if (first) {
      init_from_bias(column);
    } else {
      // rows that are not there: what registers held before could be denormal, which is slow to add to
      for (int row = 0; row < plan_.rows; row++) vxorps(vec(row), vec(row), vec(row));
      for_rows(*this, {out_, out_bytes_, left_, row_, cursor_}, plan_.rows, [&](int row) { load_out(vec(row), column); });
    }
    mov(weights_, ptr[call_ + static_cast<int>(offsetof(SparseCall, values))]);
    int64_t weights_at = -1, activations_at = -1;
    for (; block < matrix_.start[column + 1] && getSize() - begin < kPartBytes; block++) multiply(block, weights_at, activations_at);
    const bool last = block == matrix_.start[column + 1];
    const bool compute = last && !plan_.post_ops.empty();
    // the chain needs registers; where the rows leave too few, they go through memory
    const bool spill = compute && !EltwiseInjector::supported(plan_.isa, chain_, plan_.rows + (wide() ? 0 : 1));
    for_rows(*this, {out_, out_bytes_, left_, row_, cursor_}, plan_.rows, [&](int row) {
      if (compute && !spill) finish_row(vec(row), column, plan_.rows);
      store_out(vec(row), column);
    });
    if (!spill) return;
    for_rows(*this, {out_, out_bytes_, left_, row_, cursor_}, plan_.rows, [&](int) {
      load_out(vec(0), column);
      finish_row(vec(0), column, 1);
      store_out(vec(0), column);
    });
  }

  void init_from_bias(int64_t column) {
    if (!plan_.has_bias) {
      for (int row = 0; row < plan_.rows; row++) vxorps(vec(row), vec(row), vec(row));
      return;
    }
    mov(r10, ptr[call_ + static_cast<int>(offsetof(SparseCall, bias))]);
    add(r10, static_cast<int>(column * matrix_.width * 4));
    load_columns(vec(0), ptr[r10], column);
    for (int row = 1; row < plan_.rows; row++) vmovaps(vec(row), vec(0));
  }

  void multiply(int64_t block, int64_t& weights_at, int64_t& activations_at) {
    // short displacements: the bases are moved only when they do not reach
    const int vector = matrix_.block_bytes();
    const int64_t offset = block * vector;
    const int64_t reach = 127 * (wide() ? vector : 1);
    if (weights_at < 0 || offset - weights_at > reach) {
      const int64_t base = offset + (wide() ? 128 * vector : 0);
      if (weights_at < 0) {
        mov(r10, base);
        add(weights_, r10);
      } else {
        add(weights_, static_cast<int>(base - weights_at));
      }
      weights_at = base;
    }
    const Xmm weights = vec(plan_.rows);
    load_weights(*this, matrix_, weights, ptr[weights_ + static_cast<int>(offset - weights_at)]);

    const int row_bytes = plan_.rows * 4;
    const int64_t channel = static_cast<int64_t>(matrix_.index[block]) * plan_.stride * 4;
    const int64_t span = wide() ? 508 : 127;
    if (activations_at < 0 || channel + row_bytes - activations_at > span) {
      activations_at = channel + (wide() ? 512 : 128);
      lea(activations_, ptr[panel_ + static_cast<int>(activations_at)]);
    }
    // see sparse_rows.cpp
    if (block + kSparseAhead < matrix_.blocks()) {
      const int64_t ahead = static_cast<int64_t>(matrix_.index[block + kSparseAhead]) * plan_.stride * 4;
      prefetcht0(ptr[panel_ + static_cast<int>(ahead)]);
    }
    for (int row = 0; row < plan_.rows; row++) {
      const int at = static_cast<int>(channel + row * 4 - activations_at);
      if (wide()) {
        vfmadd231ps(vec(row), weights, ptr_b[activations_ + at]);
      } else {
        const Xmm activation = vec(plan_.rows + 1);
        vbroadcastss(activation, dword[activations_ + at]);
        vfmadd231ps(vec(row), weights, activation);
      }
    }
  }

  bool partial(int64_t column) const { return (column + 1) * matrix_.width > matrix_.n; }
  int lanes_left(int64_t column) const { return static_cast<int>(matrix_.n - column * matrix_.width); }

  // Vectors of the last column are cut to n. AVX2 takes the mask from a register, which is the one after the rows' scratch.
  void load_columns(const Xmm& to, const Address& from, int64_t column) {
    if (!partial(column)) {
      vmovups(to, from);
    } else if (wide()) {
      column_mask(column);
      vmovups(to | Opmask(kColumnMask) | T_z, from);
    } else {
      const Xmm mask = vec(15);
      vmovups(mask, ptr[rip + mask_table(column)]);
      vmaskmovps(to, mask, from);
    }
  }
  void store_columns(const Address& to, const Xmm& from, int64_t column) {
    if (!partial(column)) {
      vmovups(to, from);
    } else if (wide()) {
      column_mask(column);
      vmovups(to | Opmask(kColumnMask), from);
    } else {
      const Xmm mask = vec(15);
      vmovups(mask, ptr[rip + mask_table(column)]);
      vmaskmovps(to, mask, from);
    }
  }
  void column_mask(int64_t column) {
    mov(eax, (1 << lanes_left(column)) - 1);
    kmovw(Opmask(kColumnMask), eax);
  }
  Xbyak::Label& mask_table(int64_t column) {
    if (masks_ == nullptr) {
      std::vector<uint32_t> words(8, 0);
      for (int i = 0; i < lanes_left(column); i++) words[i] = ~uint32_t{0};
      masks_ = &table(words);
    }
    return *masks_;
  }

  Address out_at(int64_t column) { return ptr[cursor_ + static_cast<int>(column * matrix_.width * 4)]; }
  void load_out(const Xmm& to, int64_t column) { load_columns(to, out_at(column), column); }
  void store_out(const Xmm& from, int64_t column) { store_columns(out_at(column), from, column); }

  // The chain on a register, while `used` registers hold rows.
  void finish_row(const Xmm& x, int64_t column, int used) {
    column_ = column;
    injector_.escape_erase(RegisterKind::vector);
    for (int i = 0; i < used; i++) injector_.escape_regs(RegisterKind::vector, i);
    injector_.escape_regs(RegisterKind::mask, 0);
    injector_.escape_regs(RegisterKind::mask, kColumnMask);
    if (!wide()) injector_.escape_regs(RegisterKind::vector, 15);
    injector_.vector_compute(x);
  }

  void load_operand(const Xmm& to, int index) override {
    if (!locate_operand(*this, call_, to, plan_.post_ops[index].access, index)) return;
    load_columns(to, ptr[r10 + static_cast<int>(column_ * matrix_.width * 4)], column_);
  }

  const SparsePlan& plan_;
  const SparseMatrix& matrix_;
  const std::vector<PostOpAttributes> chain_;
  EltwiseInjector injector_;
  Xbyak::Label* masks_ = nullptr;
  int64_t column_ = 0;
  const Reg64 call_ = rbx, panel_ = r8, weights_ = r9, activations_ = rcx, out_ = rsi, out_bytes_ = r13, left_ = rdx, row_ = r14, cursor_ = r15;
};

// Above what the blocks of this weight can take.
size_t capacity_for(const SparsePlan& plan) {
  const size_t per_block = plan.isa == Isa::avx512 ? 8 * static_cast<size_t>(plan.rows) + 56 : 12 * static_cast<size_t>(plan.rows) + 56;
  const size_t per_column = 1024 * static_cast<size_t>(plan.rows) * (plan.post_ops.size() + 1) + 4096;
  const size_t parts = static_cast<size_t>(plan.matrix->blocks()) * per_block / (kPartBytes / 2) + 2;
  return static_cast<size_t>(plan.matrix->blocks()) * per_block + static_cast<size_t>(plan.matrix->columns()) * per_column + parts * 2048 + 65536;
}

}  // namespace

Generated generate_sparse_unrolled(const SparsePlan& plan) {
  // alone with one row, all registers but the tail's mask are free
  if (!EltwiseInjector::supported(plan.isa, plan.chain(), 2)) return {};
  const size_t capacity = capacity_for(plan);
  if (capacity > kMostCodeBytes || plan.matrix->columns() * plan.matrix->width * 4 > INT32_MAX) return {};
  return UnrolledGenerator(plan, capacity).generate();
}

}  // namespace jit
}  // namespace ptlite
