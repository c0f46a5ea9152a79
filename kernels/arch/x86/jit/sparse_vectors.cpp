#include "jit/sparse_vectors.h"

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

// What both orders of the output have in common: panels, groups of channels, sums.
class VectorsGenerator : public Generator, protected OperandSource {
 public:
  VectorsGenerator(const SparsePlan& plan, size_t capacity)
      : Generator(plan.isa, capacity), plan_(plan), chain_(plan.chain()), most_vectors_(plan.rows / lanes()), group_(lanes() / 2) {
    injector_.init(this, chain_, this);
  }

  Generated generate() {
    const int tile = vector_bytes() * most_vectors_ * lanes();
    enter();
    // a tile of sums and a vector of weights, aligned
    sub(rsp, tile + 136);
    lea(tile_, ptr[rsp + 64]);
    and_(tile_, -64);
    mov(call_, rdi);
    mov(panel_, field(offsetof(SparseCall, panels)));
    mov(left_, field(offsetof(SparseCall, m)));
    mov(out_, field(offsetof(SparseCall, out)));
    mov(out_bytes_, field(offsetof(SparseCall, out_bytes)));
    xor_(row_, row_);
    start();
    Xbyak::Label panel, next, fewer[kMostVectors];
    L(panel);
    for (vectors_ = most_vectors_; vectors_ > 0; vectors_--) {
      if (vectors_ > 1) {
        cmp(left_, (vectors_ - 1) * lanes());
        jle(fewer[vectors_ - 1], T_NEAR);
      }
      start_panel();
      for (channel_ = 0; channel_ < lanes(); channel_ += group_) group();
      finish_panel();
      if (vectors_ > 1) {
        jmp(next, T_NEAR);
        L(fewer[vectors_ - 1]);
      }
    }
    L(next);
    add(row_, plan_.rows);
    add(panel_, field(offsetof(SparseCall, panel_bytes)));
    advance_out();
    sub(left_, plan_.rows);
    jg(panel, T_NEAR);
    add(rsp, tile + 136);
    leave();
    if (injector_.failed()) return {};
    return finish(*this);
  }

 protected:
  virtual void start() = 0;
  virtual void start_panel() = 0;
  // Stores the sums of `group_` channels from channel_ on, of which the first is there.
  virtual void finish_group() = 0;
  virtual void finish_panel() = 0;
  virtual void advance_out() = 0;

  static int at(size_t offset) { return static_cast<int>(offset); }
  Address field(size_t offset) { return ptr[call_ + at(offset)]; }
  Xmm sum(int channel, int vector) { return vec(channel * vectors_ + vector); }
  int sums() const { return group_ * vectors_; }

  // Emits `body` per channel of the group that exists.
  template <class Body>
  void for_channels(const Body& body) {
    Xbyak::Label end;
    for (int channel = 0; channel < group_; channel++) {
      if (channel > 0) {
        cmp(dword[call_ + at(offsetof(SparseCall, lanes))], channel_ + channel);
        jle(end, T_NEAR);
      }
      body(channel);
    }
    L(end);
  }

  // The chain on a register, while the first `used` are taken.
  void post_ops(const Xmm& x, int used) {
    injector_.escape_erase(RegisterKind::vector);
    for (int i = 0; i < used; i++) injector_.escape_regs(RegisterKind::vector, i);
    for (int v = 0; v < kMostVectors; v++) injector_.escape_regs(RegisterKind::mask, kFirstMask + v);
    if (!wide()) injector_.escape_regs(RegisterKind::vector, kMaskVector);
    injector_.vector_compute(x);
  }

  // r10: the operand of a post-op at the column.
  void operand_address(int index) { mov(r10, field(offsetof(SparseCall, operands) + 8 * index)); }

  static constexpr int kFirstMask = 2;
  static constexpr int kMaskVector = 15;

  const SparsePlan& plan_;
  const std::vector<PostOpAttributes> chain_;
  EltwiseInjector injector_;
  const int most_vectors_;
  const int group_;  // channels whose sums are in registers
  int vectors_ = 0;  // of rows, in the code at hand
  int channel_ = 0;  // first of the group, within the column
  const Reg64 call_ = rbx, panel_ = r8, offsets_ = r9, values_ = rcx, count_ = rdi, out_ = rsi, out_bytes_ = r13, left_ = rdx, row_ = r14,
              cursor_ = r15, tile_ = r12;

 private:
  void group() {
    Xbyak::Label end;
    cmp(dword[call_ + at(offsetof(SparseCall, lanes))], channel_);
    jle(end, T_NEAR);
    for (int i = 0; i < sums(); i++) vxorps(vec(i), vec(i), vec(i));
    if (plan_.has_bias) {
      mov(r10, field(offsetof(SparseCall, bias)));
      for_channels([&](int channel) {
        vbroadcastss(sum(channel, 0), dword[r10 + (channel_ + channel) * 4]);
        for (int v = 1; v < vectors_; v++) vmovaps(sum(channel, v), sum(channel, 0));
      });
    }
    add_blocks();
    finish_group();
    L(end);
  }

