// Element-wise chains: a tape of steps is interpreted per block, whose values stay in the first-level cache. Each step is a
// dense loop over the block, with the same functions as the kernels it stands for, so results have the same bits.
#include <algorithm>

#include "frames/fused.h"
#include "isa/kernel.h"
#include "ops/activation_functions.h"
#include "pool/pool.h"

namespace {

using namespace ptlite;
using V = Vec<float>;

constexpr int64_t kBlock = 256;
constexpr int kInputs = 8, kSteps = 32, kDims = 6;

/// Where an operand of a step lies: `step` is V::size, or 0 for a number that is the same for all elements.
struct Operand {
  const float* at;
  int64_t step;
};

template <class F>
PTLITE_INLINE void unary(float* out, const float* a, int64_t n, F f) {
  int64_t i = 0;
  for (; i + V::size <= n; i += V::size) f(V::load(a + i)).store(out + i);
  if (i < n) f(V::load(a + i, n - i)).store(out + i, n - i);
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

/// out may be an operand.
void run_step(int32_t op, float* out, Operand a, Operand b, int64_t n, float p0, float p1) {
  const float* x = a.at;
  switch (op) {
    case FusedOp_add: binary(out, a, b, n, [](V u, V v) { return u + v; }); return;
    case FusedOp_sub: binary(out, a, b, n, [](V u, V v) { return u - v; }); return;
    case FusedOp_mul: binary(out, a, b, n, [](V u, V v) { return u * v; }); return;
    case FusedOp_div: binary(out, a, b, n, [](V u, V v) { return u / v; }); return;
    case FusedOp_minimum: binary(out, a, b, n, [](V u, V v) { return minimum(u, v); }); return;
    case FusedOp_maximum: binary(out, a, b, n, [](V u, V v) { return maximum(u, v); }); return;
    case FusedOp_neg: unary(out, x, n, [](V u) { return -u; }); return;
    case FusedOp_abs: unary(out, x, n, [](V u) { return abs(u); }); return;
    case FusedOp_square: unary(out, x, n, [](V u) { return u * u; }); return;
    case FusedOp_exp: unary(out, x, n, [](V u) { return exp(u); }); return;
    case FusedOp_log: unary(out, x, n, [](V u) { return log(u); }); return;
    case FusedOp_sqrt: unary(out, x, n, [](V u) { return sqrt(u); }); return;
    case FusedOp_rsqrt: unary(out, x, n, [](V u) { return V(1.0f) / sqrt(u); }); return;
    case FusedOp_reciprocal: unary(out, x, n, [](V u) { return V(1.0f) / u; }); return;
    case FusedOp_sin: unary(out, x, n, [](V u) { return sin(u); }); return;
    case FusedOp_cos: unary(out, x, n, [](V u) { return cos(u); }); return;
    case FusedOp_tanh: unary(out, x, n, [](V u) { return tanh(u); }); return;
    case FusedOp_erf: unary(out, x, n, [](V u) { return erf(u); }); return;
    case FusedOp_sigmoid: unary(out, x, n, [](V u) { return sigmoid(u); }); return;
    case FusedOp_relu: unary(out, x, n, [](V u) { return at_least(u, V::zero()); }); return;
    case FusedOp_clamp: unary(out, x, n, [=](V u) { return at_most(at_least(u, V(p0)), V(p1)); }); return;
    case FusedOp_gelu: unary(out, x, n, [](V u) { return gelu(u); }); return;
    case FusedOp_gelu_tanh: unary(out, x, n, [](V u) { return gelu_tanh(u); }); return;
    case FusedOp_silu: unary(out, x, n, [](V u) { return silu(u); }); return;
    case FusedOp_hardswish: unary(out, x, n, [](V u) { return hardswish(u); }); return;
    case FusedOp_hardsigmoid: unary(out, x, n, [](V u) { return hardsigmoid(u); }); return;
    case FusedOp_leaky_relu: unary(out, x, n, [=](V u) { return select(u > V::zero(), u, u * V(p0)); }); return;
  }
}

struct Chain {
  const fused_frame& f;
  alignas(64) float buffers[kInputs + kSteps][kBlock];

  // leaves the buffers as they are: clearing them would cost more than a small chain
  explicit Chain(const fused_frame& frame) : f(frame) {}

  /// `count` outputs from element `first` of row `row` on; offsets are those of the row in each input.
  void block(const int64_t* offsets, int64_t first, int64_t count, float* out) {
    const float* values[kInputs + kSteps];
    for (int k = 0; k < f.inputs; k++) {
      const int64_t stride = f.strides[k * kDims];
      const float* from = reinterpret_cast<const float*>(f.in[k]) + offsets[k] + first * stride;
      if (stride == 1) {
        values[k] = from;
        continue;
      }
      float* buffer = buffers[k];
      if (stride == 0) {
        for (int64_t i = 0; i < count; i += V::size) V(*from).store(buffer + i);
      } else {
        for (int64_t i = 0; i < count; i++) buffer[i] = from[i * stride];
      }
      values[k] = buffer;
    }
    for (int s = 0; s < f.steps; s++) {
      float* to = s == f.steps - 1 ? out : buffers[f.inputs + s];
      run_step(f.op[s], to, operand(f.a[s], s, values), operand(f.b[s], s, values), count, f.p0[s], f.p1[s]);
      values[f.inputs + s] = to;
    }
  }

  Operand operand(int32_t index, int s, const float* const* values) const {
    if (index >= 0) return {values[index], V::size};
    return {index == -1 ? &f.p0[s] : &f.p1[s], 0};
  }
};

int32_t fused(fused_frame* frame) {
  const fused_frame& f = *frame;
  if (f.inputs < 0 || f.inputs > kInputs || f.steps < 1 || f.steps > kSteps || f.ndim < 1 || f.ndim > kDims) return PTLITE_NO_KERNEL;
  for (int s = 0; s < f.steps; s++) {
    if (f.op[s] < 0 || f.op[s] > FusedOp_leaky_relu) return PTLITE_NO_KERNEL;
  }
  const int64_t length = f.sizes[0];
  int64_t rows = 1;
  for (int d = 1; d < f.ndim; d++) rows *= f.sizes[d];
  const int64_t blocks = (length + kBlock - 1) / kBlock;
  float* out = reinterpret_cast<float*>(f.out);
  parallel_for(rows * blocks, grain_for(std::min(length, kBlock) * f.steps), [&](int64_t begin, int64_t end) {
    Chain chain(f);
    for (int64_t unit = begin; unit < end; unit++) {
      const int64_t row = unit / blocks, first = unit % blocks * kBlock;
      int64_t offsets[kInputs] = {};
      int64_t rest = row;
      for (int d = 1; d < f.ndim; d++) {
        const int64_t at = rest % f.sizes[d];
        rest /= f.sizes[d];
        for (int k = 0; k < f.inputs; k++) offsets[k] += at * f.strides[k * kDims + d];
      }
      chain.block(offsets, first, std::min(kBlock, length - first), out + row * length + first);
    }
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(fused, fused)
