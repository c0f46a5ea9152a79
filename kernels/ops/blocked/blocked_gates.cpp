// Squeeze and excitation (Hu et al., "Squeeze-and-Excitation Networks") over channels in blocks of 16: means over pixels and two products
// of a matrix with one vector per image, in one call. Filters are read once, in the order in which they lie.
#include "frames/blocked.h"
#include "dispatch/kernel.h"
#include "ops/elementwise/gate.h"
#include "pool/pool.h"

#include <algorithm>

#include "blocked_mean.h"

namespace {

using namespace ptlite;
using namespace ptlite::blocked;

using F = Vec<float>;

F apply(int32_t gate, F x) {
  with_gate(gate, [&](const auto& f) { x = f(x); });
  return x;
}

/// A matrix with `inputs` columns and a row for each lane of its blocks.
struct Layer {
  const float *filter, *bias;
  int64_t inputs, blocks;
  int32_t gate;
};

/// Lanes of block `b` of a layer for one vector of inputs.
void block_of(const Layer& layer, int64_t b, const float* x, float* out) {
  constexpr int kSums = kParts == 1 ? 4 : 2;  // multiplications do not wait for each other
  F sum[kSums][kParts] = {};
  const float* filter = layer.filter + b * layer.inputs * kBlock;
  int64_t c = 0;
  for (; c + kSums <= layer.inputs; c += kSums, filter += kSums * kBlock) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; s++) {
      const F e(x[c + s]);
#pragma GCC unroll 4
      for (int v = 0; v < kParts; v++) sum[s][v] += e * F::load(filter + s * kBlock + v * kLanes);
    }
  }
  for (; c < layer.inputs; c++, filter += kBlock) {
    for (int v = 0; v < kParts; v++) sum[0][v] += F(x[c]) * F::load(filter + v * kLanes);
  }
  for (int v = 0; v < kParts; v++) {
    F total = sum[0][v];
    for (int s = 1; s < kSums; s++) total += sum[s][v];
    if (layer.bias != nullptr) total += F::load(layer.bias + b * kBlock + v * kLanes);
    apply(layer.gate, total).store(out + b * kBlock + v * kLanes);
  }
}

/// out[image][block][lane] for inputs `pitch` floats apart.
void run_layer(const Layer& layer, int64_t batch, const float* x, int64_t pitch, float* out) {
  // a weight that is read for one product takes as long as a dozen that are in registers
  parallel_for(batch * layer.blocks, grain_for(layer.inputs * kBlock * 12), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      const int64_t image = u / layer.blocks;
      block_of(layer, u % layer.blocks, x + image * pitch, out + image * layer.blocks * kBlock);
    }
  });
}

int32_t gates(blocked_gates_frame* f) {
  const int64_t batch = f->batch, blocks = (f->channels + kBlock - 1) / kBlock, hidden_blocks = (f->hidden + kBlock - 1) / kBlock;
  float* means = static_cast<float*>(ptlite_scratch(size_t(batch * (blocks + hidden_blocks) * kBlock) * sizeof(float)));
  if (means == nullptr) return PTLITE_NO_MEMORY;
  float* hidden = means + batch * blocks * kBlock;
  const float* input = reinterpret_cast<const float*>(f->input);
  const int64_t plane = f->pixels * kBlock;
  parallel_for(batch * blocks, grain_for(plane), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; u++) {
      for (int v = 0; v < kParts; v++) mean_of(input + u * plane + v * kLanes, f->pixels).store(means + u * kBlock + v * kLanes);
    }
  });
  const auto at = [](int64_t address) { return reinterpret_cast<const float*>(address); };
  run_layer({at(f->squeeze), at(f->squeeze_bias), f->channels, hidden_blocks, f->activation}, batch, means, blocks * kBlock, hidden);
  run_layer({at(f->excite), at(f->excite_bias), f->hidden, blocks, f->gate}, batch, hidden, hidden_blocks * kBlock,
            reinterpret_cast<float*>(f->output));
  return PTLITE_OK;
}

int32_t scale_filter(blocked_scaled_filter_frame* f) {
  const float* filter = reinterpret_cast<const float*>(f->filter);
  const float* factors = reinterpret_cast<const float*>(f->factors);
  float* output = reinterpret_cast<float*>(f->output);
  const int64_t inputs = f->inputs;
  parallel_for(f->blocks, grain_for(inputs * kBlock * 4), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b++) {
      for (int64_t c = 0; c < inputs; c++) {
        const int64_t at = (b * inputs + c) * kBlock;
        for (int v = 0; v < kBlock; v += kLanes) (F(factors[c]) * F::load(filter + at + v)).store(output + at + v);
      }
    }
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(blocked_gates, gates)
PTLITE_KERNEL(blocked_scaled_filter, scale_filter)
