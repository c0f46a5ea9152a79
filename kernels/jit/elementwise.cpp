#include "jit/elementwise.h"

#include <stddef.h>
#include <string.h>

#include "isa/kernel.h"
#include "jit/transfer.h"

namespace ptlite {
namespace jit {
namespace {

using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

constexpr size_t kCapacity = 1 << 18;

bool readable(int32_t dtype) {
  return dtype == PTLITE_FLOAT32 || dtype == PTLITE_BFLOAT16 || dtype == PTLITE_UINT8 || dtype == PTLITE_INT8 || dtype == PTLITE_QUINT8 ||
         dtype == PTLITE_QINT8;
}

Lanes lanes_of(int32_t dtype) { return dtype == PTLITE_FLOAT32 || dtype == PTLITE_BFLOAT16 ? Lanes::f32 : Lanes::i32; }

bool valid(const ElementwiseGraph& graph) {
  if (graph.inputs < 1 || graph.inputs > kMostInputs || graph.steps < 1 || graph.steps > kMostSteps) return false;
  Lanes lanes[kMostInputs + kMostSteps];
  for (int i = 0; i < graph.inputs; i++) {
    const ElementwiseGraph::Input& input = graph.input[i];
    if (!readable(input.dtype) || input.broadcast < 0 || input.broadcast > 1) return false;
    lanes[i] = lanes_of(input.dtype);
  }
  for (int i = 0; i < graph.steps; i++) {
    const ElementwiseGraph::Step& step = graph.step[i];
    const Algorithm* row = algorithm(step.algorithm);
    const int known = graph.inputs + i;
    if (row == nullptr || (row->unary == nullptr && row->binary == nullptr)) return false;
    const bool binary = row->binary != nullptr;
    const auto fits = [&](int32_t operand) {
      if (binary && (operand == kAlpha || operand == kBeta)) return true;
      return operand >= 0 && operand < known && lanes[operand] == row->takes;
    };
    if (!fits(step.a) || (binary && !fits(step.b))) return false;
    lanes[known] = row->gives;
  }
  return readable(graph.out_dtype) && lanes[graph.inputs + graph.steps - 1] == lanes_of(graph.out_dtype);
}

class ElementwiseGenerator : public Generator {
 public:
  // `group` vectors at a time, as far as rows go.
  ElementwiseGenerator(const ElementwiseGraph& graph, int group)
      : Generator(static_cast<Isa>(graph.isa), kCapacity), graph_(graph), group_(group) {
    for (int i = 0; i < graph.inputs; i++) last_use_[i] = -1;
    for (int i = 0; i < graph.steps; i++) {
      const ElementwiseGraph::Step& step = graph.step[i];
      if (step.a >= 0) last_use_[step.a] = i;
      if (algorithm(step.algorithm)->binary != nullptr && step.b >= 0) last_use_[step.b] = i;
    }
    last_use_[graph.inputs + graph.steps - 1] = graph.steps;
  }

  Generated generate() {
    enter();
    push(rdi);
    Transfer::reserve_stack(*this);
    mov(out_, ptr[rdi + offsetof(ElementwiseCall, out)]);
    mov(rows_, ptr[rdi + offsetof(ElementwiseCall, rows)]);
    mov(length_, ptr[rdi + offsetof(ElementwiseCall, length)]);
    for (int i = 0; i < graph_.inputs; i++) mov(in_[i], ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, in)) + 8 * i]);
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
  bool can_pair() const { return group_ == 4 && graph_.streaming == 0; }

