#include "jit/elementwise.h"

#include <stddef.h>
#include <string.h>

#include "dispatch/kernel.h"
#include "jit/transfer.h"

namespace ptlite {
namespace jit {
namespace {

using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

constexpr size_t kCapacity = 1 << 18;

class ElementwiseGenerator : public Generator, private InputSource {
 public:
  // `group` vectors at a time, as far as rows go.
  ElementwiseGenerator(const StepGraph& graph, int group)
      : Generator(static_cast<Isa>(graph.isa), kCapacity), graph_(graph), group_(group), steps_(graph, *this) {}

  Generated generate() {
    enter();
    push(rdi);
    Transfer::reserve_stack(*this);
    mov(out_, ptr[rdi + offsetof(ElementwiseCall, out)]);
    mov(rows_, ptr[rdi + offsetof(ElementwiseCall, rows)]);
    mov(length_, ptr[rdi + offsetof(ElementwiseCall, length)]);
    for (int i = 0; i < graph_.inputs; i++) mov(in_[i], ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, in)) + 8 * i]);
    for (int i = 0; i < graph_.more; i++) mov(more(i), ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, more)) + 8 * i]);
    // elements behind the last whole vector; all rows have the same
    mov(rcx, length_);
    and_(rcx, lanes() - 1);
    Transfer::prepare_tail(*this, kTailMask);
    sub(length_, rcx);

    Xbyak::Label row, pair, groups, vectors, single, tail, row_end, done;
    test(rows_, rows_);
    jle(done, T_NEAR);
    xor_(index_, index_);
    if (can_pair()) {
      // rows of two vectors, as in the tiles of products, two at a time
      cmp(length_, 2 * lanes());
      jne(row, T_NEAR);
      test(rcx, rcx);
      jnz(row, T_NEAR);
      sub(rows_, 2);
      jl(single, T_NEAR);
      align(32);
      L(pair);
      body(false, group_, true);
      next_rows(2);
      sub(rows_, 2);
      jge(pair, T_NEAR);
      L(single);
      add(rows_, 2);
      jz(done, T_NEAR);
    }
    align(32);
    L(row);
    xor_(index_, index_);
    if (group_ > 1) {
      lea(r10, ptr[index_ + group_ * lanes()]);
      cmp(r10, length_);
      jg(vectors, T_NEAR);
      align(32);
      L(groups);
      body(false, group_);
      add(index_, group_ * lanes());
      lea(r10, ptr[index_ + group_ * lanes()]);
      cmp(r10, length_);
      jle(groups, T_NEAR);
    }
    align(32);
    L(vectors);
    cmp(index_, length_);
    jge(tail, T_NEAR);
    body(false, 1);
    add(index_, lanes());
    jmp(vectors, T_NEAR);
    L(tail);
    test(rcx, rcx);
    jz(row_end, T_NEAR);
    body(true, 1);
    L(row_end);
    next_rows(1);
    dec(rows_);
    jnz(row, T_NEAR);
    L(done);
    if (graph_.streaming != 0) sfence();
    Transfer::release_stack(*this);
    pop(rdi);
    leave();
    if (failed_) return {};
    return finish(*this);
  }

 private:
  static constexpr int kTailMask = 2;
  // Bytes from what is read to what is asked for, where data come from memory.
  static constexpr int kAhead = 2048;

  // A group is two rows of two vectors.
  bool can_pair() const {
    bool floats = graph_.out_dtype == PTLITE_FLOAT32 && graph_.more == 0;
    for (int i = 0; i < graph_.inputs; i++) floats = floats && graph_.input[i].dtype == PTLITE_FLOAT32;
    return floats && group_ == 4 && graph_.streaming == 0;
  }

  // The address of a kept step's output: of the registers that inputs leave.
  const Reg64& more(int i) const { return in_[kMostInputs - 1 - i]; }

  void next_rows(int count) {
    mov(rdi, ptr[rsp + Transfer::stack_bytes(*this)]);
    for (int i = 0; i < count; i++) {
      add(out_, ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, out_step))]);
      for (int k = 0; k < graph_.inputs; k++) add(in_[k], ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, in_step)) + 8 * k]);
      for (int k = 0; k < graph_.more; k++) add(more(k), ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, more_step)) + 8 * k]);
    }
  }

  // Vector u of a pair of rows that are r10 bytes apart.
  Xbyak::Address of_pair(const Reg64& base, int u) {
    const int within = u % 2 * vector_bytes();
    return u < 2 ? ptr[base + within] : ptr[base + r10 + within];
  }

  // The steps on `count` vectors; `tail`: on the rcx elements that are left; `paired`: on two rows, with the call's address in rdi.
  void body(bool tail, int count, bool paired = false) {
    tail_ = tail;
    paired_ = paired;
    RegisterSet vectors(vector_count() / count);
    RegisterSet masks(count == 1 ? 8 : VectorGroup::masks(count) + 1);
    masks.reserve(0);
    if (count == 1) {
      masks.reserve(1);
      masks.reserve(kTailMask);
    }
    Emitter e(*this, vectors, masks, count);
    const int result = steps_.emit(e, vectors);
    const Transfer transfer(e, tail, kTailMask, graph_.streaming != 0);
    if (paired) mov(r10, ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, out_step))]);
    for (int u = 0; u < count; u++) {
      const Xmm from = e.g.at(vec(result), u);
      if (paired) {
        vmovups(of_pair(out_, u), from);
      } else {
        transfer.store(out_, index_, graph_.out_dtype, from, u * lanes(), is_rounded(graph_, graph_.steps - 1));
      }
    }
    failed_ |= e.failed;
  }

  void store_kept(Emitter& e, const Xmm& from, int i) override {
    const Transfer transfer(e, tail_, kTailMask, graph_.streaming != 0);
    const StepGraph::Kept& kept = graph_.kept[i];
    for (int u = 0; u < e.g.count(); u++) transfer.store(more(i), index_, kept.dtype, e.g.at(from, u), u * lanes(), is_rounded(graph_, kept.step));
  }

  void load_input(Emitter& e, const Xmm& to, int value) override {
    const StepGraph::Input& input = graph_.input[value];
    const Transfer transfer(e, tail_, kTailMask);
    if (paired_) mov(r10, ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, in_step)) + 8 * value]);
    for (int u = 0; u < e.g.count(); u++) {
      if (paired_) {
        // pairs are of floats
        if (input.broadcast != 0) {
          vbroadcastss(e.g.at(to, u), u < 2 ? dword[in_[value]] : dword[in_[value] + r10]);
        } else {
          vmovups(e.g.at(to, u), of_pair(in_[value], u));
        }
      } else if (input.broadcast != 0) {
        transfer.load_one(e.g.at(to, u), in_[value], input.dtype);
      } else {
        transfer.load(e.g.at(to, u), in_[value], index_, input.dtype, u * lanes());
        // the prefetcher of the processor stops at each page
        if (graph_.streaming != 0 && !tail_) prefetcht0(ptr[in_[value] + index_ * element_bytes(input.dtype) + u * lanes() * element_bytes(input.dtype) + kAhead]);
      }
    }
  }

  const StepGraph& graph_;
  const int group_;
  StepEmitter steps_;
  bool failed_ = false;
  bool tail_ = false;
  bool paired_ = false;
  const Reg64 out_ = rsi, rows_ = r8, length_ = r9, index_ = rax;
  const Reg64 in_[kMostInputs] = {r11, r12, r13, r14, r15, rbx, rbp, rdx};
};

}  // namespace

Generated generate_elementwise(const StepGraph& graph) {
  if (static_cast<Isa>(graph.isa) == Isa::none || !valid(graph)) return {};
  // as many vectors at a time as the registers are enough for
  for (int group = can_group(graph) ? 4 : 1; group > 1; group /= 2) {
    const Generated generated = ElementwiseGenerator(graph, group).generate();
    if (!generated.code.empty()) return generated;
  }
  return ElementwiseGenerator(graph, 1).generate();
}

}  // namespace jit
}  // namespace ptlite
