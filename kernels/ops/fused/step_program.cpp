#include "ops/fused/step_program.h"

#include <algorithm>

#include "ops/fused/algorithm_functions.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace {

using V = Vec<float>;

/// `step` is V::size, or 0 for a number that is the same for all elements.
struct Operand {
  const float* at;
  int64_t step;
};

template <class F>
PTLITE_INLINE void unary(float* out, const float* a, int64_t n, F f) {
  // one copy of the function serves whole vectors and the rest
  for (int64_t i = 0; i < n; i += V::size) {
    const bool whole = n - i >= V::size;
    const V result = f(whole ? V::load(a + i) : V::load(a + i, n - i));
    whole ? result.store(out + i) : result.store(out + i, n - i);
  }
}

template <class F>
PTLITE_INLINE void binary(float* out, Operand a, Operand b, int64_t n, F f) {
  const auto value = [](Operand x, int64_t i, int64_t count) { return x.step == 0 ? V(*x.at) : V::load(x.at + i, count); };
  int64_t i = 0;
  if (a.step != 0 && b.step != 0) {
    for (; i + V::size <= n; i += V::size) f(V::load(a.at + i), V::load(b.at + i)).store(out + i);
  } else if (a.step != 0) {
    const V y(*b.at);
    for (; i + V::size <= n; i += V::size) f(V::load(a.at + i), y).store(out + i);
  } else {
    for (; i + V::size <= n; i += V::size) f(value(a, i, V::size), value(b, i, V::size)).store(out + i);
  }
  if (i < n) f(value(a, i, n - i), value(b, i, n - i)).store(out + i, n - i);
}

void unary_step(int32_t algorithm, PostOpNumbers p, float* out, const float* a, int64_t n) {
  with_algorithm(algorithm, p, [&](auto f) { unary(out, a, n, f); });
}

void binary_step(int32_t algorithm, float* out, Operand a, Operand b, int64_t n) {
  with_binary_algorithm(algorithm, [&](auto f) { binary(out, a, b, n, f); });
}

void run_block(const StepProgram& p, const StepInput* inputs, int64_t first, int64_t count, float* out, StepBuffers& buffers) {
  const float* values[StepProgram::kMostInputs + StepProgram::kMostSteps];
  for (int k = 0; k < p.inputs; k++) {
    const int64_t step = inputs[k].step;
    const float* from = inputs[k].at + first * step;
    if (step == 1) {
      values[k] = from;
      continue;
    }
    float* buffer = buffers.values[k];
    if (step == 0) {
      for (int64_t i = 0; i < count; i += V::size) V(*from).store(buffer + i);
    } else {
      for (int64_t i = 0; i < count; i++) buffer[i] = from[i * step];
    }
    values[k] = buffer;
  }
  for (int s = 0; s < p.steps; s++) {
    float* to = s == p.steps - 1 ? out : buffers.values[p.inputs + s];
    const auto operand = [&](int32_t index) -> Operand {
      if (index >= 0) return {values[index], V::size};
      return {index == -1 ? &p.p0[s] : &p.p1[s], 0};
    };
    const Operand a = operand(p.a[s]);
    if (is_binary_post_op(p.op[s])) {
      binary_step(p.op[s], to, a, operand(p.b[s]), count);
    } else {
      unary_step(p.op[s], {p.p0[s], p.p1[s], 1}, to, a.at, count);
    }
    values[p.inputs + s] = to;
  }
}

}  // namespace

F32 post_op(int32_t algorithm, F32 x, PostOpNumbers p) {
  alignas(64) float lanes[V::size];
  x.store(lanes);
  unary_step(algorithm, p, lanes, lanes, V::size);
  return F32::load(lanes);
}

F32 binary_post_op(int32_t algorithm, F32 x, F32 y) {
  alignas(64) float a[V::size];
  alignas(64) float b[V::size];
  x.store(a);
  y.store(b);
  binary_step(algorithm, a, {a, V::size}, {b, V::size}, V::size);
  return F32::load(a);
}

bool StepProgram::valid() const {
  if (inputs < 0 || inputs > kMostInputs || steps < 1 || steps > kMostSteps) return false;
  for (int s = 0; s < steps; s++) {
    if (!is_float_algorithm(op[s])) return false;
    // a step of one operand has a block of it, never a number
    const bool both = is_binary_post_op(op[s]);
    if (a[s] < (both ? -2 : 0) || a[s] >= inputs + s || (both && (b[s] < -2 || b[s] >= inputs + s))) return false;
  }
  return true;
}

void run_steps(const StepProgram& program, const StepInput* inputs, int64_t count, float* out, StepBuffers& buffers) {
  for (int64_t first = 0; first < count; first += StepProgram::kBlock) {
    run_block(program, inputs, first, std::min(StepProgram::kBlock, count - first), out + first, buffers);
  }
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
