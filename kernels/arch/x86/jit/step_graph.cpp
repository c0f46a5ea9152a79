#include "jit/step_graph.h"

#include "ptlite_abi.h"

namespace ptlite {
namespace jit {

using Xbyak::Xmm;

namespace {

bool is_float(int32_t dtype) {
  return dtype == PTLITE_FLOAT32 || dtype == PTLITE_BFLOAT16 || dtype == PTLITE_FLOAT16 || dtype == PTLITE_BOOL;
}

bool readable(int32_t dtype) {
  return is_float(dtype) || dtype == PTLITE_UINT8 || dtype == PTLITE_INT8 || dtype == PTLITE_QUINT8 ||
         dtype == PTLITE_QINT8;
}

// A bool's lanes are what comparisons of floats give.
Lanes lanes_of(int32_t dtype) { return is_float(dtype) ? Lanes::f32 : Lanes::i32; }

}  // namespace

bool valid(const StepGraph& graph) {
  if (graph.inputs < 1 || graph.inputs > kMostInputs || graph.steps < 1 || graph.steps > kMostSteps) return false;
  if (graph.more < 0 || graph.more > kMostMore || graph.inputs + graph.more > kMostInputs) return false;
  Lanes lanes[kMostInputs + kMostSteps];
  for (int i = 0; i < graph.inputs; i++) {
    const StepGraph::Input& input = graph.input[i];
    if (!readable(input.dtype) || input.broadcast < 0 || input.broadcast > 1) return false;
    lanes[i] = lanes_of(input.dtype);
  }
  for (int i = 0; i < graph.steps; i++) {
    const StepGraph::Step& step = graph.step[i];
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
  for (int i = 0; i < graph.more; i++) {
    const auto [step, dtype] = graph.kept[i];
    if (step < 0 || step >= graph.steps || !is_float(dtype) || lanes[graph.inputs + step] != Lanes::f32) return false;
    for (int k = 0; k < i; k++) {
      if (graph.kept[k].step == step) return false;
    }
  }
  return readable(graph.out_dtype) && lanes[graph.inputs + graph.steps - 1] == lanes_of(graph.out_dtype);
}

bool is_rounded(const StepGraph& graph, int step) { return graph.step[step].algorithm == JitAlgorithm_round_bfloat16; }

bool can_group(const StepGraph& graph) {
  const bool wide = static_cast<Isa>(graph.isa) == Isa::avx512;
  const auto stores = [&](int step, int32_t dtype) {
    if (dtype == PTLITE_FLOAT32) return true;
    return wide && is_float(dtype) && (dtype != PTLITE_BFLOAT16 || is_rounded(graph, step));
  };
  bool all = stores(graph.steps - 1, graph.out_dtype);
  for (int i = 0; i < graph.more; i++) all = all && stores(graph.kept[i].step, graph.kept[i].dtype);
  for (int i = 0; i < graph.inputs; i++) all = all && (graph.input[i].dtype == PTLITE_FLOAT32 || (wide && is_float(graph.input[i].dtype)));
  for (int i = 0; i < graph.steps; i++) all = all && graph.step[i].algorithm != JitAlgorithm_int8_lut;
  return all;
}

StepEmitter::StepEmitter(const StepGraph& graph, InputSource& source) : graph_(graph), source_(source) {
  for (int& use : last_use_) use = -1;
  for (int i = 0; i < graph.steps; i++) {
    const StepGraph::Step& step = graph.step[i];
    if (step.a >= 0) last_use_[step.a] = i;
    if (algorithm(step.algorithm)->binary != nullptr && step.b >= 0) last_use_[step.b] = i;
  }
  last_use_[graph.inputs + graph.steps - 1] = graph.steps;
}

int StepEmitter::emit(Emitter& e, RegisterSet& vectors) {
  e_ = &e;
  vectors_ = &vectors;
  for (int& place : place_) place = -1;
  for (int i = 0; i < graph_.steps; i++) {
    step(i);
    keep(i);
  }
  return place_[graph_.inputs + graph_.steps - 1];
}

void StepEmitter::step(int i) {
  const StepGraph::Step& step = graph_.step[i];
  const Algorithm& row = *algorithm(step.algorithm);
  if (row.unary != nullptr) {
    const int to = own(step.a, i);
    row.unary(*e_, vec(to), {step.alpha, step.beta, step.scale, graph_.lut});
    place_[graph_.inputs + i] = to;
    return;
  }
  if (step.b >= 0) load(step.b);
  const int b = step.b >= 0 ? place_[step.b] : number(step.b == kAlpha ? step.alpha : step.beta);
  const int to = step.a < 0 ? number(step.a == kAlpha ? step.alpha : step.beta) : step.a == step.b ? copy_of(b) : own(step.a, i);
  row.binary(*e_, vec(to), vec(b));
  if (step.b < 0 || last_use_[step.b] == i) vectors_->give(b);
  place_[graph_.inputs + i] = to;
}

void StepEmitter::keep(int i) {
  for (int k = 0; k < graph_.more; k++) {
    const auto [step, dtype] = graph_.kept[k];
    if (step != i) continue;
    const int value = graph_.inputs + i, from = place_[value];
    const bool spent = dtype != PTLITE_FLOAT32 && last_use_[value] > i;
    const int stored = spent ? copy_of(from) : from;
    source_.store_kept(*e_, vec(stored), k);
    if (stored != from) vectors_->give(stored);
  }
  // kept, and not used any more
  if (last_use_[graph_.inputs + i] < i) vectors_->give(place_[graph_.inputs + i]);
}

int StepEmitter::acquire() {
  const int index = vectors_->acquire();
  if (index < 0) e_->failed = true;
  return index < 0 ? 0 : index;
}

int StepEmitter::number(float value) {
  const int to = acquire();
  e_->g.broadcast(vec(to), value);
  return to;
}

int StepEmitter::copy_of(int from) {
  const int to = acquire();
  e_->copy(vec(to), vec(from));
  return to;
}

int StepEmitter::own(int value, int i) {
  load(value);
  return last_use_[value] > i ? copy_of(place_[value]) : place_[value];
}

void StepEmitter::load(int value) {
  if (place_[value] >= 0) return;
  place_[value] = acquire();
  source_.load_input(*e_, vec(place_[value]), value);
}

}  // namespace jit
}  // namespace ptlite
