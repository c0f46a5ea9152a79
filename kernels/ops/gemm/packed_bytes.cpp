// isa: AVX2_VNNI, AVX512_VNNI, DOTPROD
// Products of packed integers with activations that were made bytes: a panel is read once for as many rows as registers have room for.
#include <string.h>

#include <algorithm>

#include "ops/gemm/packed_product.h"
#include "ops/gemm/weight_dot.h"
#include "pool/budget.h"
#include "vec/half.h"

namespace {

using namespace ptlite;
using namespace ptlite::packed;
using F = Vec<float>;

// Rows, and vectors of columns, whose sums stay in registers beside a weight's.
constexpr int kRows = 4;
constexpr int kWide = kVectors < 2 ? kVectors : 2;
constexpr int kNarrow = PTLITE_VEC_REGISTERS >= 32 ? kWide : 1;
// Bytes of a weight that are asked for ahead.
constexpr int64_t kAhead = 2048;

// Rows of activations as bytes, or int16, with the scale and the sum of each block, times -offset.
struct Bytes {
  int64_t blocks, row;
  uint8_t* values;
  float* scales;
  int32_t* sums;

  static int64_t row_bytes(int64_t blocks, bool words) { return blocks * kBlock * (words ? 2 : 1); }
  Bytes(uint8_t* memory, int64_t m, int64_t blocks, bool words)
      : blocks(blocks), row(row_bytes(blocks, words)), values(memory), scales(reinterpret_cast<float*>(memory + m * row)), sums(reinterpret_cast<int32_t*>(scales + m * blocks)) {}

  // Row r, of k floats. A block with a number that is not finite has NaN as its scale.
  template <class W>
  void fill(int64_t r, const float* x, int64_t k) const {
    for (int64_t b = 0; b < blocks; b++) {
      const int64_t count = k - b * kBlock;
      F parts[kBlock / F::size], largest = F::zero(), strange = F::zero();
      for (int i = 0; i < kBlock / F::size; i++) {
        parts[i] = count <= i * F::size ? F::zero() : F::load(x + b * kBlock + i * F::size, count - i * F::size);
        largest = fast_max(abs(parts[i]), largest);
        strange += parts[i] * F(0);
      }
      const float most = reduce_max(largest), scale = most / 127;
      const F inverse(most > 1e-30f ? 127 / most : 0);
      alignas(64) int32_t q[kBlock];
      Vec<int32_t> sum = Vec<int32_t>::zero();
      for (int i = 0; i < kBlock / F::size; i++) {
        const F rounded = rint(parts[i] * inverse);
        const Vec<int32_t> integer = convert<int32_t>(select(is_nan(rounded), F::zero(), rounded));
        sum += integer;
        integer.store(q + i * F::size);
      }
      scales[r * blocks + b] = scale + reduce_add(strange);
      sums[r * blocks + b] = -W::kOffset * reduce_add(sum);
      uint8_t* to = values + r * row + b * (row / blocks);
      if constexpr (W::kWords) {
        int16_t words[kBlock];
        for (int i = 0; i < kBlock; i += 4) {
          words[i] = static_cast<int16_t>(q[i]), words[i + 1] = static_cast<int16_t>(q[i + 2]);
          words[i + 2] = static_cast<int16_t>(q[i + 1]), words[i + 3] = static_cast<int16_t>(q[i + 3]);
        }
        memcpy(to, words, sizeof(words));
      } else {
        for (int i = 0; i < kBlock; i++) to[i] = static_cast<uint8_t>(q[i]);
      }
    }
  }
};

// R rows by V vectors of columns of a panel, from vector v0 on.
template <class W, int R, int V>
void by_bytes(const PackedWeight& w, const Bytes& a, int64_t row, int64_t m0, int64_t panel, int v0, const Finish& finish) {
  F total[R][V];
#pragma GCC unroll 16
  for (int i = 0; i < R * V; i++) total[i / V][i % V] = F::zero();
  const uint8_t* at = w.block(panel, 0) + v0 * PTLITE_VEC_BYTES;
  const int64_t blocks = w.blocks(), span = w.span(), a_block = a.row / blocks;
  const bool whole = w.group == 0;
  const auto* scales = reinterpret_cast<const bfloat16*>(w.scales(panel, 0)) + v0 * kLanes;
  const auto scale_at = [&](int64_t g, int v) { return load_float(scales + g * kPanel + v * kLanes); };
  for (int64_t b = 0, g = 0; b < blocks; g++) {
    F scale[V];
    for (int v = 0; v < V; v++) scale[v] = whole ? F(1) : scale_at(g, v);
    for (const int64_t end = std::min(blocks, b + span); b < end; b++, at += W::kBytes) {
      if constexpr (R == 1) {
        for (int64_t line = 0; line < W::kBytes; line += 64) __builtin_prefetch(at + kAhead + line);
      }
      Reg sum[R][V];
      W::template block<R, V>(at, a.values + row * a.row + b * a_block, a.row, a.sums + row * blocks + b, blocks, sum);
#pragma GCC unroll 4
      for (int r = 0; r < R; r++) {
        const F factor(a.scales[(row + r) * blocks + b]);
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) {
          const F value = convert<float>(Vec<int32_t>((Vec<int32_t>::Raw)sum[r][v]));
          total[r][v] = fma(value, factor * scale[v], total[r][v]);
        }
      }
    }
  }
  if (whole) {
    for (int v = 0; v < V; v++)
      for (int r = 0; r < R; r++) total[r][v] *= scale_at(0, v);
  }
  finish.store<R, V>(m0 + row, panel, v0, total);
}

template <class W>
void run(const BytesTask& task) {
  const packed_linear_frame& f = *task.f;
  const PackedWeight w(f, f.weight);
  const Bytes a(task.memory, task.m, w.blocks(), W::kWords);
  if (!task.multiply) {
    for (int64_t r = task.begin; r < task.end; r++) a.template fill<W>(r, reinterpret_cast<const float*>(f.x) + (task.m0 + r) * f.k, f.k);
    return;
  }
  const Finish finish{f};
  for (int64_t p = task.begin; p < task.end; p++) {
    poll();
    int64_t r = 0;
    for (; r + kRows <= task.m; r += kRows)
      for (int v = 0; v < kVectors; v += kNarrow) by_bytes<W, kRows, kNarrow>(w, a, r, task.m0, p, v, finish);
    for (; r + 2 <= task.m; r += 2)
      for (int v = 0; v < kVectors; v += kWide) by_bytes<W, 2, kWide>(w, a, r, task.m0, p, v, finish);
    if (r < task.m)
      for (int v = 0; v < kVectors; v += kWide) by_bytes<W, 1, kWide>(w, a, r, task.m0, p, v, finish);
  }
}

void product(const BytesTask* task) {
  if (task->f->format == WeightFormat_int8) run<Int8>(*task);
  else run<Int4>(*task);
}

}  // namespace

PTLITE_REGISTER_STUB(packed_bytes, &product)
