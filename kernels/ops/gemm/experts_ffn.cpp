// Feed-forward layers of experts whose weights are integers, as torchao packs them: they are widened where they are used.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <atomic>

#include "dispatch/kernel.h"
#include "frames/experts.h"
#include "pool/pool.h"
#include "vec/vec.h"

namespace {

using namespace ptlite;
using F = Vec<float>;

/// Outputs that are packed together, and inputs of each that are.
constexpr int64_t kOutputs = 8, kInputs = 16;
constexpr int64_t kHeaderBytes = 64;
/// Of a group of 8 outputs: their scales, and sums of their integers.
constexpr int64_t kGroupBytes = kOutputs * 8;

/// Integers of 8 outputs and a group of inputs as floats [8][group]. Those of 16 inputs are inputs 0 to 7 of the 8 outputs, and then the others; of 4 bits, plus 8, each 32
/// of these share 16 bytes, the first half in the low bits.
template <int bits>
void widen(const uint8_t* from, int64_t group, float* to) {
  for (int64_t at = 0; at < group; at += kInputs, from += kOutputs * kInputs * bits / 8) {
    for (int64_t half = 0; half < 2; half++) {
      float* out = to + at + 8 * half;
      if constexpr (bits == 8) {
        const auto* in = reinterpret_cast<const int8_t*>(from) + 64 * half;
        for (int64_t n = 0; n < kOutputs; n++) {
          for (int64_t i = 0; i < 8; i++) out[n * group + i] = in[8 * n + i];
        }
      } else {
        for (int64_t n = 0; n < kOutputs; n++) {
          // two pairs of outputs in 16 bytes
          const uint8_t* in = from + 32 * half + 16 * (n / 4) + 8 * (n % 2);
          const int shift = n % 4 < 2 ? 0 : 4;
          for (int64_t i = 0; i < 8; i++) out[n * group + i] = static_cast<float>(((in[i] >> shift) & 15) - 8);
        }
      }
    }
  }
}

/// A packed weight of one expert.
struct Weight {
  const uint8_t* bytes;
  int64_t inputs, group;
  int bits;
  int64_t tile_bytes() const { return inputs * bits + inputs / group * kGroupBytes; }
};

/// sums[row][8] of the products of rows with the outputs of a tile. `row(i)` is where a row begins; `wide` has room for 8 groups.
template <class Row>
void products(const Weight& w, int64_t tile, int64_t rows, const Row& row, float* wide, float* sums) {
  memset(sums, 0, sizeof(float) * rows * kOutputs);
  const uint8_t* bytes = w.bytes + kHeaderBytes + tile * w.tile_bytes();
  for (int64_t start = 0; start < w.inputs; start += w.group) {
    if (w.bits == 4) widen<4>(bytes, w.group, wide);
    else widen<8>(bytes, w.group, wide);
    bytes += w.group * w.bits;
    float scales[kOutputs];
    memcpy(scales, bytes, sizeof(scales));
    bytes += kGroupBytes;
    for (int64_t r = 0; r < rows; r++) {
      const float* x = row(r) + start;
      F sum[kOutputs];
      for (F& s : sum) s = F::zero();
      for (int64_t i = 0; i < w.group; i += F::size) {
        const F numbers = F::load(x + i);
        for (int64_t n = 0; n < kOutputs; n++) sum[n] = fma(numbers, F::load(wide + n * w.group + i), sum[n]);
      }
      for (int64_t n = 0; n < kOutputs; n++) sums[r * kOutputs + n] += reduce_add(sum[n]) * scales[n];
    }
  }
}

/// Rows by the expert that they go to.
struct Pairs {
  int64_t* begins;  // [experts + 1]
  int64_t* rows;
  float* gates;
  int64_t most = 0;

