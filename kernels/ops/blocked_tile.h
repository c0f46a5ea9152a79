// Register tiles of convolutions over channels in blocks of 16: some blocks of output channels by some pixels of a row. Each
// input element is broadcast against a vector of the filter, so that nothing is packed at run time and the results of a pixel
// are stored as they lie in registers. Include inside per-level translation units only.
#pragma once

#include <algorithm>
#include <utility>

#include "gemm_core.h"
#include "vec/vec.h"

namespace {
namespace blocked {

using ptlite::Vec;

/// Channels of a block, at every level: 1, 2 or 4 vectors.
constexpr int kBlock = 16;
constexpr int kLanes = Vec<float>::size;
constexpr int kParts = kBlock / kLanes;

// Accumulators of the largest tile: 28 of 32 registers with AVX-512, 12 of 16 with AVX2, 8 of 16 with SSE2.
#if defined(CPU_CAPABILITY_AVX512)
constexpr int kFilters = 2;
constexpr int kPixels = 14;
#elif defined(CPU_CAPABILITY_AVX2)
constexpr int kFilters = 1;
constexpr int kPixels = 6;
#else
constexpr int kFilters = 1;
constexpr int kPixels = 2;
#endif

/// What the tiles of a convolution have in common. Distances are in floats.
struct TileArgs {
  const int64_t* taps;   ///< from a pixel's first element to what each tap reads; for plain input, each tap of each channel
  int64_t tap_count;
  int64_t blocks;        ///< of the input; 1 where the input is plain
  int64_t block_step;    ///< from one to the next
  int64_t channels;      ///< of the input: 1 where it is plain
  int64_t filter_block;  ///< between the filters of two output blocks
  int64_t out_block;     ///< between two output blocks
  float lo, hi;
  bool clamped;
};

using Tile = void (*)(const TileArgs& a, const float* x, const float* filter, const float* bias, const float* residual, float* out);

/// Adds the products of `depth` channels to a tile.
template <int F, int P, int step>
PTLITE_INLINE void add_channels(const TileArgs& a, Vec<float> (&acc)[P][F * kParts], const float* x, const float* filter, int64_t depth) {
  constexpr int V = F * kParts;
#pragma GCC unroll 1
  for (int64_t c = 0; c < depth; c++, x++, filter += kBlock) {
    Vec<float> w[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) w[v] = Vec<float>::load(filter + v / kParts * a.filter_block + v % kParts * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < P; i++) {
      const Vec<float> e(x[i * step]);
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) acc[i][v] += e * w[v];
    }
  }
}

/// F output blocks by P pixels that lie `step` floats apart in the input: a block apart, or one (plain input, one channel a tap).
template <int F, int P, int step>
void tile(const TileArgs& a, const float* x, const float* filter, const float* bias, const float* residual, float* out) {
  constexpr int V = F * kParts;
  Vec<float> acc[P][V];
#pragma GCC unroll 4
  for (int v = 0; v < V; v++) {
    const Vec<float> start = bias == nullptr ? Vec<float>::zero() : Vec<float>::load(bias + v * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < P; i++) acc[i][v] = start;
  }
  // a block of channels at a time, so that the pixels which the taps share stay in the first-level cache
  for (int64_t b = 0; b < a.blocks; b++, x += a.block_step) {
    const int64_t depth = step == 1 ? 1 : std::min<int64_t>(kBlock, a.channels - b * kBlock);
    const float* f = filter + b * kBlock * kBlock;
    for (int64_t t = 0; t < a.tap_count; t++, f += a.channels * kBlock) add_channels<F, P, step>(a, acc, x + a.taps[t], f, depth);
  }
#pragma GCC unroll 16
  for (int i = 0; i < P; i++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      const int64_t at = v / kParts * a.out_block + i * kBlock + v % kParts * kLanes;
      Vec<float> r = acc[i][v];
      if (residual != nullptr) r += Vec<float>::load(residual + at);
      if (a.clamped) r = ptlite::gemm::clamp<float>(r, a.lo, a.hi);
      r.store(out + at);
    }
  }
}

template <int step, int F, int... P>
constexpr Tile tile_of(int pixels, std::integer_sequence<int, P...>) {
  constexpr Tile all[] = {&tile<F, P + 1, step>...};
  return all[pixels - 1];
}

/// The tile of 1..kFilters blocks by 1..kPixels pixels.
template <int step>
inline Tile tile_for(int filters, int pixels) {
  constexpr auto sizes = std::make_integer_sequence<int, kPixels>();
  if constexpr (kFilters > 1) {
    if (filters == 2) return tile_of<step, 2>(pixels, sizes);
  }
  return tile_of<step, 1>(pixels, sizes);
}

/// Runs the tiles of one row of `pixels` outputs for `filters` output blocks. All tiles are about as wide.
template <int step>
inline void run_row(const TileArgs& a, int filters, int64_t pixels, const float* x, const float* filter, const float* bias,
                    const float* residual, float* out) {
  int64_t tiles = (pixels + kPixels - 1) / kPixels;
  for (int64_t at = 0; tiles > 0; tiles--) {
    const int64_t width = (pixels - at + tiles - 1) / tiles;
    tile_for<step>(filters, int(width))(a, x + at * step, filter, bias, residual == nullptr ? nullptr : residual + at * kBlock,
                                        out + at * kBlock);
    at += width;
  }
}

}  // namespace blocked
}  // namespace