  void next_rows(int count) {
    mov(rdi, ptr[rsp + Transfer::stack_bytes(*this)]);
    for (int i = 0; i < count; i++) {
      add(out_, ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, out_step))]);
      for (int k = 0; k < graph_.inputs; k++) add(in_[k], ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, in_step)) + 8 * k]);
    }
  }

  // Vector u of a pair of rows that are r10 bytes apart.
  Xbyak::Address of_pair(const Reg64& base, int u) {
    const int within = u % 2 * vector_bytes();
    return u < 2 ? ptr[base + within] : ptr[base + r10 + within];
  }

  // The steps on `count` vectors; `tail`: on the rcx elements that are left; `paired`: on two rows, with the call's address in rdi.
  void body(bool tail, int count, bool paired = false) {
    paired_ = paired;
    for (int& place : place_) place = -1;
    vectors_ = RegisterSet(vector_count() / count);
    masks_ = RegisterSet(count == 1 ? 8 : VectorGroup::masks(count) + 1);
    masks_.reserve(0);
    if (count == 1) {
      masks_.reserve(1);
      masks_.reserve(kTailMask);
    }
    Emitter e(*this, vectors_, masks_, count);
    for (int i = 0; i < graph_.steps; i++) step(e, i, tail);
    const int result = graph_.inputs + graph_.steps - 1;
    const Transfer transfer(e, tail, kTailMask, graph_.streaming != 0);
    if (paired) mov(r10, ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, out_step))]);
    for (int u = 0; u < count; u++) {
      const Xmm from = e.g.at(vec(place_[result]), u);
      if (paired) {
        vmovups(of_pair(out_, u), from);
      } else {
        transfer.store(out_, index_, graph_.out_dtype, from, u * lanes());
      }
    }
    vectors_.give(place_[result]);
    failed_ |= e.failed;
  }

  void step(Emitter& e, int i, bool tail) {
    const ElementwiseGraph::Step& step = graph_.step[i];
    const Algorithm& row = *algorithm(step.algorithm);
    if (row.unary != nullptr) {
      const int to = own(e, step.a, i, tail);
      row.unary(e, vec(to), {step.alpha, step.beta, step.scale, graph_.lut});
      place_[graph_.inputs + i] = to;
      return;
    }
    if (step.b >= 0) load(e, step.b, tail);
    const int b = step.b >= 0 ? place_[step.b] : number(e, step.b == kAlpha ? step.alpha : step.beta);
    const int to = step.a < 0     ? number(e, step.a == kAlpha ? step.alpha : step.beta)
                   : step.a == step.b ? copy_of(e, b)
                                      : own(e, step.a, i, tail);
    row.binary(e, vec(to), vec(b));
    if (step.b < 0 || last_use_[step.b] == i) vectors_.give(b);
    place_[graph_.inputs + i] = to;
  }

  int acquire(Emitter& e) {
    const int index = vectors_.acquire();
    if (index < 0) e.failed = true;
    return index < 0 ? 0 : index;
  }

  int number(Emitter& e, float value) {
    const int to = acquire(e);
    e.g.broadcast(vec(to), value);
    return to;
  }

  int copy_of(Emitter& e, int from) {
    const int to = acquire(e);
    e.copy(vec(to), vec(from));
    return to;
  }

  // A register with the value that step i may overwrite: the value's own, where it dies there.
  int own(Emitter& e, int value, int i, bool tail) {
    load(e, value, tail);
    return last_use_[value] > i ? copy_of(e, place_[value]) : place_[value];
  }

  void load(Emitter& e, int value, bool tail) {
    if (place_[value] >= 0) return;
    const int to = acquire(e);
    place_[value] = to;
    const ElementwiseGraph::Input& input = graph_.input[value];
    const Transfer transfer(e, tail, kTailMask);
    if (paired_) mov(r10, ptr[rdi + static_cast<int>(offsetof(ElementwiseCall, in_step)) + 8 * value]);
    for (int u = 0; u < e.g.count(); u++) {
      if (paired_) {
        // groups are of floats
        if (input.broadcast != 0) {
          vbroadcastss(e.g.at(vec(to), u), u < 2 ? dword[in_[value]] : dword[in_[value] + r10]);
        } else {
          vmovups(e.g.at(vec(to), u), of_pair(in_[value], u));
        }
      } else if (input.broadcast != 0) {
        transfer.load_one(e.g.at(vec(to), u), in_[value], input.dtype);
      } else {
        transfer.load(e.g.at(vec(to), u), in_[value], index_, input.dtype, u * lanes());
        // the prefetcher of the processor stops at each page
        if (graph_.streaming != 0 && !tail) prefetcht0(ptr[in_[value] + index_ * element_bytes(input.dtype) + u * lanes() * element_bytes(input.dtype) + kAhead]);
      }
    }
  }

  const ElementwiseGraph& graph_;
  const int group_;
  RegisterSet vectors_{0};
  RegisterSet masks_{0};
  bool failed_ = false;
  bool paired_ = false;
  int last_use_[kMostInputs + kMostSteps] = {};
  int place_[kMostInputs + kMostSteps] = {};
  const Reg64 out_ = rsi, rows_ = r8, length_ = r9, index_ = rax;
  const Reg64 in_[kMostInputs] = {r11, r12, r13, r14, r15, rbx, rbp, rdx};
};