  bool sort(const experts_ffn_frame& f) {
    const auto* chosen = reinterpret_cast<const int32_t*>(f.chosen);
    const auto* given = reinterpret_cast<const float*>(f.gates);
    const int64_t count = f.rows * f.active;
    memset(begins, 0, sizeof(int64_t) * (f.experts + 1));
    for (int64_t i = 0; i < count; i++) {
      if (chosen[i] < 0 || chosen[i] >= f.experts) return false;
      begins[chosen[i] + 1]++;
    }
    for (int64_t e = 0; e < f.experts; e++) {
      most = std::max(most, begins[e + 1]);
      begins[e + 1] += begins[e];
    }
    for (int64_t i = 0; i < count; i++) {
      const int64_t place = begins[chosen[i]]++;
      rows[place] = i / f.active;
      gates[place] = given[i];
    }
    for (int64_t e = f.experts; e > 0; e--) begins[e] = begins[e - 1];
    begins[0] = 0;
    return true;
  }
};

float silu(float x) {
  const float e = expf(-fabsf(x));
  return x * (x >= 0 ? 1.0f / (1.0f + e) : e / (1.0f + e));
}

int32_t experts_ffn(experts_ffn_frame* frame) {
  const experts_ffn_frame& f = *frame;
  const int64_t pairs = f.rows * f.active, hidden = f.hidden, depth = f.depth;
  const size_t own = static_cast<size_t>(f.experts + 1 + pairs) * sizeof(int64_t), pair = static_cast<size_t>(3 * hidden + 1) * sizeof(float);
  // neither is as large as what they make together
  if (static_cast<size_t>(pairs) > (SIZE_MAX - own) / pair) return PTLITE_NO_MEMORY;
  auto* memory = static_cast<char*>(ptlite_scratch(own + static_cast<size_t>(pairs) * pair));
  if (memory == nullptr) return PTLITE_NO_MEMORY;
  auto* begins = reinterpret_cast<int64_t*>(memory);
  auto* floats = reinterpret_cast<float*>(memory + own);
  Pairs by{begins, begins + f.experts + 1, floats};
  float* halves = floats + pairs;
  float* middle = halves + pairs * 2 * hidden;
  const int64_t first_tiles = (2 * hidden + kOutputs - 1) / kOutputs;
  if (!by.sort(f)) return PTLITE_INDEX_RANGE;
  const auto* x = reinterpret_cast<const float*>(f.x);
  auto* out = reinterpret_cast<float*>(f.out);
  const auto weight = [&](uint64_t address, int64_t stride, int64_t expert, int64_t inputs) {
    return Weight{reinterpret_cast<const uint8_t*>(address) + expert * stride, inputs, f.group, f.bits};
  };
  const size_t own_floats = static_cast<size_t>(kOutputs * (f.group + by.most));
  std::atomic<bool> done{true};
  // tiles of all experts, one after the other
  parallel_for(f.experts * first_tiles, grain_for(by.most * kOutputs * depth / 8 + 1), [&](int64_t begin, int64_t end) {
    auto* wide = static_cast<float*>(range_scratch(own_floats * sizeof(float)));
    if (wide == nullptr) {
      done = false;
      return;
    }
    float* sums = wide + kOutputs * f.group;
    for (int64_t unit = begin; unit < end; unit++) {
      const int64_t expert = unit / first_tiles, tile = unit % first_tiles;
      const int64_t from = by.begins[expert], count = by.begins[expert + 1] - from;
      if (count == 0) continue;
      products(weight(f.up, f.up_bytes, expert, depth), tile, count, [&](int64_t r) { return x + by.rows[from + r] * depth; }, wide, sums);
      const int64_t outputs = std::min(kOutputs, 2 * hidden - tile * kOutputs);
      for (int64_t r = 0; r < count; r++) memcpy(halves + (from + r) * 2 * hidden + tile * kOutputs, sums + r * kOutputs, sizeof(float) * outputs);
    }
  });
  if (!done) return PTLITE_NO_MEMORY;
  parallel_for(pairs, grain_for(16 * hidden), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; p++) {
      const float* half = halves + p * 2 * hidden;
      for (int64_t i = 0; i < hidden; i++) middle[p * hidden + i] = silu(half[i]) * half[hidden + i];
    }
  });
  // each output adds up its experts, in their order
  parallel_for((depth + kOutputs - 1) / kOutputs, grain_for(pairs * kOutputs * hidden / 8 + 1), [&](int64_t begin, int64_t end) {
    auto* wide = static_cast<float*>(range_scratch(own_floats * sizeof(float)));
    if (wide == nullptr) {
      done = false;
      return;
    }
    float* sums = wide + kOutputs * f.group;
    for (int64_t tile = begin; tile < end; tile++) {
      const int64_t outputs = std::min(kOutputs, depth - tile * kOutputs);
      for (int64_t r = 0; r < f.rows; r++) memset(out + r * depth + tile * kOutputs, 0, sizeof(float) * outputs);
      for (int64_t expert = 0; expert < f.experts; expert++) {
        const int64_t from = by.begins[expert], count = by.begins[expert + 1] - from;
        if (count == 0) continue;
        products(weight(f.down, f.down_bytes, expert, hidden), tile, count, [&](int64_t r) { return middle + (from + r) * hidden; }, wide, sums);
        for (int64_t r = 0; r < count; r++) {
          float* to = out + by.rows[from + r] * depth + tile * kOutputs;
          for (int64_t n = 0; n < outputs; n++) to[n] += by.gates[from + r] * sums[r * kOutputs + n];
        }
      }
    }
  });
  return done ? PTLITE_OK : PTLITE_NO_MEMORY;
}

}  // namespace

PTLITE_KERNEL(experts_ffn, experts_ffn)
