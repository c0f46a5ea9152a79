// Graphs of element-wise steps, and their emission on registers for generators that bring their own loads, stores and loops.
#pragma once

#include "jit/algorithms.h"
#include "jit/elementwise_call.h"

namespace ptlite {
namespace jit {

constexpr int kMostSteps = PTLITE_CHAIN_STEPS;
// Operands of binary steps that are the step's own alpha or beta.
constexpr int32_t kAlpha = -1, kBeta = -2;

struct StepGraph {
  int32_t isa;
  int32_t inputs;
  int32_t steps;
  int32_t out_dtype;
  // Stores go past the caches; the output is aligned to vectors and rows are whole vectors, or there is one row.
  int32_t streaming;
  struct Input {
    int32_t broadcast;  // one element per row, for all of its columns
    int32_t dtype;
  } input[kMostInputs];
  struct Step {
    int32_t algorithm;
    int32_t a, b;  // values: inputs first, then steps; b of unary ones is not read
    float alpha, beta, scale;
  } step[kMostSteps];
  // Steps that go to outputs of their own besides.
  int32_t more;
  struct Kept {
    int32_t step, dtype;
  } kept[kMostMore];
  uint8_t lut[256];
};

// Whether algorithms and dtypes are known, operands come before their steps, and lanes of one kind go into the next.
bool valid(const StepGraph& graph);

// Whether it can work on several vectors at a time: gathers, and stores of narrow types that need more registers than their own, cannot.
bool can_group(const StepGraph& graph);

// Whether value `step` of a graph, by number of its step, needs no rounding to be a bfloat16.
bool is_rounded(const StepGraph& graph, int step);

// What a host of steps does with memory.
class InputSource {
 public:
  virtual ~InputSource() = default;
  // Emits the load of input `value` into register (or group) `to`.
  virtual void load_input(Emitter& e, const Xbyak::Xmm& to, int value) = 0;
  // Emits the store of output `i` of graph.kept, whose lanes may be spent.
  virtual void store_kept(Emitter&, const Xbyak::Xmm&, int /*i*/) {}
};

// The steps of a graph. Inputs are loaded where they are first read; a value's register is free again after its last use.
class StepEmitter {
 public:
  StepEmitter(const StepGraph& graph, InputSource& source);

  // Emits all steps with registers of `vectors`, from which the emitter takes its scratch too. Gives the register of the result, which stays
  // taken. Sets e.failed where registers are missing.
  int emit(Emitter& e, RegisterSet& vectors);

 private:
  void step(int i);
  void keep(int i);
  int acquire();
  int number(float value);
  int copy_of(int from);
  // A register with the value that step i may overwrite: the value's own, where it dies there.
  int own(int value, int i);
  void load(int value);
  Xbyak::Xmm vec(int index) const { return e_->g.vec(index); }

  const StepGraph& graph_;
  InputSource& source_;
  Emitter* e_ = nullptr;
  RegisterSet* vectors_ = nullptr;
  int last_use_[kMostInputs + kMostSteps] = {};
  int place_[kMostInputs + kMostSteps] = {};
};

}  // namespace jit
}  // namespace ptlite