// Stores of narrow types and gathers take registers by number.
bool can_group(const ElementwiseGraph& graph) {
  bool all = graph.out_dtype == PTLITE_FLOAT32;
  for (int i = 0; i < graph.inputs; i++) all = all && graph.input[i].dtype == PTLITE_FLOAT32;
  for (int i = 0; i < graph.steps; i++) all = all && graph.step[i].algorithm != JitAlgorithm_int8_lut;
  return all;
}

}  // namespace

Generated generate_elementwise(const ElementwiseGraph& graph) {
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

namespace {

using ptlite::jit::ElementwiseCall;
using ptlite::jit::ElementwiseGraph;
using ptlite::jit::kMostInputs;
using ptlite::jit::kMostSteps;

std::string name_of(const ElementwiseGraph& graph) {
  std::string name = "elementwise";
  for (int i = 0; i < graph.steps; i++) {
    const ptlite::jit::Algorithm* row = ptlite::jit::algorithm(graph.step[i].algorithm);
    if (row != nullptr && name.size() < 120) name = name + "-" + row->name;
  }
  return name;
}

int32_t create(jit_elementwise_create_frame* f) {
  f->handle = 0;
  f->bytes = 0;
  ElementwiseGraph graph;
  memset(&graph, 0, sizeof graph);
  graph.isa = static_cast<int32_t>(ptlite::jit::current_isa());
  graph.inputs = f->inputs;
  graph.steps = f->steps;
  graph.out_dtype = f->out_dtype;
  graph.streaming = f->streaming;
  if (f->inputs < 1 || f->inputs > kMostInputs || f->steps < 1 || f->steps > kMostSteps) return PTLITE_OK;
  for (int i = 0; i < f->inputs; i++) graph.input[i] = {f->access[i] == JitAccess_scalar || f->access[i] == JitAccess_channel, f->dtypes[i]};
  for (int i = 0; i < f->steps; i++) {
    const ptlite::jit::Algorithm* row = ptlite::jit::algorithm(f->ops[i]);
    const bool binary = row != nullptr && row->binary != nullptr;
    graph.step[i] = {f->ops[i], f->a[i], binary ? f->b[i] : 0, f->p0[i], f->p1[i], f->p2[i]};
    if (f->ops[i] == JitAlgorithm_int8_lut) {
      if (f->lut == 0) return PTLITE_OK;
      memcpy(graph.lut, reinterpret_cast<const void*>(f->lut), sizeof graph.lut);
    }
  }
  const std::string key = "elementwise" + std::string(reinterpret_cast<const char*>(&graph), sizeof graph);
  const auto generate = [](const void* description) {
    return ptlite::jit::generate_elementwise(*static_cast<const ElementwiseGraph*>(description));
  };
  ptlite::jit::Kernel* kernel = ptlite::jit::obtain(key, name_of(graph), generate, &graph);
  if (kernel == nullptr) return PTLITE_OK;
  f->handle = static_cast<int64_t>(reinterpret_cast<uintptr_t>(kernel));
  f->bytes = static_cast<int64_t>(kernel->code.bytes);
  return PTLITE_OK;
}

int32_t run(jit_elementwise_frame* f) {
  ElementwiseCall call;
  call.out = reinterpret_cast<void*>(f->out);
  for (int i = 0; i < kMostInputs; i++) call.in[i] = reinterpret_cast<const void*>(f->in[i]);
  call.rows = f->rows;
  call.length = f->length;
  call.out_step = f->out_step;
  for (int i = 0; i < kMostInputs; i++) call.in_step[i] = f->in_step[i];
  ptlite::jit::run_elementwise(f->handle, call);
  return PTLITE_OK;
}

int32_t release(jit_release_frame* f) {
  ptlite::jit::release(reinterpret_cast<ptlite::jit::Kernel*>(f->handle));
  return PTLITE_OK;
}

int32_t info(jit_info_frame* f) {
  using namespace ptlite::jit;
  f->state = !enabled() ? JitState_off : current_isa() == Isa::none ? JitState_no_instructions : memory_available() ? JitState_ready : JitState_no_memory;
  const Totals sum = totals();
  f->kernels = sum.kernels;
  f->bytes = sum.bytes;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(jit_elementwise_create, create)
PTLITE_KERNEL(jit_elementwise, run)
PTLITE_KERNEL(jit_release, release)
PTLITE_KERNEL(jit_info, info)
