// Rows of depthwise convolutions over channels in blocks of 16, with square filters of the usual sizes: some pixels of a row in registers,
// taps in the padding left out when the code is compiled. Include inside per-level translation units only.
#pragma once

#include <stdint.h>

#include <algorithm>

#include "blocked_tile.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace blocked {

/// Neighbouring outputs of one row. rows[h], with `column` added, is what tap 0 of filter row h reads for the first of them.
using DepthwiseTile = void (*)(const float* const* rows, int64_t height, int64_t column, const float* filter, const float* bias, float lo,
                               float hi, float* out);

/// P outputs; the first `kLeft` and the last `kRight` of the columns that they read lie in the padding.
template <int P, int K, int S, int kLeft, int kRight>
void depthwise_tile(const float* const* rows, int64_t height, int64_t column, const float* filter, const float* bias, float lo, float hi,
                    float* out) {
  constexpr int kWidth = (P - 1) * S + K;
#pragma GCC unroll 1
  for (int v = 0; v < kParts; v++, column += kLanes, filter += kLanes, out += kLanes) {
    const Vec<float> start = bias == nullptr ? Vec<float>::zero() : Vec<float>::load(bias + v * kLanes);
    Vec<float> acc[P];
#pragma GCC unroll 8
    for (int i = 0; i < P; i++) acc[i] = start;
#pragma GCC unroll 1
    for (int64_t h = 0; h < height; h++) {
      const float* row = rows[h] + column;
#pragma GCC unroll 7
      for (int w = 0; w < K; w++) {
        const Vec<float> f = Vec<float>::load(filter + (h * K + w) * kBlock);
#pragma GCC unroll 8
        for (int i = 0; i < P; i++) {
          const int read = i * S + w;
          if (read >= kLeft && read < kWidth - kRight) add_product(acc[i], f, Vec<float>::load(row + read * kBlock));
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < P; i++) limit(acc[i], lo, hi).store(out + i * kBlock);
  }
}

/// How a row of outputs is cut into tiles.
class DepthwiseRow {
 public:
  static constexpr int64_t kMostTiles = 160;

  /// Sizes along a row. `known` is false where there is no tile for them.
  DepthwiseRow(int64_t kernel, int64_t stride, int64_t padding, int64_t in, int64_t out) {
    if (kernel == 3 && stride == 1) cut<3, 1>(padding, in, out);
    if (kernel == 3 && stride == 2) cut<3, 2>(padding, in, out);
    if (kernel == 5 && stride == 1) cut<5, 1>(padding, in, out);
    if (kernel == 5 && stride == 2) cut<5, 2>(padding, in, out);
    if (kernel == 7 && stride == 1) cut<7, 1>(padding, in, out);
  }

  bool known() const { return count_ > 0; }

  /// A row of outputs. rows[h] is the first pixel of the input row that filter row h reads, for `height` rows of the filter.
  void run(const float* const* rows, int64_t height, const float* filter, const float* bias, float lo, float hi, float* out) const {
    for (int64_t i = 0; i < count_; i++) {
      const Piece& p = pieces_[i];
      p.tile(rows, height, p.column, filter, bias, lo, hi, out + p.at);
    }
  }

 private:
  /// Distances in floats, from the first pixel of a row.
  struct Piece {
    int64_t at, column;
    DepthwiseTile tile;
  };

  template <int P, int K, int S>
  static DepthwiseTile tile_for(int64_t left, int64_t right) {
    if (left == 0 && right == 0) return &depthwise_tile<P, K, S, 0, 0>;
    constexpr int kPadding = (K - 1) / 2;
    if ((left != 0 && left != kPadding) || right > kPadding) return nullptr;
    constexpr int kTwo = kPadding < 2 ? 0 : 2, kThree = kPadding < 3 ? 0 : 3;
    constexpr DepthwiseTile tiles[2][4] = {
        {nullptr, &depthwise_tile<P, K, S, 0, 1>, &depthwise_tile<P, K, S, 0, kTwo>, &depthwise_tile<P, K, S, 0, kThree>},
        {&depthwise_tile<P, K, S, kPadding, 0>, &depthwise_tile<P, K, S, kPadding, 1>, &depthwise_tile<P, K, S, kPadding, kTwo>,
         &depthwise_tile<P, K, S, kPadding, kThree>},
    };
    return tiles[left != 0][right];
  }

  /// Tiles of P outputs; the last one begins earlier where it would not be full.
  template <int P, int K, int S>
  void cut_by(int64_t padding, int64_t in, int64_t out) {
    if (out < P || (out + P - 1) / P > kMostTiles) return;
    for (int64_t c = 0; c < out; c += P) {
      const int64_t at = std::min(c, out - P), first = at * S - padding;
      const DepthwiseTile tile =
          tile_for<P, K, S>(std::max<int64_t>(0, -first), std::max<int64_t>(0, first + (P - 1) * S + K - in));
      if (tile == nullptr) {
        count_ = 0;
        return;
      }
      pieces_[count_++] = {at * kBlock, first * kBlock, tile};
    }
  }

  template <int K, int S>
  void cut(int64_t padding, int64_t in, int64_t out) {
    if ((out + 7) / 8 * 8 < (out + 6) / 7 * 7) cut_by<8, K, S>(padding, in, out);
    if (count_ == 0) cut_by<7, K, S>(padding, in, out);
  }

  int64_t count_ = 0;
  Piece pieces_[kMostTiles];
};

}  // namespace blocked
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