  void add_blocks() {
    Xbyak::Label block, done;
    const int vector = vector_bytes(), block_bytes = plan_.matrix->block_bytes();
    mov(count_, field(offsetof(SparseCall, blocks)));
    mov(offsets_, field(offsetof(SparseCall, offsets)));
    mov(values_, field(offsetof(SparseCall, values)));
    test(count_, count_);
    jle(done, T_NEAR);
    align(32);
    L(block);
    mov(r11d, dword[offsets_]);
    add(r11, panel_);
    for (int v = 0; v < vectors_; v++) vmovups(vec(sums() + v), ptr[r11 + v * vector]);
    const int spare = vector_count() - sums() - vectors_;
    if (plan_.matrix->halves) widen_weights(sums() + vectors_);
    for (int channel = 0; channel < group_; channel++) {
      const Xmm weight = vec(sums() + vectors_ + channel % spare);
      vbroadcastss(weight, weight_at(channel));
      for (int v = 0; v < vectors_; v++) vfmadd231ps(sum(channel, v), weight, vec(sums() + v));
    }
    add(offsets_, 4);
    add(values_, block_bytes);
    dec(count_);
    jnz(block, T_NEAR);
    L(done);
  }

  // bfloat16: the block's weights of the group go through memory, to be broadcast from there like others.
  void widen_weights(int index) {
    const Address from = ptr[values_ + channel_ * 2];
    const Xmm to = wide() ? Xmm(Xbyak::Ymm(index)) : Xmm(index);
    load_weights(*this, *plan_.matrix, to, from);
    vmovups(widened(0), to);
  }
  Address weight_at(int channel) { return plan_.matrix->halves ? widened(channel) : dword[values_ + (channel_ + channel) * 4]; }
  Address widened(int channel) { return ptr[tile_ + vector_bytes() * most_vectors_ * lanes() + channel * 4]; }
};

// out is [n, m]: vectors are stored as they are, cut to the rows that exist.
class ChannelMajor : public VectorsGenerator {
 public:
  using VectorsGenerator::VectorsGenerator;

 private:
  void start() override {}
  // k2, k3, ..: the rows of each vector that exist
  void start_panel() override {
    if (!wide()) return;
    mov(r10d, 64);
    cmp(left_, r10);
    cmovl(r10, left_);
    mov(rax, -1);
    bzhi(rax, rax, r10);
    for (int v = 0; v < vectors_; v++) {
      kmovw(Opmask(kFirstMask + v), eax);
      if (v + 1 < vectors_) shr(rax, 16);
    }
  }
  void finish_panel() override {}
  void advance_out() override { add(out_, plan_.rows * 4); }

  void finish_group() override {
    const bool in_registers = EltwiseInjector::supported(plan_.isa, chain_, sums() + (wide() ? 0 : 1));
    const auto each = [&](const auto& body) {
      imul(cursor_, out_bytes_, channel_);
      add(cursor_, out_);
      for_channels([&](int channel) {
        for (vector_ = 0; vector_ < vectors_; vector_++) body(channel, vector_);
        add(cursor_, out_bytes_);
      });
    };
    each([&](int channel, int v) {
      if (in_registers) compute(sum(channel, v), channel, sums());
      store(sum(channel, v), v);
      if (starts_line(v)) prefetchw(next_panel(cursor_, v));
    });
    if (in_registers) return;
    // the chain needs registers that the sums take
    each([&](int channel, int v) {
      load(vec(0), cursor_, v);
      compute(vec(0), channel, 1);
      store(vec(0), v);
    });
  }

  void compute(const Xmm& x, int channel, int used) {
    if (chain_.empty()) return;
    channel_in_group_ = channel;
    post_ops(x, used);
  }

  void load_operand(const Xmm& to, int index) override {
    const int32_t access = plan_.post_ops[index].access;
    operand_address(index);
    if (access != JitAccess_full) {
      vbroadcastss(to, dword[r10 + (access == JitAccess_row ? (channel_ + channel_in_group_) * 4 : 0)]);
      return;
    }
    mov(rax, field(offsetof(SparseCall, operand_bytes) + 8 * index));
    imul(rax, rax, channel_ + channel_in_group_);
    add(r10, rax);
    lea(r10, ptr[r10 + row_ * 4]);
    load(to, r10, vector_);
    if (starts_line(vector_)) prefetcht0(next_panel(r10, vector_));
  }

  // Rows of 16 channels are more streams than a CPU follows by itself: what the next panel reads and writes is asked for here.
  Address next_panel(const Reg64& base, int vector) { return ptr[base + plan_.rows * 4 + vector * vector_bytes()]; }
  bool starts_line(int vector) const { return vector * vector_bytes() % 64 == 0; }

