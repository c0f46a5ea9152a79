// Attention of a few rows of queries, as when a model writes token by token: keys and values are read where they lie.
#pragma once

#include <algorithm>

#include "attention_mask.h"
#include "ops/gemm/gemm_core.h"
#include "softmax_row.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace attention {

/// Most rows that gain nothing from packed keys.
constexpr int kFewRows = 8;

/// A row of queries.
struct Row {
  const float* query;
  Mask mask;
  int64_t position;  ///< which query of its head it is
  float* out;
  float* sum;        ///< null: not wanted
};

/// Floats that few_rows needs.
inline int64_t few_rows_size(int64_t keys, int64_t depth, int64_t width) {
  return kFewRows * (gemm::round_up(depth, 16) + gemm::round_up(keys, 16) + gemm::round_up(width, 16));
}

/// Keys whose scores with all rows are computed while they are in the first-level cache.
constexpr int64_t kNearKeys = 64;

/// Scores become weights; the row is `keys` long, of which the last ones may be behind what it sees.
inline void finish_scores(const Row& row, float* scores, int64_t keys, int64_t seen, bool safe) {
  using F = Vec<float>;
  if (row.mask.data != nullptr) {
    for (int64_t k = 0; k < seen; k += F::size) {
      const int64_t count = std::min<int64_t>(F::size, seen - k);
      (F::load(scores + k, count) + row.mask.load(row.mask.at(row.position, k), count)).store(scores + k, count);
    }
  }
  const RowSum<float> sum = softmax_row<float>(scores, scores, seen, false);
  if (safe && sum.top == -kInfinity) std::fill(scores, scores + seen, 0.f);
  std::fill(scores + seen, scores + keys, 0.f);
  if (row.sum != nullptr) *row.sum = sum_of(sum.top, sum.total);
}

/// `count` <= kFewRows rows against keys [keys, depth] and values [keys, width]; false without memory.
inline bool few_rows(const Row* rows, int64_t count, int64_t query_col, gemm::Operand<float> key, gemm::Operand<float> value, int64_t keys,
                     int64_t depth, int64_t width, float scale, bool causal, bool safe, float* memory) {
  const int64_t scores_row = gemm::round_up(keys, 16);
  float* queries = memory;
  float* scores = queries + kFewRows * gemm::round_up(depth, 16);
  float* sums = scores + kFewRows * scores_row;
  for (int64_t r = 0; r < count; r++) {
    for (int64_t d = 0; d < depth; d++) queries[r * depth + d] = rows[r].query[d * query_col];
  }
  gemm::Epilogue<float> scaled;
  scaled.alpha = scale;
  bool fine = true;
  for (int64_t k = 0; k < keys; k += kNearKeys) {
    const int64_t near = std::min(kNearKeys, keys - k);
    // three rows at a time take the product that packs nothing
    for (int64_t r = 0; r < count; r += 3) {
      const gemm::Operand<float> q{queries + r * depth, depth, 1, false};
      const gemm::Operand<float> transposed{key.data + k * key.row, key.col, key.row, false};
      fine &= gemm::multiply<float>(std::min<int64_t>(3, count - r), near, depth, q, transposed, scores + r * scores_row + k, scores_row, scaled);
    }
  }
  for (int64_t r = 0; r < count; r++) {
    const int64_t seen = causal ? std::min(keys, rows[r].position + 1) : keys;
    finish_scores(rows[r], scores + r * scores_row, keys, seen, safe);
  }
  for (int64_t r = 0; r < count; r += gemm::kUnpackedRows<float>) {
    const int64_t some = std::min<int64_t>(gemm::kUnpackedRows<float>, count - r);
    const gemm::Operand<float> weights{scores + r * scores_row, scores_row, 1, false};
    fine &= gemm::multiply<float>(some, width, keys, weights, value, sums + r * width, width, {});
  }
  for (int64_t r = 0; r < count; r++) std::copy(sums + r * width, sums + (r + 1) * width, rows[r].out);
  return fine;
}

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
