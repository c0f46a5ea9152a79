// Attention of a block of queries, which are the columns of register tiles: scores are computed transposed, [keys, queries], so that
// they are the packed operand of the product with the values as they lie, and maxima and sums of a query never leave their lane. Keys come in
// tiles, with a running maximum and sum (Dao et al., "FlashAttention", algorithm 1).
#pragma once

#include <algorithm>
#include <cmath>

#include "attention_mask.h"
#include "ops/gemm/gemm_core.h"
#include "vec/math.h"
#include "vec/transpose.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace attention {

constexpr int kLanes = Vec<float>::size;
/// Queries of a block.
constexpr int kBlock = gemm::kCols<float>;
/// Most keys of a tile: their scores stay in the first-level cache.
constexpr int64_t kTileKeys = 24576 / int64_t(sizeof(float)) / kBlock / gemm::kRows * gemm::kRows;

/// Keys of each tile so that all are about equal.
inline int64_t tile_keys(int64_t keys) {
  const int64_t tiles = (keys + kTileKeys - 1) / kTileKeys;
  return gemm::round_up((keys + tiles - 1) / tiles, gemm::kRows);
}

/// The queries of a block, of one head or of several that share keys.
struct Block {
  int count;
  const float* query[kBlock];
  Mask mask[kBlock];
  float position[kBlock];  ///< which query of its head each one is
  float* out[kBlock];
  float* sum[kBlock];      ///< null: not wanted
  bool one_mask;           ///< all have the same row of a mask
  int64_t lowest;          ///< positions
  int64_t highest;
};

/// The keys that queries of a block see by their masks.
inline KeyRange seen_by(const Block& block, int64_t keys) {
  return seen_by(
      block.count, keys, [&](int64_t i) -> const Mask& { return block.mask[i]; }, [&](int64_t i) { return int64_t(block.position[i]); });
}

/// Memory of a block: queries [depth, kBlock], a tile of scores [tile, kBlock], results [width, kBlock].
struct BlockMemory {
  float* queries;
  float* scores;
  float* results;

  static int64_t size(int64_t depth, int64_t width, int64_t tile) { return kBlock * (depth + tile + width); }
  BlockMemory(float* memory, int64_t depth, int64_t tile)
      : queries(memory), scores(queries + kBlock * depth), results(scores + kBlock * tile) {}
};

/// Queries as columns, `lanes` to a row; those beyond the last are zero.
inline void pack_queries(const Block& block, int64_t depth, int64_t col, int lanes, float* out) {
  for (int q = 0; q < lanes; q += kLanes) {
    int64_t d = 0;
    if (col == 1) {
      for (; d < depth; d += kLanes) {
        const int64_t count = std::min<int64_t>(kLanes, depth - d);
        Vec<float> square[kLanes];
        for (int i = 0; i < kLanes; i++) square[i] = q + i < block.count ? Vec<float>::load(block.query[q + i] + d, count) : Vec<float>::zero();
        transpose_square<float>(square);
        for (int i = 0; i < count; i++) square[i].store(out + (d + i) * lanes + q);
      }
    }
    for (; d < depth; d++) {
      for (int i = 0; i < kLanes; i++) out[d * lanes + q + i] = q + i < block.count ? block.query[q + i][d * col] : 0.f;
    }
  }
}

/// Adds the mask of `keys` keys from `first` on to the scores of the lanes from `q` on.
inline void add_mask(const Block& block, int q, int lanes, int64_t first, int64_t keys, float* scores) {
  if (block.one_mask) {
    const Mask& mask = block.mask[0];
    for (int64_t k = 0; k < keys; k++) {
      float* row = scores + k * lanes + q;
      (Vec<float>::load(row) + Vec<float>(Mask::of(mask.at(int64_t(block.position[0]), first + k), mask.truth))).store(row);
    }
    return;
  }
  for (int64_t k = 0; k < keys; k += kLanes) {
    const int64_t count = std::min<int64_t>(kLanes, keys - k);
    Vec<float> square[kLanes];
    for (int i = 0; i < kLanes; i++) {
      const bool there = q + i < block.count;
      square[i] = there ? block.mask[q + i].load(block.mask[q + i].at(int64_t(block.position[q + i]), first + k), count) : Vec<float>::zero();
    }
    transpose_square<float>(square);
    for (int i = 0; i < count; i++) {
      float* row = scores + (k + i) * lanes + q;
      (Vec<float>::load(row) + square[i]).store(row);
    }
  }
}

/// Leaves out the keys behind each query.
inline void hide_later(const Block& block, int q, int lanes, int64_t first, int64_t keys, float* scores) {
  const Vec<float> position = Vec<float>::load(block.position + q);
  for (int64_t k = std::max<int64_t>(0, block.lowest + 1 - first); k < keys; k++) {
    float* row = scores + k * lanes + q;
    select(Vec<float>(float(first + k)) > position, Vec<float>(-kInfinity), Vec<float>::load(row)).store(row);
  }
}