  void load(const Xmm& to, const Reg64& base, int vector) {
    const Address from = ptr[base + vector * vector_bytes()];
    if (wide()) {
      vmovups(to | Opmask(kFirstMask + vector) | T_z, from);
    } else {
      load_mask(vector);
      vmaskmovps(to, vec(kMaskVector), from);
    }
  }
  void store(const Xmm& from, int vector) {
    const Address to = ptr[cursor_ + vector * vector_bytes()];
    if (wide()) {
      vmovups(to | Opmask(kFirstMask + vector), from);
    } else {
      load_mask(vector);
      vmaskmovps(to, vec(kMaskVector), from);
    }
  }
  // AVX2: the rows of a vector that exist, from 8 words of ones followed by 8 of zeros.
  void load_mask(int vector) {
    if (ones_ == nullptr) {
      std::vector<uint32_t> words(16, 0);
      for (int i = 0; i < 8; i++) words[i] = ~uint32_t{0};
      ones_ = &table(words);
    }
    lea(rax, ptr[left_ - vector * 8]);
    mov(r11d, 8);
    cmp(rax, r11);
    cmovg(rax, r11);
    xor_(r11d, r11d);
    test(rax, rax);
    cmovs(rax, r11);
    neg(rax);
    lea(r11, ptr[rip + *ones_]);
    vmovups(vec(kMaskVector), ptr[r11 + rax * 4 + 32]);
  }

  int vector_ = 0, channel_in_group_ = 0;
  Xbyak::Label* ones_ = nullptr;
};

// out is [m, n]: sums go to a tile on the stack, which is read transposed, four rows at a time.
class RowMajor : public VectorsGenerator {
 public:
  using VectorsGenerator::VectorsGenerator;

 private:
  void start() override {
    if (wide()) kmovw(Opmask(kFirstMask), ptr[call_ + at(offsetof(SparseCall, mask))]);
  }
  void start_panel() override {}
  void advance_out() override {
    imul(rax, out_bytes_, plan_.rows);
    add(out_, rax);
  }

  // Channels that are not there have sums of zero.
  void finish_group() override {
    for (int channel = 0; channel < group_; channel++) {
      for (int v = 0; v < vectors_; v++) {
        vmovaps(ptr[tile_ + (channel_ + channel) * vectors_ * vector_bytes() + v * vector_bytes()], sum(channel, v));
      }
    }
  }

  void finish_panel() override {
    Xbyak::Label four, end;
    mov(cursor_, out_);
    mov(r11, row_);
    mov(rbp, tile_);
    mov(count_, vectors_ * lanes());
    cmp(left_, count_);
    cmovl(count_, left_);
    L(four);
    transpose_four();
    for (int row = 0; row < 4; row++) {
      if (row > 0) {
        cmp(count_, row);
        jle(end, T_NEAR);
      }
      if (!chain_.empty()) post_ops(vec(row), 4);
      columns_.store(ptr[cursor_], vec(row));
      add(cursor_, out_bytes_);
      inc(r11);
    }
    add(rbp, 16);
    sub(count_, 4);
    jg(four, T_NEAR);
    L(end);
  }

  // Four rows of the tile at rbp, to vec(0) .. vec(3).
  void transpose_four() {
    const int channel = vectors_ * vector_bytes();
    for (int i = 0; i < 4; i++) {
      const Xmm x = vec(4 + i);
      vmovups(Xmm(4 + i), ptr[rbp + i * channel]);
      for (int part = 1; part < lanes() / 4; part++) {
        const Address from = ptr[rbp + (4 * part + i) * channel];
        if (wide()) vinsertf32x4(Xbyak::Zmm(x.getIdx()), Xbyak::Zmm(x.getIdx()), from, part);
        else vinsertf128(Xbyak::Ymm(x.getIdx()), Xbyak::Ymm(x.getIdx()), from, part);
      }
    }
    vunpcklps(vec(0), vec(4), vec(5));
    vunpckhps(vec(2), vec(4), vec(5));
    vunpcklps(vec(4), vec(6), vec(7));
    vunpckhps(vec(5), vec(6), vec(7));
    vshufps(vec(1), vec(0), vec(4), 0xee);
    vshufps(vec(0), vec(0), vec(4), 0x44);
    vshufps(vec(3), vec(2), vec(5), 0xee);
    vshufps(vec(2), vec(2), vec(5), 0x44);
  }

  void load_operand(const Xmm& to, int index) override {
    if (locate_operand(*this, call_, to, plan_.post_ops[index].access, index)) columns_.load(to, ptr[r10]);
  }

  const ColumnTransfer columns_{*this, call_, wide() ? kFirstMask : kMaskVector};
};

}  // namespace

Generated generate_sparse_vectors(const SparsePlan& plan, bool channel_major) {
  if (!EltwiseInjector::supported(plan.isa, plan.chain(), channel_major ? 2 : 5)) return {};
  const size_t capacity = 65536 + (channel_major ? 524288 : 65536) * (plan.post_ops.size() + 1);
  return channel_major ? ChannelMajor(plan, capacity).generate() : RowMajor(plan, capacity).generate();
}

}  // namespace jit
}  // namespace ptlite