/// A query's running maximum and sum of exponentials, by lane.
struct Running {
  Vec<float> top[kBlock / kLanes];
  Vec<float> total[kBlock / kLanes];
};

/// Scores of a tile, V vectors to a row, become exponentials relative to the running maximum; results so far are brought to a new maximum.
template <int V>
inline void absorb(int64_t keys, int64_t width, bool first, float* scores, float* results, Running& running) {
  using F = Vec<float>;
  F top[V], base[V], total[V];
  for (int v = 0; v < V; v++) top[v] = first ? F(-kInfinity) : running.top[v];
  const float* read = scores;
  for (int64_t k = 0; k < keys; k++, read += V * kLanes) {
    for (int v = 0; v < V; v++) top[v] = fast_max(F::load(read + v * kLanes), top[v]);
  }
  for (int v = 0; v < V; v++) {
    // rows that have seen no key yet have no maximum to be relative to
    base[v] = select(top[v] == F(-kInfinity), F::zero(), top[v]);
    total[v] = F::zero();
  }
  float* row = scores;
  for (int64_t k = 0; k < keys; k++, row += V * kLanes) {
    for (int v = 0; v < V; v++) {
      const F e = exp(F::load(row + v * kLanes) - base[v]);
      e.store(row + v * kLanes);
      total[v] += e;
    }
  }
  for (int v = 0; v < V; v++) {
    if (!first) {
      const F factor = exp(running.top[v] - base[v]);
      total[v] += running.total[v] * factor;
      if (any(factor != F(1.f))) {
        for (int64_t w = 0; w < width; w++) {
          float* result = results + (w * V + v) * kLanes;
          (F::load(result) * factor).store(result);
        }
      }
    }
    running.top[v] = top[v];
    running.total[v] = total[v];
  }
}

/// Results divided by their sums, as rows of the output.
inline void write_results(const Block& block, int lanes, int64_t width, bool safe, const float* results, const Running& running) {
  using F = Vec<float>;
  for (int q = 0; q < lanes; q += kLanes) {
    const F total = running.total[q / kLanes];
    const F factor = F(1.f) / total;
    const F share = safe ? select(total == F::zero(), F::zero(), factor) : factor;
    for (int64_t w = 0; w < width; w += kLanes) {
      const int64_t count = std::min<int64_t>(kLanes, width - w);
      F square[kLanes];
      for (int i = 0; i < kLanes; i++) square[i] = i < count ? F::load(results + (w + i) * lanes + q) * share : F::zero();
      transpose_square<float>(square);
      for (int i = 0; i < kLanes && q + i < block.count; i++) square[i].store(block.out[q + i] + w, count);
    }
    for (int i = 0; i < kLanes && q + i < block.count; i++) {
      if (block.sum[q + i] == nullptr) continue;
      *block.sum[q + i] = sum_of(running.top[q / kLanes][i], total[i]);
    }
  }
}

/// A block of queries against the keys from `begin`, where a tile begins, up to `seen` in tiles. `packed_keys` are panels of keys, all of them behind each other; `packed_values` are
/// panels of columns of the values, tile by tile, `value_rows` of them.
inline void block_of_queries(const Block& block, int64_t query_col, const float* packed_keys, const float* packed_values, int64_t value_rows,
                             int64_t keys, int64_t begin, int64_t seen, int64_t tile, int64_t depth, int64_t width, float scale, bool causal, bool safe,
                             const BlockMemory& memory) {
  const int lanes = int(gemm::round_up(block.count, kLanes));
  pack_queries(block, depth, query_col, lanes, memory.queries);
  Running running;
  gemm::Epilogue<float> scaled;
  scaled.alpha = scale;
  for (int64_t from = begin; from < seen; from += tile) {
    const int64_t whole = std::min(tile, keys - from), count = std::min(whole, seen - from);
    const bool first = from == begin;
    gemm::multiply_packed<float>(count, lanes, depth, packed_keys + from * depth, depth, memory.queries, depth, 0, memory.scores, lanes, scaled,
                                 true, true, 0, 0);
    for (int q = 0; q < lanes; q += kLanes) {
      if (block.mask[0].data != nullptr) add_mask(block, q, lanes, from, count, memory.scores);
      if (causal && from + count - 1 > block.lowest) hide_later(block, q, lanes, from, count, memory.scores);
    }
    if (lanes == kLanes) absorb<1>(count, width, first, memory.scores, memory.results, running);
    else absorb<kBlock / kLanes>(count, width, first, memory.scores, memory.results, running);
    gemm::multiply_packed<float>(width, lanes, count, packed_values + from * value_rows, whole, memory.scores, count, 0, memory.results, lanes,
                                 {}, first, true, 0, 0);
  }
  write_results(block, lanes, width, safe, memory.results, running);
}

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
